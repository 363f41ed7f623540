/** A draft: what is kept, what is wrong with it, and the message that it makes. No DOM here. */

/**
 * @typedef {object} Draft
 * @property {string} id The idempotency key: a double click is one send.
 * @property {string} title
 * @property {string} text
 * @property {string} link
 * @property {string} picture
 * @property {string} collapse
 * @property {string} badge
 * @property {string} sound
 * @property {string} priority
 * @property {[string, string][]} data
 * @property {boolean} confidential
 * @property {boolean} silent
 * @property {boolean} truncate
 * @property {string} to
 * @property {boolean} everybody
 * @property {string} when `now` or `at`.
 * @property {string} at
 * @property {number} which Of two instants, where clocks show a time twice.
 * @property {string} first
 * @property {string} rate
 * @property {string} halt
 * @property {Record<string, any>} platforms Payloads that are written by hand.
 */

/** @returns {Draft} */
export function fresh() {
  return {
    id: crypto.randomUUID(), title: "", text: "", link: "", picture: "", collapse: "", badge: "", sound: "default", priority: "normal", data: [],
    confidential: false, silent: false, truncate: false, to: "", everybody: false, when: "now", at: "", which: 0, first: "", rate: "", halt: "", platforms: {},
  };
}

/**
 * The draft that this browser keeps of a hub.
 *
 * @param {string} hub
 * @returns {Draft | null}
 */
export function kept(hub) {
  try {
    const text = localStorage.getItem(`draft:${hub}`);
    return text ? { ...fresh(), ...JSON.parse(text) } : null;
  } catch {
    return null;
  }
}

/**
 * @param {string} hub
 * @param {Draft} draft
 */
export function keep(hub, draft) {
  try {
    localStorage.setItem(`draft:${hub}`, JSON.stringify(draft));
  } catch { /* The browser keeps nothing: the draft lives as long as the page. */ }
}

/** @param {string} hub */
export function forget(hub) {
  localStorage.removeItem(`draft:${hub}`);
}

/**
 * What is wrong with a field, as the key of a sentence.
 *
 * @param {Draft} draft
 * @returns {Record<string, string>}
 */
export function problems(draft) {
  /** @type {Record<string, string>} */
  const found = {};
  const bytes = (/** @type {string} */ text) => new TextEncoder().encode(text).length;
  if (bytes(draft.title) > 1024) found.title = "problem.titleLong";
  if (bytes(draft.text) > 16_384) found.text = "problem.textLong";
  if (draft.link && !isAddress(draft.link, false)) found.link = "problem.link";
  if (draft.picture && !isAddress(draft.picture, true)) found.picture = "problem.picture";
  if (draft.badge && !/^(\+1|\d{1,5})$/.test(draft.badge.trim())) found.badge = "problem.badge";
  if (draft.collapse && !/^[!-~]{1,64}$/.test(draft.collapse)) found.collapse = "problem.collapse";
  return found;
}

/**
 * @param {string} text
 * @param {boolean} isSecure
 */
function isAddress(text, isSecure) {
  try {
    const { protocol } = new URL(text);
    return isSecure ? protocol === "https:" : !["javascript:", "data:", "file:", "vbscript:"].includes(protocol);
  } catch {
    return false;
  }
}

/**
 * The composed message of a draft (Docs/Delivery.md, One message). What is empty or usual is left out.
 *
 * @param {Draft} draft
 * @returns {Record<string, any>}
 */
export function message(draft) {
  /** @type {Record<string, any>} */
  const made = {};
  for (const name of /** @type {const} */ (["title", "text", "link", "picture", "collapse"])) {
    if (draft[name].trim() !== "") made[name] = name === "text" ? draft.text : draft[name].trim();
  }
  if (draft.sound !== "none") made.sound = draft.sound;
  if (draft.priority !== "normal") made.priority = draft.priority;
  const badge = draft.badge.trim();
  if (badge !== "") made.badge = badge === "+1" ? badge : Number(badge);
  const data = Object.fromEntries(draft.data.filter(([name]) => name.trim() !== ""));
  if (Object.keys(data).length > 0) made.data = data;
  if (draft.silent) made.silent = true;
  if (draft.truncate) made.truncate = true;
  if (Object.keys(draft.platforms).length > 0) made.platforms = draft.platforms;
  return made;
}

/**
 * The field `Martlet-Rollout`, or null where all goes at once.
 *
 * @param {Draft} draft
 * @param {boolean} hasCanary
 */
export function rollout(draft, hasCanary) {
  const number = (/** @type {string} */ text) => text.replace(/[\s.,']/g, "");
  const parts = [];
  if (hasCanary && number(draft.first)) parts.push(`first=${number(draft.first)}`);
  if (number(draft.rate)) parts.push(`rate=${number(draft.rate)}`);
  // A share to halt at needs a rate: without one, all is on its way before the first answers.
  if (parts.length > 0 && draft.halt.trim()) parts.push(`halt=${draft.halt.replace(",", ".").replace("%", "").trim()}%`);
  return parts.length > 0 ? parts.join("; ") : null;
}
