/** What a draft sends: the composed message, and the fields of its request. No DOM here. */

/**
 * The composed message of a draft (Docs/Delivery.md, One message). What is empty or usual is left out.
 *
 * @param {import("./draft.js").Draft} draft
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

/** The field `Martlet-Rollout`, or null where all goes at once.
 * @param {import("./draft.js").Draft} draft @param {boolean} hasCanary */
export function rollout(draft, hasCanary) {
  const number = (/** @type {string} */ text) => text.replace(/[\s.,']/g, "");
  const parts = [];
  if (hasCanary && number(draft.first)) parts.push(`first=${number(draft.first)}`);
  if (number(draft.rate)) parts.push(`rate=${number(draft.rate)}`);
  // A share to halt at needs a rate: without one, all is on its way before the first answers.
  if (parts.length > 0 && draft.halt.trim()) parts.push(`halt=${draft.halt.replace(",", ".").replace("%", "").trim()}%`);
  return parts.length > 0 ? parts.join("; ") : null;
}

/** The header fields of a send.
 * @param {import("./draft.js").Draft} draft @param {View} view */
export function fields(draft, { session }) {
  /** @type {Record<string, string>} */
  const found = { "servicebusnotification-format": "message" };
  if (draft.everybody) found["martlet-everybody"] = "true";
  else found["servicebusnotification-tags"] = draft.to.trim();
  const control = rollout(draft, session.features?.includes("canary"));
  if (control) found["martlet-rollout"] = control;
  if (draft.confidential) found["martlet-confidential"] = "true";
  return found;
}
