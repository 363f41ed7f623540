/** The table of a chart, for those who want the numbers. */

import { h } from "../../lib/dom.js";

/** Some twenty rows say it as well as three hundred points. */
const ROWS = 20;

/**
 * One value for each few of a line: what a rate adds up to in that time, or the highest. Nothing known stays nothing.
 *
 * @param {(number | null)[]} values
 * @param {number} every
 * @param {number} seconds From one value to the next; 0 for the highest.
 */
export function steps(values, every, seconds) {
  const found = [];
  for (let start = 0; start < values.length; start += every) {
    const known = /** @type {number[]} */ (values.slice(start, start + every).filter((value) => value !== null));
    found.push(known.length === 0 ? null : seconds > 0 ? Math.round(known.reduce((all, value) => all + value * seconds, 0)) : Math.max(...known));
  }
  return found;
}

/**
 * @param {object} options
 * @param {View} options.view
 * @param {(value: number) => string} options.format
 * @param {import("./chart.js").Line[]} options.lines
 * @param {number} options.start
 * @param {number} options.step Milliseconds from one value to the next.
 * @param {string} options.label
 * @param {boolean} options.isRate
 */
export function table({ view, format, lines, start, step, label, isRate }) {
  const { t, n, time } = view;
  const every = Math.max(1, Math.ceil((lines[0]?.values.length ?? 0) / ROWS));
  const columns = lines.map((line) => steps(line.values, every, isRate ? step / 1000 : 0));
  const at = step * every < 60_000 ? time.clock : time.brief;
  const rows = (columns[0] ?? []).map((_, row) => h("tr", h("th.number", { scope: "row" }, at(start + step * every * row)), columns.map((values) => {
    const value = values[row] ?? null;
    return h("td.number", value === null ? t("unknown") : isRate ? n.whole(value) : format(value));
  }))).reverse();
  return h("div.scroll", { tabindex: "0", role: "group", "aria-label": label }, h("table",
    h("caption.quiet.small", t(isRate ? "table.sum" : "table.highest", { step: time.duration((step * every) / 1000) })),
    h("thead", h("tr", h("th", { scope: "col" }, t("table.from")), lines.map((line) => h("th.number", { scope: "col" }, line.name)))),
    h("tbody", rows)));
}
