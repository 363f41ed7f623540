/** Drafts: their content, their storage in this browser, and the problems of their fields. No DOM here. */

import { draftKey, othersKey } from "../../lib/drafts.js";

/** @typedef {ReturnType<typeof fresh>} Draft */
/** @typedef {{tag: string, title: string, text: string, buttons: string[]}} Language */
/** @typedef {{id: string, title: string, link: string}} Action */

export function fresh() {
  return {
    // The idempotency key, so that a double click makes one send.
    id: crypto.randomUUID(), title: "", text: "", link: "", picture: "", collapse: "", badge: "", sound: "default", priority: "normal", data: /** @type {[string, string][]} */ ([]),
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

/** Returns the draft for a hub that is stored in this browser; null if there is none.
 * @param {string} hub @returns {Draft | null} */
export function kept(hub) {
  try {
    const text = localStorage.getItem(draftKey(hub));
    return text ? { ...fresh(), ...JSON.parse(text) } : null;
  } catch {
    return null;
  }
}

/** Returns the drafts that other drafts have replaced in the form, newest first.
 * @param {string} hub @returns {Draft[]} */
export function others(hub) {
  try {
    return JSON.parse(localStorage.getItem(othersKey(hub)) ?? "[]");
  } catch {
    return [];
  }
}

/** Stores a draft in this browser, unless it is empty or confidential.
 * @param {string} hub @param {Draft} draft @returns {boolean} Whether it was stored. */
export function keep(hub, draft) {
  if (draft.confidential || content({ ...draft, id: "" }) === content({ ...fresh(), id: "" })) {
    forget(hub);
    return false;
  }
  try {
    localStorage.setItem(draftKey(hub), JSON.stringify(draft));
    return true;
  } catch {
    return false;
  }
}

/** Returns the content of a draft as text, without its campaign and the send that it replaces.
 * @param {Draft} draft */
export function content(draft) {
  const { campaign, replaces, ...rest } = draft;
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

/** @param {string} hub */
export function forget(hub) {
  localStorage.removeItem(draftKey(hub));
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
