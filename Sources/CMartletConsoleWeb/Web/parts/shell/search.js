/** The search of the header: a user, a device, a tag, or the id of a send. */

import { freshId, h, icon } from "../../lib/dom.js";
import { path, to } from "../../lib/screen.js";
import { openDialog } from "../dialog/dialog.js";

/** @param {View} view */
export async function openSearch(view) {
  const texts = (await import(`./text.${view.language}.js`)).default;
  const t = (/** @type {string} */ key) => texts[key] ?? key;
  const id = freshId();
  const input = h("input", { id, type: "search", autocomplete: "off", spellcheck: "false", autofocus: true, maxlength: 4096 });
  const dialog = openDialog(t("search.title"), [h("form", { on: { submit } },
    h("div.field", h("label", { for: id }, t("search.label")), h("div.search", icon("search"), input), h("p.help", t("search.help"))),
    h("div.actions", h("button", { click: () => dialog.close() }, view.t("cancel")), h("button.primary", view.t("search"))))]);
  /** @param {Event} event */
  function submit(event) {
    event.preventDefault();
    const text = input.value.trim();
    if (text === "") return;
    dialog.close();
    // The id of a send is recognized by its form. Any other text goes to the search through the session storage,
    // because it may be a device's handle, which must not be in an address.
    if (/^[0-9a-f]{32}$|^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(text)) return view.go(to.send(view.hub, text));
    sessionStorage.setItem("search", text);
    view.go(path("hubs", view.hub, "people"));
  }
}
