/** Drafts: their content, their storage in this browser, and the problems of their fields. No DOM here. */

import { draftKey } from "../../lib/drafts.js";

/** @typedef {ReturnType<typeof fresh>} Draft */
/** @typedef {{tag: string, title: string, text: string, buttons: string[]}} Language */
/** @typedef {{id: string, title: string, link: string}} Action */

export function fresh() {
  return {
    id: crypto.randomUUID(), changedAt: 0,
    // The idempotency key of the send, and the digest of the content for which the server was asked with it.
    key: "", keyOf: "",
    // What is known of the send that was asked for (sending.js).
    sending: /** @type {import("./sending.js").Sending | null} */ (null),
    title: "", text: "", link: "", picture: "", collapse: "", badge: "", sound: "default", priority: "normal", data: /** @type {[string, string][]} */ ([]),
    confidential: false, silent: false, truncate: false, to: "", everybody: false, first: "", wait: "", rate: "", halt: "",
    // The language of the texts above, if there are other languages; and the texts in other languages, with the titles
    // of the buttons in the order of `actions`.
    language: "", languages: /** @type {Language[]} */ ([]),
    // The variables, each with its default value; and the buttons.
    variables: /** @type {[string, string][]} */ ([]), actions: /** @type {Action[]} */ ([]),
    // The id of the scheduled send that this draft replaces.
    replaces: /** @type {string | null} */ (null),
    // `at` is the local time of a send that goes out later. If the local time occurs twice, `which` is 0 or 1.
    when: "now", at: "", which: 0,
    // Payloads that the operator has edited, by platform.
    platforms: /** @type {Record<string, any>} */ ({}),
    // The campaign at the server to which the draft belongs, and the content that was last saved there.
    campaign: /** @type {{id: string, name: string, version: number, saved: string} | null} */ (null),
  };
}

/** What this page has last read or written of each draft, so that a change in another tab is noticed.
 * @type {Map<string, string | null>} */
const seen = new Map();
/** The maximum number of stored drafts in addition to the one in the form. */
const MOST = 20;

/** Returns the draft for the form: the one that this tab had in it, or in a new tab the newest; null if there is none.
 * @param {string} hub @returns {Draft | null} */
export function kept(hub) {
  const own = sessionStorage.getItem(draftKey(hub));
  return own === null ? others(hub)[0] ?? null : stored(hub, own);
}

/** Notes which draft this tab has in its form; "" if it has none that is stored.
 * @param {string} hub @param {string} id */
export function hold(hub, id) {
  sessionStorage.setItem(draftKey(hub), id);
}

/** Returns a draft as it is stored; null if it is not stored.
 * @param {string} hub @param {string} id @returns {Draft | null} */
export function stored(hub, id) {
  const text = localStorage.getItem(draftKey(hub, id));
  seen.set(id, text);
  try {
    return text ? { ...fresh(), ...JSON.parse(text), id } : null;
  } catch {
    return null;
  }
}

/** Returns the stored drafts, newest first.
 * @param {string} hub @param {string} [id] The id of the draft in the form, which is left out. @returns {Draft[]} */
export function others(hub, id) {
  const start = draftKey(hub);
  const ids = Array.from({ length: localStorage.length }, (_, index) => localStorage.key(index) ?? "")
    .filter((key) => key.startsWith(start)).map((key) => key.slice(start.length)).filter((one) => one !== id && one !== "");
  return ids.flatMap((one) => stored(hub, one) ?? []).sort((one, two) => two.changedAt - one.changedAt);
}

/**
 * Stores a draft in this browser, unless it is empty or confidential. If another tab has changed or removed the stored
 * draft meanwhile, this one gets an id of its own, so that neither replaces the other.
 *
 * @param {string} hub @param {Draft} draft @returns {boolean} Whether it is stored.
 */
export function keep(hub, draft) {
  const { id, key, sending } = draft;
  // Of a confidential draft, only what became of its send is stored.
  const kept = draft.confidential ? { id, key, confidential: true, sending } : draft;
  if (!sending && (draft.confidential || content(draft) === content(fresh()))) {
    forget(hub, draft);
    return false;
  }
  const before = seen.get(id) ?? null;
  const now = localStorage.getItem(draftKey(hub, id));
  const other = sendOf(now, draft);
  // Undo stays wanted, whichever tab wants it.
  if (sending && other) Object.assign(sending, { undo: sending.undo || other.undo, id: sending.id ?? other.id });
  if (before && words(before) === words(JSON.stringify(kept))) return now !== null;
  if (now !== before) {
    // A send that is over in another tab is over here too.
    if (sending && now === null) return false;
    if (!sending || !other) draft.id = crypto.randomUUID();
  }
  try {
    const isNew = !seen.get(draft.id);
    draft.changedAt = Date.now();
    const text = JSON.stringify({ ...kept, id: draft.id, changedAt: draft.changedAt });
    localStorage.setItem(draftKey(hub, draft.id), text);
    seen.set(draft.id, text);
    if (isNew) for (const old of others(hub, draft.id).slice(MOST)) if (!old.sending) forget(hub, old);
    return true;
  } catch {
    return false;
  }
}

/** @param {string} text A stored draft. */
const words = (text) => JSON.stringify({ ...JSON.parse(text), changedAt: 0 });

/** Returns the send of a stored draft that has the key of another; otherwise null.
 * @param {string | null} text @param {Draft} draft @returns {Draft["sending"]} */
function sendOf(text, draft) {
  const other = JSON.parse(text ?? "null");
  return other?.key === draft.key ? other.sending : null;
}

/** Takes over what another tab has stored of the same draft, unless the contents differ. A send of which Undo is wanted here
 * stays: its `Going` finds out what became of it.
 * @param {string} hub @param {Draft} draft */
export function follow(hub, draft) {
  const before = seen.get(draft.id) ?? null;
  const other = stored(hub, draft.id);
  if (!other || (!draft.confidential && content(other) !== content(draft))) {
    seen.set(draft.id, before);
    return;
  }
  const { key, sending } = draft;
  Object.assign(draft, draft.confidential ? { key: other.key, sending: other.sending } : other);
  if (sending?.undo && other.key === key) draft.sending = sending;
}

/** Returns the content of a draft as text, without what identifies it, its campaign and its send.
 * @param {Draft} draft */
export function content(draft) {
  const { id, key, keyOf, changedAt, sending, campaign, replaces, ...rest } = draft;
  return JSON.stringify(rest);
}

/** Returns the number of devices that get the message first; 0 if the send is not a canary.
 * @param {Draft} draft */
export function first(draft) {
  return Number(draft.first.replace(/[\s.,']/g, "")) || 0;
}

/** Returns the minutes that a canary waits; 0 if it waits until somebody resumes it.
 * @param {Draft} draft */
export function wait(draft) {
  return Number(draft.wait.trim() || 0);
}

/** Removes a stored draft, unless another tab has changed it meanwhile.
 * @param {string} hub @param {Draft} draft */
export function forget(hub, draft) {
  const key = draftKey(hub, draft.id);
  const now = localStorage.getItem(key);
  if (now === (seen.get(draft.id) ?? null) || sendOf(now, draft)) localStorage.removeItem(key);
  seen.delete(draft.id);
}

/** Returns the problems of the fields: for each field with a problem, the key of a text.
 * @param {Draft} draft @returns {Record<string, string>} */
export function problems(draft) {
  /** @type {Record<string, string>} */
  const found = {};
  const bytes = (/** @type {string} */ text) => new TextEncoder().encode(text).length;
  if (bytes(draft.title) > 1024) found.title = "problem.titleLong";
  if (bytes(draft.text) > 16_384) found.text = "problem.textLong";
  if (draft.link && !isAddress(draft.link, false)) found.link = "problem.link";
  if (draft.picture && !isAddress(draft.picture, true)) found.picture = "problem.picture";
  if (draft.badge && !/^(\+1|\d{1,5})$/.test(draft.badge.trim())) found.badge = "problem.badge";
  if (draft.wait && !(wait(draft) >= 1 && wait(draft) <= 10_080)) found.wait = "problem.wait";
  if (draft.languages.length > 0 && ![draft.language, ...draft.languages.map((one) => one.tag)].every((tag) => /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/.test(tag.trim()))) found.language = "problem.tag";
  else if (draft.languages.some((one) => (one.title && !draft.title) || (one.text && !draft.text))) found.language = "problem.ownText";
  if (draft.actions.some((one) => one.title.trim() === "" || (one.link && !isAddress(one.link, false)))) found.actions = "problem.actions";
  if (draft.collapse && !/^[!-~]{1,64}$/.test(draft.collapse)) found.collapse = "problem.collapse";
  return found;
}

/** @param {string} text @param {boolean} isSecure */
function isAddress(text, isSecure) {
  try {
    const { protocol } = new URL(text);
    return isSecure ? protocol === "https:" : !["javascript:", "data:", "file:", "vbscript:"].includes(protocol);
  } catch {
    return false;
  }
}
