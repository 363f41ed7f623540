/** Parts of screens that ask the server: they show loading, errors and emptiness alike. */

import { h, icon, put } from "../../lib/dom.js";
import { failure, skeleton, to } from "../../lib/screen.js";

/**
 * A part of a screen that shows what the server answers: its frame at once, grey bars after 300 ms, what failed with a
 * button to try again (what was there stays), and what belongs here where there is nothing.
 *
 * @param {object} options
 * @param {View["t"]} options.t
 * @param {(signal: AbortSignal) => Promise<any>} options.load
 * @param {(data: any) => any} options.render Nodes for the data.
 * @param {number} [options.bars] How many grey bars stand for it.
 * @param {string} [options.kind] Classes.
 * @param {string} [options.heading] The screen's heading, for as long as the data that has it is not there.
 * @returns {any} An element with a method `reload`.
 */
export function pane({ t, load, render, bars = 3, kind, heading }) {
  const node = h("div.pane", { class: kind ?? "", "aria-busy": "true" });
  let controller = new AbortController();
  let isShown = false;
  let shownAt = new Date();
  const title = () => heading !== undefined && h("h1.unseen", heading);
  put(node, title());

  async function reload() {
    controller.abort();
    controller = new AbortController();
    const { signal } = controller;
    node.setAttribute("aria-busy", "true");
    const timer = window.setTimeout(() => {
      if (!isShown) put(node, title(), skeleton(t, bars));
    }, 300);
    try {
      const data = await load(signal);
      if (signal.aborted) return;
      put(node, render(data));
      isShown = true;
      shownAt = new Date();
    } catch (error) {
      if (signal.aborted || error.name === "AbortError") return;
      node.querySelector(":scope > .notice")?.remove();
      const notice = failure(t, error, reload, isShown ? shownAt : null);
      if (isShown) node.prepend(notice);
      else put(node, title(), notice);
    } finally {
      window.clearTimeout(timer);
      if (!signal.aborted) node.removeAttribute("aria-busy");
    }
  }
  node.reload = reload;
  reload();
  return node;
}

/**
 * What stands where a list is empty: what belongs here, and the one next step.
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

/** The tabs of the list of sends.
 * @param {View} view @param {"all" | "campaigns" | "waiting" | "failed"} here */
export function sendTabs({ t, hub }, here) {
  return h("nav.tabs", { "aria-label": t("place.sends") }, ["all", "campaigns", "waiting", "failed"].map((name) =>
    h("a", { href: to.sends(hub) + (name === "all" ? "" : `/${name}`), "aria-current": name === here ? "page" : null }, t(`tab.${name}`))));
}
