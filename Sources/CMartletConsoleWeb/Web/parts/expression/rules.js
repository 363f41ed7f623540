/** Tag expressions as chips and as text: `all of`, `any of` and `none of`, both ways. No DOM here. */

/** @typedef {{all: string[], any: string[], none: string[]}} Groups */

/** A send may name so many tags; more where they are joined by `||` alone. */
export const TAG_LIMIT = 6;
export const ALTERNATIVES_LIMIT = 20;

/** A tag: letters, digits and `_@#.:-`, as in the hub's API; `$InstallationId:{…}` names one installation. */
const TAG = /^(?:[\w@#.:\-]{1,120}|\$InstallationId:\{[^{}]{1,200}\})$/;

/** @param {string} tag */
export function isTag(tag) {
  return TAG.test(tag);
}

/** The expression of chips; "" where nothing is chosen, which is no audience.
 * @param {Groups} groups */
export function toText({ all, any, none }) {
  const alternatives = any.length > 1 && (all.length > 0 || none.length > 0) ? `(${any.join(" || ")})` : any.join(" || ");
  return [...all, alternatives, ...none.map((tag) => `!${tag}`)].filter(Boolean).join(" && ");
}

/** The chips of an expression, or null where chips cannot say it.
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

/** Tags joined by `||` alone, or null.
 * @param {string} text */
function alternatives(text) {
  const tags = text.split("||").map((one) => one.trim());
  return tags.every(isTag) ? tags : null;
}

/** The parts between `&&` outside of parentheses, or null where these do not match.
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

/** How many tags there are and how many there may be.
 * @param {Groups} groups */
export function limits({ all, any, none }) {
  const isAlternativesAlone = all.length === 0 && none.length === 0;
  return { count: all.length + any.length + none.length, limit: isAlternativesAlone ? ALTERNATIVES_LIMIT : TAG_LIMIT };
}
