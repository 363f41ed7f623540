/** The table with the numbers of a chart. */

import { h } from "../../lib/dom.js";

/** The maximum number of rows. A table with a row for each point of the chart would be too long to read. */
const ROWS = 20;

/**
 * Returns one value for each group of `every` values of a line: the sum of a rate over the time of the group, or the
 * highest value. A group without a known value gives null.
 *
 * @param {(number | null)[]} values
 * @param {number} every
 * @param {number} seconds For a rate, the seconds from one value to the next; 0 to get the highest value.
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
