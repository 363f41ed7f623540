/** Converts between tag expressions and chips, which are in the groups `all of`, `any of` and `none of`. No DOM
 * here. */

/** @typedef {{all: string[], any: string[], none: string[]}} Groups */

/** The maximum number of tags in an expression. `ALTERNATIVES_LIMIT` applies if the expression uses only `||`. */
export const TAG_LIMIT = 6;
export const ALTERNATIVES_LIMIT = 20;

/** A tag: letters, digits and `_@#.:-`, as in the hub's API; `$InstallationId:{…}` names one installation. */
const TAG = /^(?:[\w@#.:\-]{1,120}|\$InstallationId:\{[^{}]{1,200}\})$/;

/** @param {string} tag */
export function isTag(tag) {
  return TAG.test(tag);
}

/** Returns the tag expression of chips; "" if nothing is chosen, which means no devices.
 * @param {Groups} groups */
export function toText({ all, any, none }) {
  const alternatives = any.length > 1 && (all.length > 0 || none.length > 0) ? `(${any.join(" || ")})` : any.join(" || ");
  return [...all, alternatives, ...none.map((tag) => `!${tag}`)].filter(Boolean).join(" && ");
}

/** Returns the chips of a tag expression; null if chips cannot express it.
 * @param {string} text @returns {Groups | null} */
export function toGroups(text) {
  /** @type {Groups} */
  const groups = { all: [], any: [], none: [] };
  const trimmed = text.trim();
  if (trimmed === "") return groups;
  const whole = alternatives(trimmed);
  if (whole && whole.length > 1) return { ...groups, any: whole };
  for (const part of splitAnds(trimmed) ?? [""]) {
    const inner = /^\(([^()]*)\)$/.exec(part)?.[1];
    const choices = inner === undefined ? null : alternatives(inner);
    if (choices && choices.length > 1) {
      if (groups.any.length > 0) return null;
      groups.any = choices;
    } else if (isTag(part)) groups.all.push(part);
    else if (part.startsWith("!") && isTag(part.slice(1).trim())) groups.none.push(part.slice(1).trim());
    else return null;
  }
  return groups;
}

/** Returns the tags of a text in which tags are joined by `||`; null if the text has another form.
 * @param {string} text */
function alternatives(text) {
  const tags = text.split("||").map((one) => one.trim());
  return tags.every(isTag) ? tags : null;
}

/** Returns the parts of a text between the `&&` that are outside parentheses; null if the parentheses do not match.
 * @param {string} text */
function splitAnds(text) {
  const parts = [];
  let depth = 0;
  let part = "";
  for (let index = 0; index < text.length; index += 1) {
    if (text[index] === "(") depth += 1;
    if (text[index] === ")") depth -= 1;
    if (depth < 0) return null;
    if (depth === 0 && text.startsWith("&&", index)) {
      parts.push(part.trim());
      part = "";
      index += 1;
    } else part += text[index];
  }
  return depth === 0 ? [...parts, part.trim()] : null;
}

/** Returns the number of tags, and the maximum number for an expression of this kind.
 * @param {Groups} groups */
export function limits({ all, any, none }) {
  const isAlternativesAlone = all.length === 0 && none.length === 0;
  return { count: all.length + any.length + none.length, limit: isAlternativesAlone ? ALTERNATIVES_LIMIT : TAG_LIMIT };
}
