/** Handles keys that are pressed without a modifier. */

import { to } from "../../lib/screen.js";

/** The keys that open the places of the header after `g`, in the order of the header. */
const PLACES = ["n", "s", "p", "h", "v"];
let afterG = 0;

/**
 * @param {string} key
 * @param {object} page
 * @param {HTMLElement} page.header
 * @param {HTMLElement} page.main
 * @param {() => void} page.openSearch
 * @param {(address: string) => void} page.go
 * @param {(key: string) => void} page.own The open screen's own handler of keys.
 * @param {() => View} page.view
 */
export function press(key, { header, main, openSearch, go, own, view }) {
  const isAfterG = Date.now() - afterG < 1500;
  afterG = 0;
  if (isAfterG) {
    const address = header.querySelectorAll(".places a")[PLACES.indexOf(key)]?.getAttribute("href");
    if (address) go(address);
  } else if (key === "g") afterG = Date.now();
  else if (key === "/") openSearch();
  else if (key === "c") {
    const { hub, role } = view();
    if (hub && role(hub) !== "viewer") go(`${to.sends(hub)}/new`);
  } else if (key === "?") import("./keys.js").then((code) => code.showKeys(view()));
  else if (key === "j" || key === "k") move(main, key === "j" ? 1 : -1);
  else own(key);
}

/** @param {HTMLElement} main @param {number} step The number of rows of the first list by which the focus moves. */
function move(main, step) {
  const rows = /** @type {HTMLElement[]} */ ([...main.querySelectorAll(".list > li > a")]);
  const index = rows.indexOf(/** @type {any} */ (document.activeElement));
  rows[Math.min(Math.max(index + step, 0), rows.length - 1)]?.focus();
}
