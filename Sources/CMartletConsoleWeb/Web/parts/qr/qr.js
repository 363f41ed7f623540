/** A QR code as a picture. */

import { svg } from "../../lib/dom.js";
import { qrCode } from "./code.js";

/** The light modules around a code, without which readers do not find it. */
const QUIET = 4;

/** Draws the code of a text; null if the text is too long for one. It is dark on light in every theme, because not every reader
 * finds a code the other way round.
 * @param {string} text @param {string} label What the picture is, for people who do not see it. @returns {SVGElement | null} */
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

/** The dark modules of each row as rectangles, one for each run.
 * @param {boolean[][]} rows */
function outline(rows) {
  return rows.flatMap((row, y) => [...row.map(Number).join("").matchAll(/1+/g)]
    .map(({ index = 0, 0: run = "" }) => `M${index + QUIET} ${y + QUIET}h${run.length}v1h-${run.length}z`)).join("");
}
