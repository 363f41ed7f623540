/** A dialog with a form. */

import { h, put } from "../../lib/dom.js";
import { failure } from "../../lib/screen.js";
import { openDialog } from "./dialog.js";

/**
 * Shows a dialog with a form. The dialog closes when `work` succeeds, and otherwise shows why `work` failed. The button
 * is disabled while `work` runs, so that a double click makes one request.
 *
 * @param {View} view
 * @param {string} title
 * @param {string} yes
 * @param {() => Promise<any>} work
 * @param {any} content
 */
export function formDialog(view, title, content, yes, work) {
  const problem = h("div", { "aria-live": "polite" });
  const button = h("button.primary", yes);
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    button.disabled = true;
    try {
      await work();
      dialog.close();
    } catch (error) {
      put(problem, failure(view.t, error, null));
    } finally {
      button.disabled = false;
    }
  };
  const dialog = openDialog(title, [h("form", { on: { submit } }, content, problem,
    h("div.actions", h("button", { click: () => dialog.close() }, view.t("cancel")), button))]);
  return dialog;
}
