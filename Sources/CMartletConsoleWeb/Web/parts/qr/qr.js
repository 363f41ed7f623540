/** A QR code as a picture. */

import { svg } from "../../lib/dom.js";
import { qrCode } from "./code.js";

/** The width of the light border around a code, in modules. Without the border, scanners do not find the code. */
const QUIET = 4;

/** Draws the code of a text; null if the text is too long for one. The code is dark on light in every theme, because
 * some scanners do not find a light code on a dark ground.
 * @param {string} text @param {string} label The description of the picture for screen readers.
 * @returns {SVGElement | null} */
export function qr(text, label) {
  let rows;
  try {
    rows = qrCode(text);
  } catch {
    return null;
  }
  const size = rows.length + QUIET * 2;
  return svg("svg", { class: "qr", viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": label, "shape-rendering": "crispEdges" },
    svg("rect", { width: size, height: size, fill: "#fff" }), svg("path", { fill: "#000", d: outline(rows) }));
}

/** Returns an SVG path with a rectangle for each run of dark modules in a row.
 * @param {boolean[][]} rows */
function outline(rows) {
  return rows.flatMap((row, y) => [...row.map(Number).join("").matchAll(/1+/g)]
    .map(({ index = 0, 0: run = "" }) => `M${index + QUIET} ${y + QUIET}h${run.length}v1h-${run.length}z`)).join("");
}
