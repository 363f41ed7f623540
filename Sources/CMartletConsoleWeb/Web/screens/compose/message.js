/** Makes the composed message and the header fields of a send from a draft. No DOM here. */

import { wait } from "./draft.js";

/**
 * Returns the composed message of a draft (Docs/Delivery.md, One message). Members with empty or default values are
 * left out.
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
  const language = draft.language.trim();
  if (draft.languages.length > 0) made.language = language;
  /** @param {string} own @param {(one: import("./draft.js").Language) => string} other */
  const inAll = (own, other) => {
    const others = draft.languages.filter((one) => other(one).trim() !== "").map((one) => [one.tag.trim(), other(one)]);
    return others.length > 0 ? { [language]: own, ...Object.fromEntries(others) } : own;
  };
  for (const name of /** @type {const} */ (["title", "text"])) {
    if (made[name]) made[name] = inAll(made[name], (one) => one[name]);
  }
  const variables = Object.fromEntries(draft.variables.filter(([name]) => name.trim() !== ""));
  if (Object.keys(variables).length > 0) made.variables = variables;
  if (draft.actions.length > 0) {
    made.actions = draft.actions.map(({ id, title, link }, index) => ({
      id: id.trim() || `button${index + 1}`, title: inAll(title.trim(), (one) => one.buttons[index] ?? ""), ...(link.trim() && { link: link.trim() }),
    }));
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

/** Returns the value of `Martlet-Rollout`; null if the send has no roll-out.
 * @param {import("./draft.js").Draft} draft @param {boolean} hasCanary */
export function rollout(draft, hasCanary) {
  const number = (/** @type {string} */ text) => text.replace(/[\s.,']/g, "");
  const parts = [];
  if (hasCanary && number(draft.first)) parts.push(`first=${number(draft.first)}`, ...(wait(draft) ? [`wait=PT${wait(draft)}M`] : []));
  if (number(draft.rate)) parts.push(`rate=${number(draft.rate)}`);
  // A share of failures at which the send halts is useful only with a limited rate or a canary. Otherwise all pushes
  // are sent before the first answers arrive.
  if (parts.length > 0 && draft.halt.trim()) parts.push(`halt=${draft.halt.replace(",", ".").replace("%", "").trim()}%`);
  return parts.length > 0 ? parts.join("; ") : null;
}

/** Returns the header fields of a send.
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

/**
 * Returns the fields of a draft from a composed message. This is the inverse of `message`.
 *
 * @param {any} body
 * @returns {Partial<import("./draft.js").Draft>}
 */
export function read(body) {
  const language = String(body.language ?? "");
  const own = (/** @type {any} */ text) => (typeof text === "object" && text ? String(text[language] ?? "") : String(text ?? ""));
  const other = (/** @type {any} */ text, /** @type {string} */ tag) => (typeof text === "object" && text ? String(text[tag] ?? "") : "");
  const actions = /** @type {any[]} */ (body.actions ?? []);
  const localized = [body.title, body.text, ...actions.map((one) => one.title)].filter((text) => typeof text === "object" && text);
  const tags = [...new Set(localized.flatMap((text) => Object.keys(text)))].filter((tag) => tag !== language);
  return {
    title: own(body.title), text: own(body.text), link: String(body.link ?? ""), picture: String(body.picture ?? ""), collapse: String(body.collapse ?? ""),
    badge: String(body.badge ?? ""), sound: body.sound === undefined ? "none" : String(body.sound), priority: String(body.priority ?? "normal"),
    silent: body.silent === true, truncate: body.truncate === true, platforms: body.platforms ?? {},
    data: Object.entries(body.data ?? {}), variables: Object.entries(body.variables ?? {}),
    language: tags.length > 0 ? language : "",
    languages: tags.map((tag) => ({ tag, title: other(body.title, tag), text: other(body.text, tag), buttons: actions.map((one) => other(one.title, tag)) })),
    actions: actions.map((one) => ({ id: String(one.id ?? ""), title: own(one.title), link: String(one.link ?? "") })),
  };
}
