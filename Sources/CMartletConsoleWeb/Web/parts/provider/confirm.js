/** The dialog in which operators confirm their identity at the identity provider. */

import { h, put } from "../../lib/dom.js";
import { openDialog } from "../dialog/dialog.js";
import { begin, channel } from "./provider.js";

/**
 * Asks the operator to sign in at the provider again, in a new tab, so that this screen stays open. The new tab is
 * opened by a link, because browsers block a window that a script opens some time after a click.
 *
 * @param {View} view @returns {Promise<boolean>} Whether the same operator was confirmed.
 */
export async function confirmByProvider(view) {
  const texts = (await import(`./text.${view.language}.js`)).default;
  const t = (/** @type {string} */ key) => texts[key].replace("{name}", view.session.provider);
  return new Promise((resolve) => {
    const way = h("span");
    const problem = h("p.problem.bad.small", { role: "alert" });
    const others = channel();
    let isConfirmed = false;
    others.onmessage = ({ data }) => {
      isConfirmed = data.isFresh && data.operator === view.session.operator;
      if (isConfirmed) dialog.close();
      else put(problem, t(data.isFresh ? "confirm.other" : "confirm.notAsked"));
    };
    const dialog = openDialog(t("confirm.title"), [h("p.quiet", t("confirm.text")), problem,
      h("div.actions", h("button", { click: () => dialog.close() }, view.t("cancel")), way)]);
    dialog.addEventListener("close", () => {
      others.close();
      resolve(isConfirmed);
    });
    begin(true).then(
      (href) => put(way, h("a.button.primary", { href, target: "_blank", rel: "noopener noreferrer" }, t("confirm.go"))),
      () => put(problem, t("confirm.unavailable")));
  });
}
