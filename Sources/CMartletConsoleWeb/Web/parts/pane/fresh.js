/** A part of a screen whose data is read again every few seconds. */

import { live } from "../../lib/api.js";
import { h, put } from "../../lib/dom.js";
import { pane } from "./pane.js";

/** The milliseconds after which the data is read again, and for how long this goes on after the page was last touched:
 * each request keeps the session alive, which a page that nobody uses must not. */
const REFRESH = 5000;
const TOUCH = 600_000;
let touchedAt = Date.now();
if (typeof document !== "undefined") {
  for (const name of ["pointermove", "pointerdown", "keydown", "wheel", "visibilitychange"]) {
    document.addEventListener(name, () => { touchedAt = Date.now(); }, { capture: true, passive: true });
  }
}

/**
 * Returns whether data is read again, and whether the part says from when its data is.
 *
 * @param {number} now
 * @param {number} touchedAt When the page was last touched.
 * @param {boolean} isBusy Whether the operator is in the middle of something that new content would disturb.
 * @returns {"read" | "wait" | "old"}
 */
export function turn(now, touchedAt, isBusy) {
  if (now - touchedAt >= TOUCH) return "old";
  return isBusy ? "wait" : "read";
}

/** Returns a part as `pane` does. Its data is read again while the page is used; after that the part says from when its
 * data is. While the connection is lost, the page says so.
 * @param {Parameters<typeof pane>[0]} options */
export function freshPane(options) {
  let shown = "";
  /** Draws the data, unless it is drawn already. Times such as "a minute ago" are drawn again each minute.
   * @param {any} node @param {any} data */
  function show(node, data) {
    const now = JSON.stringify([data, Math.floor(Date.now() / 60_000)]);
    if (now === shown && node.shownAt) return;
    shown = now;
    const links = () => [...node.querySelectorAll("a, button, summary")];
    const details = () => [...node.querySelectorAll("details")];
    const focused = links().indexOf(/** @type {any} */ (document.activeElement));
    const open = details().map((one) => one.open);
    put(node, options.render(data));
    details().forEach((one, index) => { one.open = open[index] ?? one.open; });
    /** @type {any} */ (links()[focused])?.focus({ preventScroll: true });
  }

  const node = pane({ ...options, show });
  let wasConnected = false;
  const timer = window.setInterval(() => {
    if (!node.isConnected) {
      if (wasConnected) window.clearInterval(timer);
      return;
    }
    wasConnected = true;
    const selection = getSelection();
    const isBusy = document.hidden || live.state === "lost" || !node.shownAt || node.hasAttribute("aria-busy")
      || document.querySelector("dialog[open]") !== null || Boolean(selection && !selection.isCollapsed && node.contains(selection.anchorNode));
    const next = turn(Date.now(), touchedAt, isBusy);
    const age = node.querySelector(":scope > .age");
    if (next !== "old") age?.remove();
    else if (!age && node.shownAt) node.prepend(h("p.quiet.small.age", options.t("dataFrom", { time: node.shownAt.toLocaleTimeString() })));
    if (next === "read") node.read();
  }, REFRESH);
  return node;
}
