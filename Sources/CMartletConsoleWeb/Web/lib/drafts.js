/** The drafts that are stored in this browser. An operator who signs out is asked whether to delete them. */

/** The operator to whom the drafts belong. Operators who share a browser do not see each other's drafts. */
export const owner = { name: "" };

/** The sends that this page has asked for and that are not over, by their idempotency keys. The sign-in page says when they
 * go out.
 * @type {Map<string, {hub: string, operator: string, turn: () => any, sending: {id: string | null, dues: string[], ahead: number, count: number, undo: boolean}}>} */
export const underWay = new Map();

/** Returns the storage key of a draft; without an id, what the keys of all drafts of a hub begin with.
 * @param {string} hub @param {string} [id] */
export const draftKey = (hub, id = "") => `draft:${owner.name}:${hub}:${id}`;
/** Returns the storage key of what was sent from this browser. It holds no content.
 * @param {string} hub */
export const sentKey = (hub) => `sent:${owner.name}:${hub}`;

/** Returns the storage keys of the owner's drafts in all hubs; of everybody's drafts while no operator is signed in. */
export function keptDrafts(storage = localStorage) {
  return Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? "")
    .filter((key) => key.startsWith("draft:") && (!owner.name || key.split(":")[1] === owner.name));
}
