/** The operator's menu: language, zone, theme, keys, sign out. */

import { call, live } from "../../lib/api.js";
import { freshId, h } from "../../lib/dom.js";
import { keptDrafts, owner } from "../../lib/drafts.js";
import { LANGUAGES } from "../../lib/text.js";

/** Asks the server to end the session. Throws if this browser may still have it.
 * @returns {Promise<boolean>} Whether the server has ended it; otherwise it has only told the browser to forget it, for example
 *   because its disk is full. */
export async function endSession() {
  try {
    await call("signOut", { body: {} });
    return true;
  } catch (error) {
    if (error.code === "not-ended") return false;
    throw error;
  }
}

/** @param {View} view @param {HTMLElement} opener @param {Record<string, any>} settings @param {string} zone */
export async function openMenu(view, opener, settings, zone) {
  const texts = (await import(`./text.${view.language}.js`)).default;
  const t = (/** @type {string} */ key) => texts[key] ?? key;
  const save = (/** @type {Record<string, any>} */ change) => {
    menu.hidePopover();
    view.saveSettings(change);
  };
  /** @param {string} label @param {string} value @param {[string, string][]} options @param {(value: string) => void} choose */
  const choice = (label, value, options, choose) => {
    const id = freshId();
    return h("div.field", h("label", { for: id }, label),
      h("select", { id, value, on: { change: (event) => choose(event.target.value) } },
        options.map(([key, name]) => h("option", { value: key, lang: label === t("language") ? key : null }, name))));
  };
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const zones = [...new Set([zone, own, "UTC", .../** @type {any} */ (Intl).supportedValuesOf("timeZone")])];
  const menu = h("div.menu", { popover: "auto", role: "dialog", "aria-label": view.session.operator }, h("div.stack",
    h("div", h("p.strong.clip", view.session.operator), h("p.quiet.small", view.session.roles.join(", "))),
    choice(t("language"), view.language, Object.entries(LANGUAGES), (language) => save({ language })),
    choice(t("zone"), zone, zones.map((name) => [name, name.replaceAll("_", " ")]), (name) => save({ zone: name })),
    choice(t("theme"), settings.theme ?? "auto", [["auto", t("theme.auto")], ["light", t("theme.light")], ["dark", t("theme.dark")]], (theme) => save({ theme })),
    h("label.choice", h("input", { type: "checkbox", checked: settings.keys !== false, on: { change: (event) => save({ keys: event.target.checked }) } }), t("keys")),
    h("hr"),
    h("div.row.between",
      h("a", { href: "/console/account", click: () => menu.hidePopover() }, t("account")),
      h("button", { click: signOut }, t("signOut"))),
    h("p.quiet.small", `Martlet ${view.session.version ?? ""}`)));
  async function signOut() {
    menu.hidePopover();
    owner.name = view.session.operator;
    const drafts = keptDrafts();
    const answer = drafts.length > 0 ? await askAbout(drafts) : "keep";
    if (!answer) return;
    // The stream is closed first, so that this page does not react to the end of its own session.
    live.close();
    let hasEnded;
    try {
      hasEnded = await endSession();
    } catch (error) {
      live.renew();
      return view.toast(error.message || view.t("failed.unreachable"));
    }
    if (answer === "delete") for (const name of keptDrafts()) localStorage.removeItem(name);
    // This tells the other tabs of the browser.
    localStorage.setItem("left", String(Date.now()));
    await view.left();
    if (!hasEnded) view.toast(t("signOut.notEnded"), undefined, 20_000);
  }
  /** Asks what to do with the drafts in this browser.
   * @param {string[]} drafts @returns {Promise<string>} "delete", "keep", or "" to stay signed in. */
  async function askAbout(drafts) {
    const { openDialog } = await import("../dialog/dialog.js");
    return new Promise((resolve) => {
      const choose = (/** @type {string} */ value) => () => dialog.close(value);
      const dialog = openDialog(t("signOut"), [h("p", t("signOut.drafts")), h("div.actions", h("button", { click: choose("") }, view.t("cancel")),
        h("button.danger", { click: choose("delete") }, t("signOut.delete")), h("button.primary", { autofocus: true, click: choose("keep") }, t("signOut.keep")))]);
      dialog.addEventListener("close", () => resolve(dialog.returnValue));
    });
  }
  menu.addEventListener("toggle", (/** @type {any} */ event) => {
    if (event.newState === "closed") {
      menu.remove();
      opener.focus();
    }
  });
  document.body.append(menu);
  menu.showPopover();
  menu.querySelector("select")?.focus();
}
