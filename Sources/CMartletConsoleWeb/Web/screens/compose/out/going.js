/** Sends that this page has asked for, until the server has said what became of them. They go on when the screen is
 * left. */

import { call, Refusal } from "../../../lib/api.js";
import { draftKey, owner, underWay } from "../../../lib/drafts.js";
import { forget, keep, stored } from "../draft.js";
import { fields, message } from "../message.js";
import { became, claimOf, endOf, found, isGivenUp, isOpen, join, next, noteSent, UNDO } from "../sending.js";

const API = { "api-version": "2020-06" };
/** The milliseconds after which a question without an answer is asked again. Each time the server is given twice as long,
 * at most three times, so that an answer that takes its time arrives. */
const LIMIT = { first: 5000, doublings: 3 };

/** Makes a request that does not wait for ever.
 * @param {CallName} name @param {CallOptions} [options] @param {AbortController} [controller] Ends it early.
 * @param {number} [limit] Milliseconds. */
export async function question(name, options, controller = new AbortController(), limit = LIMIT.first) {
  const timer = window.setTimeout(() => controller.abort(), limit);
  try {
    return await call(name, { ...options, signal: controller.signal });
  } catch (error) {
    throw error instanceof Refusal ? error : new Refusal(0, null);
  } finally {
    window.clearTimeout(timer);
  }
}

/** Questions of one matter, each of which may take longer after one that was not answered in time. */
export class Questions {
  constructor() {
    this.unanswered = 0;
    this.controller = new AbortController();
  }

  /** @param {CallName} name @param {CallOptions} [options] */
  async ask(name, options) {
    const limit = LIMIT.first * 2 ** Math.min(this.unanswered, LIMIT.doublings);
    const began = Date.now();
    this.controller = new AbortController();
    try {
      return await question(name, options, this.controller, limit);
    } catch (error) {
      if (Date.now() - began >= limit) this.unanswered += 1;
      throw error;
    }
  }

  /** Returns the server's time as it answers, and what it is at least now. The trip counts in full, so that a send has its
   * ten seconds also if the answer took its time. */
  async time() {
    for (;;) {
      const { unanswered } = this;
      const began = Date.now();
      try {
        const { now } = await this.ask("session");
        return { asked: now, at: Date.parse(now) + Date.now() - began };
      } catch (error) {
        if (this.unanswered <= unanswered || unanswered >= LIMIT.doublings) throw error;
      }
    }
  }
}

/**
 * What became of a send: undone before it began; begun; scheduled for a time that the operator has chosen; stopped
 * after it had begun; over before Undo came; not known to the server any more; never accepted; refused; the key was
 * used for another send; or settled in another tab.
 *
 * @typedef {"undone" | "begun" | "scheduled" | "stopped" | "late" | "gone" | "none" | "refused" | "clash" | "elsewhere"} Outcome
 */

/** Returns the send of a draft.
 * @param {string} hub @param {import("../draft.js").Draft} draft @param {View} view @param {boolean} isNew Whether it is
 *   asked for now; otherwise it was read from the browser's storage. */
export function goingOf(hub, draft, view, isNew) {
  const known = /** @type {Going | undefined} */ (underWay.get(draft.key));
  if (known && draft.sending && known.draft.sending) join(draft.sending, known.draft.sending);
  if (known) known.draft = draft;
  const one = known ?? new Going(hub, draft, view, isNew);
  underWay.set(draft.key, one);
  return one;
}

export class Going {
  /** @param {string} hub @param {import("../draft.js").Draft} draft @param {View} view @param {boolean} isNew */
  constructor(hub, draft, view, isNew) {
    this.hub = hub;
    this.draft = draft;
    this.view = view;
    this.operator = owner.name;
    // The content of a confidential draft is not stored, so its request cannot be repeated.
    this.request = isNew || !draft.confidential ? { fields: fields(draft, view), body: message(draft) } : null;
    // Whether a request may have been accepted although no answer says so.
    this.isOpen = !isNew;
    /** The last question's failure. @type {Refusal | null} */
    this.error = null;
    /** Told when something has changed, with the outcome once there is one.
     * @type {((outcome?: Outcome) => void) | null} */
    this.listen = null;
    /** @type {Outcome | null} */
    this.outcome = null;
    this.timer = 0;
    this.questions = new Questions();
    this.isBusy = false;
    this.wasTold = false;
    // Whether Undo was pressed in this tab, and whether it was pressed in another one, which tells what becomes of it.
    this.isOwnUndo = false;
    this.isOthersUndo = false;
    // Whether the send was seen in the browser's storage, and whether another tab has noted there since that it is over.
    this.wasStored = false;
    this.isOver = false;
    // Whether Undo was wanted when the current question was asked.
    this.wasUndone = false;
  }

  get sending() {
    return /** @type {import("../sending.js").Sending} */ (this.draft.sending);
  }

  get path() {
    return { hub: this.hub, id: this.sending.id ?? "" };
  }

  /** Wants the send undone, and asks the server at once: a question that is still without an answer is given up. */
  undo() {
    if (!this.sending.undo) {
      this.sending.undo = true;
      this.questions.unanswered = 0;
      this.questions.controller.abort();
    }
    this.isOwnUndo = true;
    this.keep();
    return this.turn();
  }

  /** @param {CallName} name @param {CallOptions} [options] */
  ask(name, options) {
    return this.questions.ask(name, options);
  }

  /** Takes over what another tab has stored of this send. Two tabs may ask for one send, and Undo in either counts for both.
   * @returns {boolean} Whether the send is over in another tab. If Undo was pressed here, this one finds out how. */
  heed() {
    if (!this.sending) return true;
    const other = JSON.parse(localStorage.getItem(draftKey(this.hub, this.draft.id)) ?? "null");
    if (other?.sending && other.key === this.draft.key) {
      this.wasStored = true;
      this.isOthersUndo ||= other.sending.undo && !this.sending.undo;
      join(this.sending, other.sending);
    } else if (other && this.wasStored) {
      this.isOver = true;
    }
    return this.isOver && !this.isOwnUndo;
  }

  /** Stores what is known of the send, unless it is over in another tab. */
  keep() {
    this.heed();
    if (!this.isOver) keep(this.hub, this.draft);
  }

  /** Continues after another sign-in.
   * @param {View} view */
  resume(view) {
    this.view = view;
    return this.turn();
  }

  /** Asks the server the next question, and comes again as long as there is one. */
  async turn() {
    window.clearTimeout(this.timer);
    if (this.isBusy || this.outcome) return;
    if (this.heed()) return this.finish("elsewhere");
    this.isBusy = true;
    this.wasUndone = this.sending.undo;
    const step = next(this.sending, Date.now(), this.request !== null);
    try {
      await this[step]();
      this.error = null;
    } catch (error) {
      // Another tab may have ended the send during the step, which then has nothing to work on.
      if (!(error instanceof Refusal) && (this.draft.sending || this.outcome)) throw error;
      this.error = error;
    } finally {
      this.isBusy = false;
    }
    if (this.outcome) return;
    if (!this.draft.sending) return this.finish("elsewhere");
    // A question that Undo has ended has not failed.
    const isInterrupted = this.sending.undo !== this.wasUndone;
    if (isInterrupted) this.error = null;
    if (!this.listen) this.tellOnce();
    this.listen?.();
    // Without a session, all questions are in vain.
    if (this.error?.status === 401) return;
    // A send that waits comes again too: Undo may be wanted in another tab.
    const { id, undo } = this.sending;
    const left = endOf(this.sending) - Date.now();
    const pause = isInterrupted ? 0 : this.error ? 1000 : step === "find" ? 2000 : id && !undo && left > 0 ? Math.min(left + 100, 1000) : 400;
    this.timer = window.setTimeout(() => this.turn(), pause);
  }

  wait() {}

  repeat() {
    return this.post();
  }

  /** Asks for the send with a new time to undo it. */
  async renew() {
    const { at } = await this.questions.time();
    if (this.heed() || this.sending.undo) return;
    this.sending.dues.push(new Date(at + UNDO * 1000).toISOString());
    this.sending.ahead = at - Date.now();
    this.keep();
    await this.post();
  }

  async post() {
    const { replaces, dues } = this.sending;
    const { fields, body } = /** @type {{fields: Record<string, string>, body: any}} */ (this.request);
    const own = { ...fields, "servicebusnotification-scheduletime": dues.at(-1) ?? "" };
    let answer;
    try {
      answer = replaces
        ? await this.ask("reschedule", { path: { hub: this.hub, id: replaces }, query: API, body, fields: own })
        : await this.ask("schedule", { path: { hub: this.hub }, query: API, body, fields: { ...own, "idempotency-key": this.draft.key } });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (isOpen(error.status)) {
        this.isOpen = this.isOpen || error.status !== 401;
        throw error;
      }
      const isClash = error.status === 422 && !replaces;
      if ((this.isOpen || isClash) && await this.search()) return;
      // An earlier request may still be under way, so this refusal does not say that nothing was sent.
      if (this.isOpen && [403, 429, 503, 507].includes(error.status)) throw error;
      this.error = error;
      return this.finish(isClash ? "clash" : "refused");
    }
    this.named(replaces ?? idOf(answer));
  }

  /** Looks for the send until it is there or nobody would look any more: a request may arrive late. */
  async find() {
    if (!(await this.search()) && isGivenUp(this.sending, Date.now())) this.finish("none");
  }

  /** Takes the send's key, so that no request for it can be accepted any more. */
  async claim() {
    // The server may have forgotten the key of an old send: it would accept the claim, and the send may have gone out.
    if (isGivenUp(this.sending, Date.now()) && await this.search()) return;
    const { body, fields } = claimOf(this.sending, this.draft.key);
    try {
      this.named(idOf(await this.ask("schedule", { path: { hub: this.hub }, query: API, body, fields })));
    } catch (error) {
      if (!(error instanceof Refusal) || isOpen(error.status) || await this.search()) {
        if (!this.sending.id) throw error;
      } else if (error.status === 422) this.finish("clash");
      else throw error;
    }
  }

  /** Looks for the send among the operator's sends.
   * @returns {Promise<boolean>} Whether it is there. */
  async search() {
    this.heed();
    const { hub } = this;
    const { replaces, asked, dues } = this.sending;
    let one = null;
    if (replaces) {
      const status = await this.ask("status", { path: { hub, id: replaces } });
      one = dues.includes(status.dueAt) ? { id: replaces, dueAt: status.dueAt } : null;
    } else {
      one = await among(hub, this.operator, { asked, dues }, (name, options) => this.ask(name, options));
    }
    if (!one) return false;
    this.sending.dues = [one.dueAt];
    this.named(one.id);
    return true;
  }

  /** Notes the id that the server has given the send.
   * @param {string} id */
  named(id) {
    this.sending.id = id;
    this.keep();
    if (this.sending.isLater && !this.sending.undo) this.finish("scheduled");
  }

  async takeBack() {
    // A send that is replaced is the one to take back, whether or not it was replaced yet.
    this.sending.id ??= this.sending.replaces;
    try {
      await this.ask("withdraw", { path: this.path, query: API });
      return this.finish("undone");
    } catch (error) {
      if (!(error instanceof Refusal) || ![403, 404].includes(error.status)) throw error;
      const status = await this.status();
      if (!status) return;
      const state = became(status);
      // It is there and has not begun, so the refusal has another reason.
      if (state === "due") throw error;
      if (state !== "begun") return this.finish(state);
      if (status.endedAt) return this.finish("late");
      if (error.status === 403) return this.finish("begun");
    }
    try {
      await this.ask("cancel", { path: this.path, body: {} });
      this.finish("stopped");
    } catch (error) {
      // The next status says how it has ended.
      if (!(error instanceof Refusal) || error.status !== 409) throw error;
    }
  }

  async look() {
    const status = await this.status();
    const state = status ? became(status) : "due";
    if (state !== "due") this.finish(state);
  }

  /** Returns the status of the send; null if the server does not know it. */
  async status() {
    try {
      return await this.ask("status", { path: this.path });
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== 404) throw error;
      this.finish("gone");
      return null;
    }
  }

  /** @param {Outcome} outcome */
  finish(outcome) {
    const { draft, hub } = this;
    if (this.heed()) outcome = "elsewhere";
    // Undo came meanwhile, here or in another tab, and decides what becomes of the send.
    else if (this.sending.undo && !this.wasUndone) return;
    const id = draft.sending?.id ?? "";
    this.outcome = outcome;
    underWay.delete(draft.key);
    if (["begun", "late", "scheduled", "stopped"].includes(outcome)) {
      noteSent(hub, draft, id);
      const { campaign } = draft;
      if (campaign && id) call("recordCampaignSend", { path: { hub, id: campaign.id }, body: { notification: id } }).catch(() => {});
    }
    this.id = id;
    if (["begun", "late", "scheduled"].includes(outcome)) {
      forget(hub, draft);
    } else {
      draft.sending = null;
    }
    if (!["begun", "late", "scheduled", "elsewhere"].includes(outcome)) {
      if (["undone", "stopped"].includes(outcome)) draft.replaces = null;
      // The key of a send that was refused or not found stays, so that a late request cannot make a second one. Not so if a
      // confidential draft was loaded again: its content is not known any more, so the next one has another key.
      if (!["none", "refused"].includes(outcome)) draft.keyOf = "";
      if (!this.isOver) {
        // What another tab has stored meanwhile is of the same send, so this is no second draft.
        stored(hub, draft.id);
        keep(hub, draft);
      }
    }
    if (this.listen) this.listen(outcome);
    else this.report(outcome);
  }

  /** Tells the outcome when the screen was left.
   * @param {Outcome} outcome */
  report(outcome) {
    const { t, toast } = this.view;
    const said = sentence(outcome);
    if (said && !["begun", "scheduled"].includes(outcome) && !(outcome === "undone" && this.isOthersUndo && !this.isOwnUndo)) toast(t(said));
  }

  /** Tells once that Undo has not worked yet, when the screen was left. The sign-in page tells it by itself. */
  tellOnce() {
    if (!this.error || this.error.status === 401 || !this.sending.undo || this.wasTold) return;
    this.wasTold = true;
    this.view.toast(this.view.t("undo.trying"), undefined, 15_000);
  }
}

/** Returns the id in the answer to a send that was accepted.
 * @param {any} answer */
const idOf = (answer) => /\/(?:schedulednotifications|messages)\/([^/?]+)/.exec(answer?.location ?? "")?.[1] ?? "";

/** Finds a send of an operator.
 * @param {string} hub @param {string} operator @param {{asked: string, dues: string[]}} what
 * @param {(name: CallName, options: CallOptions) => Promise<any>} [ask]
 * @returns {Promise<any>} The send of a list; null if there is none. */
export async function among(hub, operator, what, ask = question) {
  let before = /** @type {number | null} */ (null);
  // A list looks through a limited number of sends at a time.
  for (let page = 0; page < 20; page += 1) {
    /** @type {any} */
    const answer = await ask("sends", { path: { hub }, query: { author: `operator:${operator}`, since: new Date(Date.parse(what.asked) - 60_000).toISOString(), limit: 100, before } });
    const one = found(answer.sends, what);
    if (one || !answer.next) return one;
    before = answer.next;
  }
  return null;
}

/** Returns the key of the text for an outcome; null for one that needs none.
 * @param {Outcome} outcome */
export function sentence(outcome) {
  const texts = { undone: "undone", stopped: "undo.late", late: "undo.over", gone: "sending.gone", none: "sending.notFound", refused: "sending.none", clash: "sending.clash", begun: "sending.sent", scheduled: "sending.sent", elsewhere: null };
  return texts[outcome];
}
