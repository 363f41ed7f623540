/** `<martlet-chart>`: a line chart in SVG with a legend, a sentence for screen readers, and a table. */

import { h, put, say, svg } from "../../lib/dom.js";

/** The maximum number of points of a line: one for every three pixels. */
export const POINTS = 300;
const WIDTH = 600;
const HEIGHT = 100;

/** @typedef {{name: string, values: (number | null)[], kind?: string}} Line */

/**
 * Reduces a list to at most `points` values. Of each group of neighbouring values, the highest is kept, so that a short
 * peak is still visible.
 *
 * @param {(number | null)[]} values
 * @param {number} [points]
 * @returns {(number | null)[]}
 */
export function thinned(values, points = POINTS) {
  const width = Math.ceil(values.length / points);
  if (width <= 1) return values;
  const kept = [];
  for (let start = 0; start < values.length; start += width) {
    let highest = /** @type {number | null} */ (null);
    for (const value of values.slice(start, start + width)) {
      if (value !== null && (highest === null || value > highest)) highest = value;
    }
    kept.push(highest);
  }
  return kept;
}

/**
 * Returns the SVG path of a line in a box of `WIDTH` × `HEIGHT`. An unknown value (null) is a gap in the line.
 *
 * @param {(number | null)[]} values
 * @param {number} top The value at the upper edge.
 */
export function outline(values, top) {
  let text = "";
  let isDown = false;
  const step = WIDTH / Math.max(values.length - 1, 1);
  values.forEach((value, index) => {
    if (value === null) isDown = false;
    else {
      text += `${isDown ? "L" : "M"}${(index * step).toFixed(1)} ${(HEIGHT - (value / top) * HEIGHT).toFixed(1)}`;
      isDown = true;
    }
  });
  return text;
}

/** Returns the smallest round number that is not below a value.
 * @param {number} value */
export function rounded(value) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((factor) => value <= factor * power) ?? 10) * power;
}

// The functions above are tested with node, which has no HTMLElement.
class Chart extends (globalThis.HTMLElement ?? Object) {
  /** @type {Line[]} */
  lines = [];
  names = "";

  /**
   * @param {object} options
   * @param {View} options.view
   * @param {string} options.label
   * @param {(value: number) => string} options.format
   * @param {(values: {low: string, high: string, now: string}) => string} options.sentence
   * @param {boolean} [options.isRate] Whether the values are counts per second. The table then shows sums.
   */
  begin({ view, label, format, sentence, isRate = false }) {
    this.view = view;
    this.isRate = isRate;
    this.format = format;
    this.sentence = sentence;
    this.label = label;
    this.drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": label });
    this.top = h("span");
    this.from = h("span");
    this.to = h("span");
    this.legend = h("div.legend");
    this.text = h("p.unseen");
    this.table = h("div");
    this.details = h("details.small", { on: { toggle: () => this.fillTable() } }, h("summary.quiet", view.t("chart.table")), this.table);
    put(this, h("div.axis", this.top), this.drawing, h("div.axis", this.from, this.to), h("div.row.between", this.legend, this.details), this.text);
    return this;
  }

  /** @param {Line[]} lines
   * @param {number} start The time of the first value, in milliseconds since 1970. @param {number} step Milliseconds
   *   from one value to the next. @param {Line[]} [rows] The lines of the table, if it has more than the chart. */
  show(lines, start, step, rows = lines) {
    if (!this.view || !this.format || !this.sentence) return;
    this.lines = lines.map((line) => ({ ...line, values: thinned(line.values) }));
    const length = lines[0]?.values.length ?? 0;
    this.shown = { lines: rows, start, step };
    let highest = 0;
    for (const line of this.lines) for (const value of line.values) if (value !== null && value > highest) highest = value;
    const top = rounded(highest);
    say(this.top, this.format(top));
    say(this.from, this.view.time.brief(start));
    say(this.to, this.view.time.brief(start + step * Math.max(length - 1, 0)));
    this.draw(top);
    this.describe();
    if (this.details.open) this.fillTable();
  }

  /** @param {number} top */
  draw(top) {
    const { lines } = this;
    const names = lines.map((line) => line.name).join("\n");
    if (names !== this.names) {
      this.names = names;
      const grid = [0.5, 50, 99.5].map((y) => svg("path", { class: "grid", d: `M0 ${y}H${WIDTH}` }));
      this.paths = lines.map((line, index) => svg("path", { class: line.kind ?? `line${index % 4}` }));
      this.area = svg("path", { class: "area" });
      put(this.drawing, grid, this.area, this.paths);
      put(this.legend, lines.length > 1 && lines.map((line, index) =>
        h("span", svg("svg", { viewBox: "0 0 24 8", "aria-hidden": "true" }, svg("path", { class: line.kind ?? `line${index % 4}`, d: "M0 4H24" })), line.name)));
    }
    lines.forEach((line, index) => this.paths?.[index].setAttribute("d", outline(line.values, top)));
    const first = lines.length === 1 ? outline((lines[0]?.values ?? []).map((value) => value ?? 0), top) : "";
    this.area.setAttribute("d", first && `${first}L${WIDTH} ${HEIGHT}L0 ${HEIGHT}Z`);
  }

  describe() {
    if (!this.format || !this.sentence) return;
    const known = /** @type {number[]} */ ((this.lines[0]?.values ?? []).filter((value) => value !== null));
    const last = known[known.length - 1];
    this.text.className = last === undefined ? "quiet small" : "unseen";
    if (last === undefined) return say(this.text, this.view?.t("chart.none") ?? "");
    let low = last;
    let high = last;
    for (const value of known) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
    say(this.text, this.sentence({ low: this.format(low), high: this.format(high), now: this.format(last) }));
  }

  async fillTable() {
    const { view, format, shown, label = "", isRate = false } = this;
    if (!this.details.open || !view || !format || !shown) return;
    const [{ table }, texts] = await Promise.all([import("./table.js"), import(`./text.${view.language}.js`)]);
    view.t.add(texts.default);
    put(this.table, table({ view, format, label, isRate, ...shown }));
  }
}

globalThis.customElements?.define("martlet-chart", Chart);

/** @param {Parameters<Chart["begin"]>[0]} options @returns {Chart} */
export function chart(options) {
  return /** @type {Chart} */ (document.createElement("martlet-chart")).begin(options);
}
