/** Decides which fields the form of a credential has, and makes the credential from their values. No DOM here. */

/** Returns the kinds of credentials that a platform has, of which the operator gives one.
 * @param {any[]} fields @returns {string[]} */
export function kindsOf(fields) {
  return [...new Set(fields.map((field) => field.kind).filter(Boolean))];
}

/**
 * Returns the usual fields and the rarely used ones. If a file contains the values of several fields, the form has one
 * field for the file instead of these.
 *
 * @param {any[]} fields @param {string | null} kind
 * @returns {[any[], any[]]}
 */
export function inputsOf(fields, kind) {
  const files = [...new Set(fields.map((field) => field.file?.flag).filter(Boolean))].map((flag) => ({ flag, name: flag, isFile: true, isUsual: true, isWhole: true }));
  const asked = [...files, ...fields.filter((field) => !field.file && (!field.kind || field.kind === kind))];
  return [asked.filter((field) => field.isUsual), asked.filter((field) => !field.isUsual)];
}

/** Returns the credential from the filled-in fields: the values, keyed by property name.
 * @param {[any, string][]} values @param {any[]} fields @returns {Record<string, string>} */
export function members(values, fields) {
  /** @type {Record<string, string>} */
  const found = {};
  for (const [field, value] of values) {
    if (!value) continue;
    if (!field.isWhole) {
      found[field.name] = value;
      continue;
    }
    const document = parsed(value);
    for (const one of fields) {
      const member = one.file?.flag === field.flag ? document[one.file.member] : null;
      if (typeof member === "string") found[one.name] = member;
    }
  }
  return found;
}

/** @param {string} text @returns {Record<string, any>} */
function parsed(text) {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
