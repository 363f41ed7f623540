/** Where this browser keeps drafts, so that a person who signs out can be asked about them. */

/** @param {string} hub The draft in the form. */
export const draftKey = (hub) => `draft:${hub}`;
/** @param {string} hub Those that others have taken the place of. */
export const othersKey = (hub) => `drafts:${hub}`;

/** The names of all that is kept, in every hub. */
export function keptDrafts(storage = localStorage) {
  return Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? "").filter((key) => /^drafts?:/.test(key) && storage.getItem(key) !== "[]");
}
