/** The drafts in this browser: a person who signs out is asked about them. */

/** @param {string} hub The draft in the form. */
export const draftKey = (hub) => `draft:${hub}`;
/** @param {string} hub Replaced drafts. */
export const othersKey = (hub) => `drafts:${hub}`;

/** The names of all drafts, in every hub. */
export function keptDrafts(storage = localStorage) {
  return Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? "").filter((key) => /^drafts?:/.test(key) && storage.getItem(key) !== "[]");
}
