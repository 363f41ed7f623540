/** The drafts in this browser: a person who signs out is asked about them. */

/** Whose drafts they are: people who share a browser do not see those of each other. */
export const owner = { name: "" };

/** @param {string} hub The draft in the form. */
export const draftKey = (hub) => `draft:${owner.name}:${hub}`;
/** @param {string} hub Replaced drafts. */
export const othersKey = (hub) => `drafts:${owner.name}:${hub}`;

/** The names of the owner's drafts, in every hub; of all drafts while no operator is signed in. */
export function keptDrafts(storage = localStorage) {
  return Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? "")
    .filter((key) => /^drafts?:/.test(key) && (!owner.name || key.split(":")[1] === owner.name) && storage.getItem(key) !== "[]");
}
