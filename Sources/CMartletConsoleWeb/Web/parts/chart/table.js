/** The table of a chart, for those who want the numbers. */

import { h } from "../../lib/dom.js";

/** Some twenty rows say it as well as three hundred. */
const ROWS = 20;

/**
 * @param {object} options
 * @param {View} options.view
 * @param {(value: number) => string} options.format
 * @param {import("./chart.js").Line[]} options.lines
 * @param {number} options.start
 * @param {number} options.step
 * @param {string} options.label
 */
export function table({ view, format, lines, start, step, label }) {
  const length = lines[0]?.values.length ?? 0;
  const every = Math.max(1, Math.ceil(length / ROWS));
  const rows = [];
  for (let index = length - 1; index >= 0; index -= every) {
    rows.push(h("tr", h("th.number", { scope: "row" }, view.time.brief(start + step * index)), lines.map((line) => {
      const value = line.values[index];
      return h("td.number", value === null || value === undefined ? view.t("unknown") : format(value));
    })));
  }
  return h("div.scroll", { tabindex: "0", role: "group", "aria-label": label }, h("table",
    h("thead", h("tr", h("th", { scope: "col" }, view.t("chart.time")), lines.map((line) => h("th.number", { scope: "col" }, line.name)))),
    h("tbody", rows)));
}
