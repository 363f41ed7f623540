/** The dialog with the list of keys. */

import { h } from "../../lib/dom.js";
import { openDialog } from "../dialog/dialog.js";

/** @param {View} view */
export async function showKeys(view) {
  const texts = (await import(`./text.${view.language}.js`)).default;
  const t = (/** @type {string} */ key) => texts[key] ?? key;
  const keys = /** @type {[string[], string][]} */ ([
    [["/"], view.t("search")], [["c"], view.t("newSend")], [["j", "k"], t("key.rows")], [["Enter"], t("key.open")],
    [["g", "n"], view.t("place.now")], [["g", "s"], view.t("place.sends")], [["g", "p"], view.t("place.people")],
    [["g", "h"], view.t("place.hub")], [["g", "v"], view.t("place.server")], [["Esc"], view.t("close")], [["?"], t("key.list")],
  ]);
  const dialog = openDialog(t("key.title"), [
    h("dl.facts", keys.map(([names, text]) => [h("dt", names.map((name) => [h("kbd", name), " "])), h("dd", text)])),
    h("p.quiet.small", t("key.off")),
    h("div.actions", h("button", { type: "button", autofocus: true, click: () => dialog.close() }, view.t("close")))]);
}
