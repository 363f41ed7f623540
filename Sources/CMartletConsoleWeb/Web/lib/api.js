/** All requests that the console's pages make, and their event stream. No other file of the pages makes requests of the
 * console's API. */

const BASE = "/console/api";

/** The method and the path of every request. A name in braces stands for a part of the path. */
export const CALLS = /** @type {const} */ ({
  session: "GET /session",
  signIn: "POST /sign-in",
  signInWays: "GET /sign-in",
  beginProvider: "POST /sign-in/provider",
  finishProvider: "POST /sign-in/provider/finish",
  signOut: "POST /sign-out",
  confirm: "POST /session/confirm",
  touch: "POST /session/touch",
  saveSettings: "PUT /session/settings",
  factor: "GET /session/factor",
  beginFactor: "POST /session/factor",
  confirmFactor: "POST /session/factor/confirm",
  removeFactor: "POST /session/factor/remove",
  changePassword: "PUT /session/password",
  sessions: "GET /sessions",
  endSession: "DELETE /sessions/{id}",
  link: "POST /link",
  useLink: "POST /link/use",

  now: "GET /now",
  history: "GET /metrics/history",
  serverFacts: "GET /server",

  makeHub: "PUT /hubs/{hub}",
  deleteHub: "DELETE /hubs/{hub}",
  services: "GET /hubs/{hub}/services",
  setCredential: "PUT /hubs/{hub}/credentials/{platform}",
  generateCredential: "POST /hubs/{hub}/credentials/{platform}/generate",
  deleteCredential: "DELETE /hubs/{hub}/credentials/{platform}",
  keys: "GET /hubs/{hub}/keys",
  renewKey: "POST /hubs/{hub}/keys/{rule}/{key}",
  limits: "GET /hubs/{hub}/limits",
  setLimits: "PUT /hubs/{hub}/limits",
  jobs: "GET /hubs/{hub}/jobs",
  failedLines: "GET /hubs/{hub}/jobs/{job}/failed",
  tags: "GET /hubs/{hub}/tags",
  tagPrefixes: "GET /hubs/{hub}/tags/prefixes",
  audience: "GET /hubs/{hub}/audience",

  sends: "GET /hubs/{hub}/sends",
  send: "GET /hubs/{hub}/sends/{id}",
  status: "GET /hubs/{hub}/messages/{id}/status",
  funnel: "GET /hubs/{hub}/messages/{id}/funnel",
  pause: "POST /hubs/{hub}/messages/{id}/pause",
  resume: "POST /hubs/{hub}/messages/{id}/resume",
  cancel: "POST /hubs/{hub}/messages/{id}/cancel",
  failed: "GET /hubs/{hub}/deadletters",
  reasons: "GET /hubs/{hub}/messages/{id}/deadletters/reasons",
  failedOf: "GET /hubs/{hub}/messages/{id}/deadletters",
  resend: "POST /hubs/{hub}/messages/{id}/deadletters/resend",
  trace: "GET /hubs/{hub}/messages/{id}/devices/{device}",
  post: "POST /rest/{hub}/messages",
  sending: "GET /rest/{hub}/sending",
  saveSending: "PUT /rest/{hub}/sending",
  schedule: "POST /rest/{hub}/schedulednotifications",
  reschedule: "PUT /rest/{hub}/schedulednotifications/{id}",
  withdraw: "DELETE /rest/{hub}/schedulednotifications/{id}",
  putInstallation: "PUT /rest/{hub}/installations/{id}",
  deleteInstallation: "DELETE /rest/{hub}/installations/{id}",
  deleteRegistration: "DELETE /rest/{hub}/registrations/{id}",

  campaigns: "GET /hubs/{hub}/campaigns",
  campaign: "GET /hubs/{hub}/campaigns/{id}",
  addCampaign: "POST /hubs/{hub}/campaigns",
  saveCampaign: "PUT /hubs/{hub}/campaigns/{id}",
  recordCampaignSend: "PUT /hubs/{hub}/campaigns/{id}/send",
  deleteCampaign: "DELETE /hubs/{hub}/campaigns/{id}",

  users: "GET /users",
  user: "GET /users/{name}",
  putUser: "PUT /users/{name}",
  deleteUser: "DELETE /users/{name}",
  endUserSessions: "DELETE /users/{name}/sessions",
  addUserRole: "PUT /users/{name}/roles/{role}",
  removeUserRole: "DELETE /users/{name}/roles/{role}",
  removeUserGroup: "DELETE /users/{name}/groups/{group}",

  findDevices: "POST /hubs/{hub}/devices/search",
  formerDevices: "POST /hubs/{hub}/devices/former",
  device: "GET /hubs/{hub}/devices/{id}",
  deviceSends: "GET /hubs/{hub}/devices/{id}/sends",

  operators: "GET /operators",
  invite: "POST /operators",
  setRoles: "PUT /operators/{name}/roles",
  setDisabled: "PUT /operators/{name}/disabled",
  resetFactor: "DELETE /operators/{name}/factor",
  endSessions: "DELETE /operators/{name}/sessions",
  backups: "GET /backups",
  makeBackup: "POST /backups",
  verifyBackup: "POST /backups/{backup}/verify",
  backupFile: "GET /backups/{backup}",
  audit: "GET /audit/operators",
  fetches: "GET /audit",
  serverKeys: "GET /server-key",
  rotateServerKey: "POST /server-key",
  resealSecrets: "POST /server-key/reseal",
  retireServerKeys: "DELETE /server-key",

  simulatorDevice: "GET /simulator/device",
  makeSimulatorDevice: "POST /simulator/devices",
  simulatorCounters: "GET /simulator/counters",
  simulatorServices: "GET /simulator/services",
  simulatorFaults: "GET /simulator/faults",
  addSimulatorFault: "POST /simulator/faults",
  clearSimulatorFaults: "DELETE /simulator/faults",
});

/** The error of a request that the server refused. `status` is 0 if the server was not reached. */
export class Refusal extends Error {
  /** @param {number} status @param {number} [retryAfter] Seconds. @param {any} document */
  constructor(status, document, retryAfter) {
    super(typeof document?.error === "string" ? document.error : "");
    this.status = status;
    /** @type {string} */
    this.code = document?.code ?? (status === 0 ? "unreachable" : `status-${status}`);
    /** @type {string | null} */
    this.needs = document?.needs ?? null;
    this.retryAfter = retryAfter ?? null;
  }
}

/** Functions that `main.js` sets, and that `call` uses when a session has ended or the password is needed again. */
export const gate = {
  /** Shows the sign-in page. The reason "roles" means that the operator's roles have changed.
   * @type {(reason?: string) => void} */
  signedOut: () => {},
  /** Asks for the password; resolves to whether it was confirmed. @type {() => Promise<boolean>} */
  confirm: async () => false,
  /** Says that something in between has answered.
   * @type {(status: string) => string} */
  between: (status) => status,
};

/** What the server itself answers as plain text, before it knows what is asked for. Any other answer that is not JSON comes
 * from a proxy, a gateway or a page to sign in to a network, and so does any page. A 503 in plain text may be of either: it
 * counts as a proxy's, which may have passed the request on. */
const PLAIN = [400, 408, 413, 414, 417, 431, 501];

/** Returns whether an error means that the server was not reached: by a request, or when code was loaded. Browsers load
 * code that could not be loaded again when it is imported again.
 * @param {any} error */
export function isUnreached(error) {
  return error instanceof Refusal ? ["unreachable", "between"].includes(error.code) : error instanceof TypeError && /\bmodule\b/.test(error.message);
}

/** @param {CallName} name */
export const methodOf = (name) => CALLS[name].split(" ")[0] ?? "";

/** Returns the path and the query of a request.
 * @param {CallName} name @param {CallOptions} [options] */
export function address(name, options = {}) {
  const path = CALLS[name].replace(/^\w+ /, "").replace(/\{(\w+)\}/g, (_, part) => encodeURIComponent(options.path?.[part] ?? ""));
  const items = Object.entries(options.query ?? {}).filter(([, value]) => value !== null && value !== undefined);
  const query = items.map(([key, value]) =>
    value === "" ? encodeURIComponent(key) : `${encodeURIComponent(key)}=${encodeURIComponent(String(value))}`);
  return BASE + path + (query.length > 0 ? `?${query.join("&")}` : "");
}

/**
 * Makes a request. If the server needs the password again, asks the operator for it and repeats the request once.
 *
 * @param {CallName} name
 * @param {CallOptions} [options]
 * @returns {Promise<any>} The JSON of the answer, with the header field `location` if there is one; `{text}` if the
 *   answer is not JSON; null if the answer is empty.
 */
export async function call(name, options = {}) {
  try {
    return await request(name, options);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error.code === "signed-out") gate.signedOut();
    if (error.code !== "not-fresh" || !(await gate.confirm())) throw error;
    return request(name, options);
  }
}

/** @param {CallName} name @param {CallOptions} options */
async function request(name, options) {
  const method = methodOf(name);
  /** @type {RequestInit & {headers: Record<string, string>}} */
  const init = { method, headers: { accept: "application/json", ...options.fields }, credentials: "same-origin", redirect: "manual" };
  // A server that is stopped, or a network that is cut, may give no answer and no error.
  const limit = options.timeout ? new AbortController() : null;
  const timer = limit ? window.setTimeout(() => limit.abort(), options.timeout) : 0;
  const signal = limit?.signal ?? options.signal;
  if (signal) init.signal = signal;
  if (method !== "GET") {
    init.headers["content-type"] = "application/json";
    init.headers["martlet-console"] = "1";
    if (options.body !== undefined) init.body = JSON.stringify(options.body);
  }
  let answer;
  let text;
  try {
    answer = await fetch(address(name, options), init);
    text = await answer.text();
  } catch (error) {
    if (error.name === "AbortError" && !limit) throw error;
    throw new Refusal(0, null);
  } finally {
    window.clearTimeout(timer);
  }
  const document = parsed(text);
  const isPage = /html/.test(answer.headers.get("content-type") ?? "") || (!answer.ok && /^\s*</.test(text));
  const isOwn = document !== null || text === "" || (!isPage && (answer.ok || PLAIN.includes(answer.status)));
  if (!isOwn || answer.type === "opaqueredirect") {
    throw new Refusal(0, { code: "between", error: gate.between(answer.status ? String(answer.status) : "3xx") });
  }
  if (!answer.ok) {
    throw new Refusal(answer.status, document ?? { error: text.slice(0, 300) }, Number(answer.headers.get("retry-after")) || undefined);
  }
  const location = answer.headers.get("location");
  if (location) return { ...document, location };
  return document ?? (text ? { text } : null);
}

/** @param {string} text */
function parsed(text) {
  try {
    return text === "" ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

/** The milliseconds without an event after which the stream counts as lost. The server sends an event each second. */
const SILENCE = 4000;
/** The same for the answers of a server that is polled. */
const POLLED = 15_000;
/** The milliseconds of silence after which a new stream is opened, at first and at most. */
const PATIENCE = { first: 10_000, most: 60_000 };

/**
 * Returns whether the last event is too old to call the page live. All times are in milliseconds.
 *
 * @param {number} now
 * @param {number | null} heardAt The time of the last event; null if there was none.
 * @param {number} openedAt When the stream was opened. A stream has a second for its first event.
 * @param {number} [limit]
 */
export function isSilent(now, heardAt, openedAt, limit = SILENCE) {
  return heardAt === null ? now - openedAt > limit : now - heardAt > limit && now - openedAt > 1000;
}

/** The event stream of this tab. It is open while somebody is signed in and the tab is visible. It always has the topic
 * `now`, so that there is an event each second: a silent stream is a lost one, also if the browser reports no error. */
class Live {
  constructor() {
    /** @type {Map<string, Set<(event: string, data: any) => void>>} */
    this.watchers = new Map();
    /** @type {EventSource | null} */
    this.source = null;
    /** @type {"closed" | "connecting" | "live" | "lost" | "polling"} */
    this.state = "closed";
    /** When the last event arrived. @type {Date | null} */
    this.heardAt = null;
    /** @type {Set<() => void>} */
    this.listeners = new Set();
    this.timer = 0;
    this.failures = 0;
    /** The answer of `now`, which has the same content as the first event of a stream. @type {Promise<any> | null} */
    this.past = null;
    this.isAttended = false;
    this.isNewNeeded = false;
    this.isAsking = false;
    this.topics = "";
    this.openedAt = 0;
    this.pulse = 0;
    this.patience = PATIENCE.first;
    /** @type {{from: number, work: () => any}[]} */
    this.returns = [];
  }

  /** Requests the content of the first event early, while the files of the first screen are still being loaded. */
  begin() {
    this.past = call("now").catch(() => null);
  }

  /** Keeps a stream open on every page while somebody is signed in, also if no screen watches a topic.
   * @param {boolean} isSignedIn */
  attend(isSignedIn) {
    if (this.isAttended === isSignedIn) return;
    this.isAttended = isSignedIn;
    if (isSignedIn) this.renew(false);
    else this.close();
  }

  /**
   * Watches topics until the returned function is called.
   *
   * @param {string[]} topics
   * @param {(event: string, data: any) => void} hear Gets the events of the stream, and `poll` after each answer of a
   *   server that has no stream for this tab.
   * @returns {() => void}
   */
  watch(topics, hear) {
    for (const topic of topics) {
      const known = this.watchers.get(topic) ?? new Set();
      this.watchers.set(topic, known.add(hear));
    }
    if (topics.includes("now")) {
      this.past?.then((past) => past && !this.heardAt && topics.some((topic) => this.watchers.get(topic)?.has(hear)) && hear("past", past));
      this.past = null;
    }
    this.renew();
    return () => {
      for (const topic of topics) {
        this.watchers.get(topic)?.delete(hear);
        if (this.watchers.get(topic)?.size === 0) this.watchers.delete(topic);
      }
      this.renew(false);
    };
  }

  /** Calls `work` once, when the server is heard again a second from now or later.
   * @param {() => any} work */
  whenBack(work) {
    this.returns.push({ from: Date.now() + 1000, work });
  }

  /** Opens the stream again with the current topics, after the current task. So when one screen replaces another,
   * the stream is reopened only once.
   * @param {boolean} [isNewNeeded] Whether a stream is opened even if there is one with the same topics, because a
   *   watcher needs its first event. */
  renew(isNewNeeded = true) {
    this.isNewNeeded ||= isNewNeeded;
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.open(), 0);
  }

  close() {
    window.clearTimeout(this.timer);
    window.clearInterval(this.pulse);
    this.pulse = 0;
    this.source?.close();
    this.source = null;
    this.become("closed");
  }

  open() {
    if ((this.watchers.size === 0 && !this.isAttended) || document.hidden) return this.close();
    const topics = [...new Set(["now", ...this.watchers.keys()])].map(encodeURIComponent).join(",");
    if (this.source && topics === this.topics && !this.isNewNeeded) return;
    this.isNewNeeded = false;
    this.topics = topics;
    this.source?.close();
    this.openedAt = Date.now();
    if (this.state !== "lost" && this.state !== "polling") this.become("connecting");
    const source = new EventSource(`${BASE}/events?topics=${topics}`);
    this.source = source;
    this.pulse ||= window.setInterval(() => this.check(), 1000);
    for (const name of ["past", "second", "alert", "send", "sends", "end"]) {
      source.addEventListener(name, (event) => source === this.source && this.hear(name, parsed(/** @type {MessageEvent} */ (event).data)));
    }
    source.addEventListener("error", () => this.fail(source));
  }

  /** Whether the last event is too old to call the page live. */
  get isSilent() {
    return isSilent(Date.now(), this.heardAt?.getTime() ?? null, this.openedAt, this.state === "polling" ? POLLED : SILENCE);
  }

  /** Notices silence. After a longer one, asks the server and opens a new stream, because the old one may have no other
   * end any more. */
  check() {
    if (!this.isSilent) return;
    this.become("lost");
    if (Date.now() - Math.max(this.heardAt?.getTime() ?? 0, this.openedAt) < this.patience) return;
    this.patience = Math.min(2 * this.patience, PATIENCE.most);
    if (this.source) this.poll();
  }

  /** Notes that the server was heard.
   * @param {Live["state"]} state */
  note(state) {
    this.failures = 0;
    this.heardAt = new Date();
    this.become(state);
    const due = this.returns.filter(({ from }) => from <= Date.now());
    this.returns = this.returns.filter((one) => !due.includes(one));
    for (const { work } of due) work();
  }

  /** @param {string} name @param {any} data */
  hear(name, data) {
    if (name === "end") {
      if (data?.reason === "stopping") return;
      this.close();
      gate.signedOut(data?.reason);
      return;
    }
    this.patience = PATIENCE.first;
    this.note("live");
    this.tell(name, data);
  }

  /** @param {string} name @param {any} data */
  tell(name, data) {
    for (const hear of new Set([...this.watchers.values()].flatMap((set) => [...set]))) hear(name, data);
  }

  /** @param {EventSource} source */
  fail(source) {
    if (source !== this.source) return;
    this.failures += 1;
    if (this.state !== "polling" || this.isSilent) this.become("lost");
    // After an answer that is not a stream, such as a 429, the browser does not try again. The server is then polled, at
    // first at once: after a 401 its answer is that the session has ended.
    if (source.readyState === EventSource.CLOSED) {
      this.source = null;
      this.timer = window.setTimeout(() => this.poll(), this.state === "polling" ? 10_000 : this.failures < 2 ? 0 : Math.min(10_000, 1000 * 2 ** this.failures));
    }
  }

  async poll() {
    if (this.isAsking) return;
    this.isAsking = true;
    try {
      const past = await call("now", { timeout: 5000 });
      // The stream may have come back meanwhile, or may have been closed.
      if (this.state === "closed" || this.state === "live") return;
      this.note("polling");
      if (this.watchers.has("now")) this.tell("past", past);
      this.tell("poll", null);
      this.renew();
    } catch {
      if (this.state === "closed" || this.state === "live") return;
      this.failures += 1;
      this.become("lost");
      if (!this.source) this.timer = window.setTimeout(() => this.poll(), 10_000);
    } finally {
      this.isAsking = false;
    }
  }

  /** @param {Live["state"]} state */
  become(state) {
    if (this.state === state) return;
    this.state = state;
    for (const listener of this.listeners) listener();
  }
}

export const live = new Live();

if (typeof document !== "undefined") {
  document.addEventListener("visibilitychange", () => live.renew());
  window.addEventListener("pagehide", () => live.close());
  window.addEventListener("pageshow", (event) => event.persisted && live.renew());
}
