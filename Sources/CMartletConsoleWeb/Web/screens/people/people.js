/** The screen that finds users and devices by a name, an id, a tag or a handle. */

import { call } from "../../lib/api.js";
import { freshId, h, icon, put } from "../../lib/dom.js";
import { failure, serviceName, skeleton, to } from "../../lib/screen.js";
import { empty } from "../../parts/pane/pane.js";

/** The key in the session storage of the last search, which is shown when the operator goes back. The search is
 * never in an address, because it may be a handle or a name. */
const KEPT = "search";

/** @param {View} view @returns {OpenScreen} */
export function screen(view) {
  const { t, hub } = view;
  const id = freshId();
  const kept = sessionStorage.getItem(KEPT) ?? "";
  const input = h("input", { id, type: "search", name: "text", autocomplete: "off", autocapitalize: "none", spellcheck: "false", maxlength: 4096, placeholder: t("placeholder"), value: kept, autofocus: true });
  const results = h("div.stack.loose", { "aria-live": "polite" });
  let controller = new AbortController();

  async function find(/** @type {Event | null} */ event) {
    event?.preventDefault();
    const text = input.value.trim();
    sessionStorage.setItem(KEPT, text);
    controller.abort();
    if (text === "") return put(results, welcome());
    controller = new AbortController();
    const { signal } = controller;
    const timer = window.setTimeout(() => put(results, skeleton(t, 4)), 300);
    try {
      const found = await call("findDevices", { path: { hub }, body: { text }, signal });
      const name = userIn(found, text);
      const user = name && await (await import("./user/user.js")).userOf(view, name, found.devices, found.users.includes(name), signal);
      if (!signal.aborted) put(results, answer(view, found, text, user, (name) => {
        input.value = name;
        find(null);
      }));
    } catch (error) {
      if (!signal.aborted) put(results, failure(t, error, () => find(null)));
    } finally {
      window.clearTimeout(timer);
    }
  }

  const welcome = () => empty("people", t("begin"), t("begin.text"));
  const node = h("div.stack.loose",
    h("div", h("h1", t("title")), h("p.quiet", t("subtitle"))),
    h("form.people-search", { role: "search", on: { submit: find } },
      h("div.grow", h("label.unseen", { for: id }, t("label")), h("div.search", icon("search"), input)),
      h("button.primary.big", t("find"))),
    results);
  if (kept) find(null);
  else put(results, welcome());
  return { title: t("title"), node, leave: () => controller.abort() };
}

/** Returns the name of the user that a search means; null if the search has found devices but no user with this name.
 * @param {any} found @param {string} text @returns {string | null} */
export function userIn(found, text) {
  const known = found.users.find((/** @type {string} */ name) => name.toLowerCase() === text.toLowerCase());
  // The search does not find a user who has no device any more. Such a user may have former devices.
  return known ?? (found.devices.length === 0 ? text : null);
}

/** @param {View} view
 * @param {string} text @param {(name: string) => void} choose @param {any} found @param {any} user The content about
 *   the user. */
function answer(view, found, text, user, choose) {
  const { t } = view;
  const others = found.users.filter((/** @type {string} */ name) => name.toLowerCase() !== text.toLowerCase());
  if (found.devices.length === 0 && others.length === 0 && !user) {
    return empty("search", t("none"), view.role(view.hub) === "viewer" ? t("none.viewer") : t("none.text"));
  }
  return [
    found.devices.length > 0 && h("section.stack.tight", h("h2", t("devices", { n: found.devices.length })),
      h("ul.list.devices", found.devices.map((/** @type {any} */ device) => row(view, device))), !found.isComplete && h("p.quiet.small", t("more"))),
    user,
    others.length > 0 && h("section.stack.tight", h("h2", t("users")),
      h("div.row", others.map((/** @type {string} */ name) => h("button", { click: () => choose(name) }, icon("user"), name)))),
  ];
}

/** @param {View} view @param {any} device */
function row(view, device) {
  const { t, time } = view;
  const others = device.tags.filter((/** @type {string} */ tag) => tag !== `username:${device.user}` && !/^\$(Installation|Registration)Id:/.test(tag));
  return h("li", h("a", { href: to.device(view.hub, device.installation ?? device.registration) },
    h("span.device-icon", icon(device.platform === "browser" ? "globe" : "phone")),
    h("span.grow.whose", h("span.strong.clip", device.user ?? device.installation ?? device.registration),
      h("span.quiet.small.clip", [serviceName(device.platform), t(`kind.${device.kind}`), t("since", { time: time.date(device.createdAt) })].join(" · "))),
    h("span.row.tags", others.slice(0, 4).map((/** @type {string} */ tag) => h("span.chip", h("span.clip", tag))), others.length > 4 && h("span.quiet.small", `+${others.length - 4}`)),
    h("code.quiet.handle", shortened(device.handle))));
}

/** Returns the end of a handle, because handles of one push service often differ only there.
 * @param {string} handle */
export function shortened(handle) {
  return handle.length <= 20 ? handle : `…${(handle.split("…").pop() ?? "").slice(-8)}`;
}
