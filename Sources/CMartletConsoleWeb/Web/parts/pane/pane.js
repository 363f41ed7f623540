/** Parts of screens with data from the server. All of them show loading, errors and empty lists in the same way. */

import { isUnreached, live } from "../../lib/api.js";
import { h, icon, put } from "../../lib/dom.js";
import { failure, skeleton, to } from "../../lib/screen.js";

/**
 * Returns a part of a screen that loads data from the server and shows it. While there is no data yet, grey bars are
 * shown after 300 ms. If loading fails, the error is shown with a button to try again, above any data that was loaded
 * before. If the server was not reached, the data is loaded when the server is back.
 *
 * @param {object} options
 * @param {View["t"]} options.t
 * @param {(signal: AbortSignal) => Promise<any>} options.load
 * @param {(data: any) => any} options.render Nodes for the data.
 * @param {number} [options.bars] The number of grey bars.
 * @param {string} [options.kind] The CSS classes of the part.
 * @param {string} [options.heading] The heading of the screen, used until `render` has drawn the heading.
 * @param {(node: Element, data: any) => void} [options.show] Shows the data in the part; by default what `render` returns.
 * @returns {any} An element with a method `reload`, a method `read`, which does not show that it loads, and `shownAt`, null
 *   while there is no data.
 */
export function pane({ t, load, render, bars = 3, kind, heading, show = (node, data) => put(node, render(data)) }) {
  const node = h("div.pane", { class: kind ?? "", "aria-busy": "true" });
  let controller = new AbortController();
  const title = () => heading !== undefined && h("h1.unseen", heading);
  node.shownAt = null;
  put(node, title());

  async function reload() {
    node.setAttribute("aria-busy", "true");
    await read();
  }

  async function read() {
    controller.abort();
    controller = new AbortController();
    const { signal } = controller;
    const timer = window.setTimeout(() => {
      if (!node.shownAt) put(node, title(), skeleton(t, bars));
    }, 300);
    try {
      const data = await load(signal);
      if (signal.aborted) return;
      node.querySelector(":scope > .notice")?.remove();
      show(node, data);
      node.shownAt = new Date();
    } catch (error) {
      if (signal.aborted || error.name === "AbortError") return;
      node.querySelector(":scope > .notice")?.remove();
      // What is gone is not shown any more.
      if (error.status === 404) node.shownAt = null;
      const notice = failure(t, error, reload, node.shownAt);
      if (node.shownAt) node.prepend(notice);
      else put(node, title(), notice);
      if (isUnreached(error)) live.whenBack(() => !signal.aborted && node.isConnected && reload());
    } finally {
      window.clearTimeout(timer);
      if (!signal.aborted) node.removeAttribute("aria-busy");
    }
  }

  node.reload = reload;
  node.read = read;
  reload();
  return node;
}

/**
 * Returns the content for an empty list: what the list is for, and what to do next.
 *
 * @param {string} symbol
 * @param {string} title
 * @param {string} text
 * @param {...any} steps
 */
export function empty(symbol, title, text, ...steps) {
  return h("div.empty", h("div.empty-mark", icon(symbol)), h("h2", title), text && h("p", text),
    steps.length > 0 && h("div.row.center", steps));
}

/** Returns the tabs of the list of sends.
 * @param {View} view @param {"all" | "campaigns" | "waiting" | "failed"} here */
export function sendTabs({ t, hub }, here) {
  return h("nav.tabs", { "aria-label": t("place.sends") }, ["all", "campaigns", "waiting", "failed"].map((name) =>
    h("a", { href: to.sends(hub) + (name === "all" ? "" : `/${name}`), "aria-current": name === here ? "page" : null }, t(`tab.${name}`))));
}
