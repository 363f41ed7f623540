/** A draft: what is kept of it, and what is wrong with it. No DOM here. */

import { draftKey, othersKey } from "../../lib/drafts.js";

/** @typedef {ReturnType<typeof fresh>} Draft */
/** @typedef {{tag: string, title: string, text: string, buttons: string[]}} Language */
/** @typedef {{id: string, title: string, link: string}} Action */

export function fresh() {
  return {
    // The idempotency key: a double click is one send.
    id: crypto.randomUUID(), title: "", text: "", link: "", picture: "", collapse: "", badge: "", sound: "default", priority: "normal", data: /** @type {[string, string][]} */ ([]),
    confidential: false, silent: false, truncate: false, to: "", everybody: false, first: "", wait: "", rate: "", halt: "",
    // The language of the texts above, if there are others; what others say, with the titles of the buttons by their places.
    language: "", languages: /** @type {Language[]} */ ([]),
    // Names of variables, each with its default; buttons.
    variables: /** @type {[string, string][]} */ ([]), actions: /** @type {Action[]} */ ([]),
    // The scheduled send that it takes the place of.
    replaces: /** @type {string | null} */ (null),
    // `at` is what clocks show; of two such instants, `which`.
    when: "now", at: "", which: 0,
    // Payloads that are written by hand.
    platforms: /** @type {Record<string, any>} */ ({}),
    // The campaign that it is saved as on the server, and what was saved.
    campaign: /** @type {{id: string, name: string, version: number, saved: string} | null} */ (null),
  };
}

/** The draft that this browser keeps of a hub.
 * @param {string} hub @returns {Draft | null} */
export function kept(hub) {
  try {
    const text = localStorage.getItem(draftKey(hub));
    return text ? { ...fresh(), ...JSON.parse(text) } : null;
  } catch {
    return null;
  }
}

/** Drafts that others have taken the place of, newest first.
 * @param {string} hub @returns {Draft[]} */
export function others(hub) {
  try {
    return JSON.parse(localStorage.getItem(othersKey(hub)) ?? "[]");
  } catch {
    return [];
  }
}

/** Keeps a draft in this browser, unless it says nothing or is confidential.
 * @param {string} hub @param {Draft} draft @returns {boolean} Whether it is kept. */
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

/** What a draft says, without where it is saved and what it takes the place of.
 * @param {Draft} draft */
export function content(draft) {
  const { campaign, replaces, ...rest } = draft;
  return JSON.stringify(rest);
}

/** How many devices get it first; 0 if all at once.
 * @param {Draft} draft */
export function first(draft) {
  return Number(draft.first.replace(/[\s.,']/g, "")) || 0;
}

/** Minutes that a canary waits; 0 if it waits for somebody.
 * @param {Draft} draft */
export function wait(draft) {
  return Number(draft.wait.trim() || 0);
}

/** @param {string} hub */
export function forget(hub) {
  localStorage.removeItem(draftKey(hub));
}

/** What is wrong with a field, as the key of a sentence.
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
