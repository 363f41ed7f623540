/** The drafts that are stored in this browser. An operator who signs out is asked whether to delete them. */

/** The operator to whom the drafts belong. Operators who share a browser do not see each other's drafts. */
export const owner = { name: "" };

/** Returns the storage key of the draft in the form.
 * @param {string} hub */
export const draftKey = (hub) => `draft:${owner.name}:${hub}`;
/** Returns the storage key of the drafts that other drafts have replaced in the form.
 * @param {string} hub */
export const othersKey = (hub) => `drafts:${owner.name}:${hub}`;

/** Returns the storage keys of the owner's drafts in all hubs; of everybody's drafts while no operator is signed in. */
export function keptDrafts(storage = localStorage) {
  return Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? "")
    .filter((key) => /^drafts?:/.test(key) && (!owner.name || key.split(":")[1] === owner.name) && storage.getItem(key) !== "[]");
}
