/**
 * What a screen is: its address, and the parts that ask the server and show loading, error and emptiness alike.
 */

import { Refusal } from "./api.js";
import { h, icon, put } from "./dom.js";

/**
 * @typedef {object} View What a screen is given.
 * @property {Record<string, string>} params The named parts of the address.
 * @property {URLSearchParams} query
 * @property {string} hub The hub of the address, or the chosen one; "" where there is none.
 * @property {import("./text.js").Translate} t
 * @property {ReturnType<typeof import("./text.js").numbers>} n
 * @property {import("./time.js").Times} time
 * @property {string} language
 * @property {any} session
 * @property {(hub?: string) => "viewer" | "sender" | "admin" | null} role
 * @property {(path: string, replace?: boolean) => void} go
 * @property {() => Promise<void>} refreshSession
 * @property {(settings: Record<string, any>) => Promise<void>} saveSettings
 * @property {(text: string, kind?: "good" | "bad") => void} toast
 */
/**
 * @typedef {object} Screen
 * @property {string} title
 * @property {Element} node
 * @property {() => void} [leave]
 * @property {(key: string) => boolean} [key] Hears single keys; answers whether it has used one.
 */

/**
 * Finds the screen of an address.
 *
 * @param {readonly (readonly [string, string])[]} routes Patterns such as `/hubs/{hub}/sends`, and names of screens.
 * @param {string} path
 * @returns {{name: string, params: Record<string, string>} | null}
 */
export function match(routes, path) {
  const parts = split(path);
  for (const [pattern, name] of routes) {
    const wanted = split(pattern);
    if (wanted.length !== parts.length) continue;
    /** @type {Record<string, string>} */
    const params = {};
    const fits = wanted.every((part, index) => {
      const found = parts[index] ?? "";
      const key = /^\{(\w+)\}$/.exec(part)?.[1];
      if (key === undefined) return part === found;
      params[key] = decoded(found);
      return true;
    });
    if (fits) return { name, params };
  }
  return null;
}

/** @param {string} path */
function split(path) {
  return path.split("/").filter(Boolean);
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * Joins parts of an address below `/console`.
 *
 * @param {...string} parts
 */
export function path(...parts) {
  return `/console/${parts.map(encodeURIComponent).join("/")}`;
}

/** The address of a send, and of one of its devices. */
export const to = {
  /** @param {string} hub */
  sends: (hub) => path("hubs", hub, "sends"),
  /** @param {string} hub @param {string} id */
  send: (hub, id) => path("hubs", hub, "sends", id),
  /** @param {string} hub @param {string} id @param {string} device */
  why: (hub, id, device) => path("hubs", hub, "sends", id, "devices", device),
  /** @param {string} hub @param {string} id */
  device: (hub, id) => path("hubs", hub, "people", id),
};

/**
 * A part of a screen that shows what the server answers: its frame at once, grey bars after 300 ms, what failed with a
 * button to try again (what was there stays), and what belongs here where there is nothing.
 *
 * @param {object} options
 * @param {View["t"]} options.t
 * @param {(signal: AbortSignal) => Promise<any>} options.load
 * @param {(data: any) => any} options.render Nodes for the data.
 * @param {number} [options.bars] How many grey bars stand for it.
 * @param {string} [options.kind] Classes.
 * @returns {any} An element with a method `reload`.
 */
export function pane({ t, load, render, bars = 3, kind }) {
  const node = h("div.pane", { class: kind ?? "", "aria-busy": "true" });
  let controller = new AbortController();
  let isShown = false;
  let shownAt = new Date();

  async function reload() {
    controller.abort();
    controller = new AbortController();
    const { signal } = controller;
    node.setAttribute("aria-busy", "true");
    const timer = window.setTimeout(() => {
      if (!isShown) put(node, skeleton(t, bars));
    }, 300);
    try {
      const data = await load(signal);
      if (signal.aborted) return;
      put(node, render(data));
      isShown = true;
      shownAt = new Date();
    } catch (error) {
      if (signal.aborted || /** @type {any} */ (error).name === "AbortError") return;
      node.querySelector(":scope > .notice")?.remove();
      const notice = failure(t, error, reload, isShown ? shownAt : null);
      if (isShown) node.prepend(notice);
      else put(node, notice);
    } finally {
      window.clearTimeout(timer);
      if (!signal.aborted) node.removeAttribute("aria-busy");
    }
  }
  node.reload = reload;
  reload();
  return node;
}

/**
 * @param {View["t"]} t
 * @param {number} bars
 */
export function skeleton(t, bars) {
  return h("div.skeleton", { role: "status" }, h("span.unseen", t("loading")),
    Array.from({ length: bars }, () => h("div.bar", { "aria-hidden": "true" })));
}

/**
 * Says what failed, in the reader's words first, then in the server's.
 *
 * @param {View["t"]} t
 * @param {unknown} error
 * @param {(() => void) | null} retry
 * @param {Date | null} [since] When the data that is still shown came.
 */
export function failure(t, error, retry, since) {
  const refusal = error instanceof Refusal ? error : new Refusal(0, { code: "page", error: String(error) });
  const { title, text } = reason(t, refusal);
  return h("div.notice", { class: refusal.status === 403 ? "quiet-notice" : "bad-notice", role: "alert" },
    icon(refusal.status === 403 ? "lock" : "warn"),
    h("div", h("p.strong", title), text && h("p", text),
      refusal.message && refusal.status !== 403 && h("p.quote", { lang: "en" }, refusal.message),
      since && h("p.quiet", t("dataFrom", { time: since.toLocaleTimeString() })),
      retry && refusal.status !== 403 && h("button", { on: { click: retry }, type: "button" }, t("tryAgain"))));
}

/**
 * @param {View["t"]} t
 * @param {Refusal} refusal
 * @returns {{title: string, text: string}}
 */
function reason(t, refusal) {
  if (refusal.status === 403 && refusal.needs) {
    return { title: t("forbidden"), text: t("forbiddenNeeds", { role: t(`role.${refusal.needs}`) }) };
  }
  if (refusal.status === 403) return { title: t("forbidden"), text: "" };
  if (refusal.code === "page") return { title: t("failed.page"), text: "" };
  if (refusal.status === 0) return { title: t("failed.unreachable"), text: t("failed.unreachable.text") };
  if (refusal.status === 404) return { title: t("failed.notFound"), text: "" };
  if (refusal.status === 429) return { title: t("failed.tooMany"), text: t("failed.tooMany.text", { n: refusal.retryAfter ?? 10 }) };
  if (refusal.status >= 500) return { title: t("failed.server"), text: "" };
  return { title: t("failed.refused"), text: "" };
}

/**
 * What stands where a list is empty: what belongs here, and the one next step.
 *
 * @param {string} symbol
 * @param {string} title
 * @param {string} text
 * @param {...any} steps
 */
export function empty(symbol, title, text, ...steps) {
  return h("div.empty", h("div.empty-mark", icon(symbol)), h("h2", title), text && h("p", text),
    steps.length > 0 && h("div.row.center", steps));
}

/**
 * The state of a send, in one word for the eye and for the style.
 *
 * @param {any} send A row or a status.
 * @returns {"scheduled" | "waiting" | "running" | "paused" | "halted" | "holding" | "stopped" | "done" | "failed" | "expired"}
 */
export function sendState(send) {
  const state = String(send.state).toLowerCase();
  if (send.control === "canceled" || state.startsWith("cancel")) return "stopped";
  const isOver = ["completed", "abandoned", "nothingtosend", "notargetfound", "unknown"].some((end) => state.startsWith(end));
  if (!isOver && ["paused", "halted", "holding"].includes(send.control)) return send.control;
  if (state.startsWith("scheduled")) return "scheduled";
  if (state === "enqueued") return "waiting";
  if (state === "abandoned") return "expired";
  if (isOver) return (send.succeeded ?? 0) === 0 && (send.failed ?? 0) > 0 ? "failed" : "done";
  return "running";
}

/**
 * A send's state as a word with a shape: never by colour alone.
 *
 * @param {View["t"]} t
 * @param {any} send
 */
export function stateBadge(t, send) {
  const state = sendState(send);
  return h("span.badge", { class: `state-${state}` }, h("i.dot", { "aria-hidden": "true" }), t(`state.${state}`));
}

/** Names of push services as their documentation writes them: they are the same in every language. */
const SERVICES = /** @type {Record<string, string>} */ ({
  apns: "APNs", fcmv1: "FCM", browser: "Web Push", wns: "WNS", mpns: "MPNS", adm: "ADM", baidu: "Baidu", xiaomi: "Xiaomi",
});

/** @param {string} platform */
export function serviceName(platform) {
  return SERVICES[platform] ?? platform;
}
