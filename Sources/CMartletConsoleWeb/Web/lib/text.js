/**
 * Texts in the reader's language, with numbers and plurals by `Intl`.
 *
 * A text is a string with `{placeholders}`, or a table of plural forms that the number `n` chooses from.
 */

/** @typedef {string | Record<string, string>} Text */
/** @typedef {Record<string, Text>} Texts */
/**
 * @typedef {((key: string, values?: Record<string, any>) => string) & {
 *   has: (key: string) => boolean,
 *   add: (table: Texts) => void,
 *   nodes: (key: string, values: Record<string, any>) => any[],
 * }} Translate
 */

/** The languages, by the names that their speakers give them. */
export const LANGUAGES = /** @type {Record<string, string>} */ ({ en: "English", de: "Deutsch", ko: "한국어" });

/**
 * Returns the first language of a list that there are texts in.
 *
 * @param {readonly string[]} wanted Tags by RFC 5646, the preferred one first.
 * @returns {string}
 */
export function chooseLanguage(wanted) {
  for (const tag of wanted) {
    const language = tag.toLowerCase().split("-")[0] ?? "";
    if (language in LANGUAGES) return language;
  }
  return "en";
}

/** What may turn the text around it: letters and signs of scripts that run from right to left, and marks of direction. */
const TURNING = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** Returns a text that turns nothing around it. Marks that would end its isolation are left out.
 * @param {string} text */
const isolated = (text) => (TURNING.test(text) ? `\u2068${text.replace(/[\u2066-\u2069]/g, "")}\u2069` : text);

/**
 * Returns the function that says things in a language.
 *
 * @param {string} language
 * @param {...Texts} tables The first that has a key wins.
 * @returns {Translate}
 */
export function translator(language, ...tables) {
  const plural = new Intl.PluralRules(language);
  const number = new Intl.NumberFormat(language);

  /**
   * @param {string} key
   * @param {Record<string, any>} values
   * @returns {string}
   */
  function form(key, values) {
    const text = tables.find((table) => key in table)?.[key];
    if (text === undefined) return key;
    if (typeof text === "string") return text;
    return text[plural.select(Number(values.n ?? 0))] ?? text.other ?? key;
  }

  /** @param {any} value */
  function shown(value) {
    return typeof value === "number" ? number.format(value) : isolated(String(value));
  }

  /** @type {any} */
  const translate = (/** @type {string} */ key, /** @type {Record<string, any>} */ values = {}) =>
    form(key, values).replace(/\{(\w+)\}/g, (whole, name) => (name in values ? shown(values[name]) : whole));
  // Texts of a part that came later.
  translate.add = (/** @type {Texts} */ table) => tables.includes(table) || tables.push(table);
  translate.has = (/** @type {string} */ key) => tables.some((table) => key in table);
  translate.nodes = (/** @type {string} */ key, /** @type {Record<string, any>} */ values) =>
    form(key, values).split(/(\{\w+\})/).filter(Boolean).map((part) => {
      const name = /^\{(\w+)\}$/.exec(part)?.[1];
      if (name === undefined || !(name in values)) return part;
      return values[name] instanceof Node ? values[name] : shown(values[name]);
    });
  return translate;
}

/**
 * Formats numbers as people read them.
 *
 * @param {string} language
 */
export function numbers(language) {
  /** @type {Record<string, Intl.NumberFormat>} */
  const made = {};
  const format = (/** @type {string} */ name, /** @type {Intl.NumberFormatOptions} */ options, /** @type {number} */ n) =>
    (made[name] ??= new Intl.NumberFormat(language, options)).format(n);
  return {
    /** @param {number} n */
    whole: (n) => format("whole", { maximumFractionDigits: 0 }, n),
    /** @param {number} n */
    short: (n) => (Math.abs(n) < 10_000 ? format("tenth", { maximumFractionDigits: 1 }, n) : format("short", { notation: "compact", maximumFractionDigits: 1 }, n)),
    /** @param {number} n A share from 0 to 1. */
    share: (n) => format("share", { style: "percent", maximumFractionDigits: 1 }, n),
    /** @param {number} n Bytes. */
    bytes: (n) => {
      const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];
      let step = 0;
      for (; n >= 1000 && step < units.length - 1; step += 1) n /= 1000;
      return new Intl.NumberFormat(language, {
        style: "unit", unit: units[step] ?? "byte", unitDisplay: step === 0 ? "long" : "short",
        maximumFractionDigits: n < 10 && step > 0 ? 1 : 0,
      }).format(n);
    },
  };
}
