/** What this browser knows of a send that it has asked for. Facts come only from answers of the server. No DOM here. */

import { sentKey } from "../../lib/drafts.js";
import { content } from "./draft.js";

/**
 * A send that was asked for. It is stored with its draft until the server has said what became of it.
 *
 * @typedef {object} Sending
 * @property {string} asked The server's time when it was first asked for.
 * @property {string[]} dues The times at which it was to begin, one for each attempt; the last is the current one.
 * @property {number} ahead The milliseconds by which the server's clock is ahead of this browser's.
 * @property {boolean} isLater Whether it goes out at a time that the operator has chosen, and not after the ten seconds.
 * @property {string | null} replaces The id of the scheduled send that it replaces.
 * @property {string | null} id The id of the notification; null as long as no answer has named it.
 * @property {boolean} undo Whether the operator wants it undone.
 * @property {number} count The number of devices, as shown when it was asked for.
 * @property {number} first The number of devices that get it first; 0 if all do.
 */

/** The seconds in which a send can be undone. */
export const UNDO = 10;
/** The milliseconds for which a send whose answer was lost is asked for again by itself. Later, nobody may be looking. */
const PATIENCE = 120_000;
/** The milliseconds for which the server recognizes a repeated request. */
const REMEMBERED = 86_400_000;
/** The milliseconds after which the claim of a key would begin. It goes to no device then either. */
const CLAIM = 7 * REMEMBERED;

/** Takes over what another tab has found out or decided of the same send. Undo stays wanted, whichever tab wants it.
 * @param {Sending} own @param {Sending} other */
export function join(own, other) {
  own.undo ||= other.undo;
  if (own.id) return;
  own.id = other.id;
  own.dues = other.id ? other.dues : [...new Set([...own.dues, ...other.dues])].sort();
}

/** Returns the moment at which a send begins, by this browser's clock.
 * @param {Sending} sending */
export const endOf = ({ dues, ahead }) => Date.parse(dues.at(-1) ?? "") - ahead;

/** Returns whether a send whose answer was lost is not looked for any more.
 * @param {Sending} sending @param {number} now */
export const isGivenUp = ({ asked, ahead }, now) => now - (Date.parse(asked) - ahead) > PATIENCE;

/**
 * Returns what to ask the server next: nothing as long as the send can wait, to accept it again at the same time
 * or at a new one, whether it has been accepted, to undo it, or what became of it. A repeated request has the same
 * idempotency key, so that at most one send is made. After Undo, the send is never asked for again: the key is claimed
 * for something that goes to nobody.
 *
 * @param {Sending} sending
 * @param {number} now
 * @param {boolean} hasBody Whether the request can be made again: its content is not known after a confidential draft
 *   was closed.
 * @returns {"wait" | "repeat" | "renew" | "find" | "claim" | "takeBack" | "look"}
 */
export function next(sending, now, hasBody) {
  if (sending.undo) return sending.id || sending.replaces ? "takeBack" : "claim";
  if (sending.id) return now < endOf(sending) ? "wait" : "look";
  if (!hasBody || isGivenUp(sending, now)) return "find";
  // It would begin at once, without a time to undo it.
  const isTooLate = endOf(sending) < now + 1500;
  return !isTooLate ? "repeat" : sending.isLater ? "find" : "renew";
}

/**
 * Returns a request that has the idempotency key of a send and goes to nobody: to a tag that no device has, days from
 * now. Whichever of the two arrives first, the server refuses the other, so that a request which is still under way
 * cannot make the send after its Undo. It needs no content of the send, and is the same each time.
 *
 * @param {Sending} sending @param {string} key
 */
export const claimOf = ({ asked }, key) => ({
  body: { title: "Undone" },
  fields: {
    "servicebusnotification-format": "message", "servicebusnotification-tags": `undone:${key}`, "idempotency-key": key,
    "servicebusnotification-scheduletime": new Date(Date.parse(asked) + CLAIM).toISOString(),
  },
});

/** Returns what a status says about a send.
 * @param {any} status @returns {"due" | "undone" | "stopped" | "begun"} */
export function became(status) {
  const hasBegun = Boolean(status.startedAt);
  if (status.control === "canceled" || String(status.state).startsWith("Cancel")) return hasBegun ? "stopped" : "undone";
  return hasBegun || status.endedAt ? "begun" : "due";
}

/** Returns whether a refusal leaves it open whether the request was carried out, or another sign-in may change it. A proxy may
 * have passed on what it calls late.
 * @param {number} status */
export const isOpen = (status) => [0, 401, 408].includes(status) || (status >= 500 && status !== 503 && status !== 507);

/** Finds a send among others by when it was asked for and when it was to begin.
 * @param {any[]} sends Newest first. @param {Pick<Sending, "asked" | "dues">} sending */
export function found(sends, { asked, dues }) {
  // The clocks of two nodes may differ a little.
  const from = Date.parse(asked) - 2000;
  return [...sends].reverse().find((one) => dues.includes(one.dueAt) && Date.parse(one.acceptedAt) >= from) ?? null;
}

/** Returns a digest of what a draft sends.
 * @param {import("./draft.js").Draft} draft */
export function digest(draft) {
  let one = 0xdeadbeef;
  let two = 0x41c6ce57;
  for (const character of content(draft) + (draft.replaces ?? "")) {
    const code = character.codePointAt(0) ?? 0;
    one = Math.imul(one ^ code, 2654435761);
    two = Math.imul(two ^ code, 1597334677);
  }
  return `${(one >>> 0).toString(16)}${(two >>> 0).toString(16)}`;
}

/** Gives a draft the idempotency key of its content: another content has another key.
 * @param {import("./draft.js").Draft} draft @param {string} [key] */
export function useKey(draft, key = crypto.randomUUID()) {
  const of = digest(draft);
  if (draft.keyOf !== of) Object.assign(draft, { key, keyOf: of });
}

/** @returns {{of: string, id: string, at: number}[]} @param {string} hub */
function log(hub) {
  try {
    return JSON.parse(localStorage.getItem(sentKey(hub)) ?? "[]");
  } catch {
    return [];
  }
}

/** Notes that a draft was sent, unless it is confidential: not even its digest is stored.
 * @param {string} hub @param {import("./draft.js").Draft} draft @param {string} id */
export function noteSent(hub, draft, id) {
  if (draft.confidential) return;
  try {
    localStorage.setItem(sentKey(hub), JSON.stringify([{ of: digest({ ...draft, replaces: null }), id, at: Date.now() }, ...log(hub).filter((one) => one.id !== id)].slice(0, MOST)));
  } catch { /* Only a note is lost. */ }
}

/** The maximum number of sends that are noted. */
const MOST = 20;

/** Returns the last send of the same content from this browser; null if there was none in the last day.
 * @param {string} hub @param {import("./draft.js").Draft} draft */
export function sentBefore(hub, draft) {
  const of = digest({ ...draft, replaces: null });
  return log(hub).find((one) => one.of === of && Date.now() - one.at < REMEMBERED) ?? null;
}
