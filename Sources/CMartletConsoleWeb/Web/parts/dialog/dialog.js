/** Dialogs, a button that shows a request as commands, and a text with a button that copies it. */

import { freshId, h, icon } from "../../lib/dom.js";

/**
 * Shows a dialog until it is closed. Then the browser moves the focus back to where it was.
 *
 * @param {string} title
 * @param {any[]} children
 * @param {string} [kind]
 * @returns {HTMLDialogElement}
 */
export function openDialog(title, children, kind) {
  const id = freshId();
  const dialog = h("dialog", { "aria-labelledby": id, class: kind ?? "" }, h("div.stack", h("h2", { id }, title), children));
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (/** @type {Event} */ event) => {
    if (event.target === dialog) dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/**
 * Returns a button that shows a request as commands that do the same. `martlet` and `options` may be functions, which
 * are called when the button is pressed.
 *
 * @param {View} view
 * @param {string | null | ((code: typeof import("./command.js")) => string | null)} martlet The command line of
 *   `martlet`; null if there is none.
 * @param {CallName} name
 * @param {CallOptions | (() => CallOptions)} [options]
 */
export function commandButton(view, martlet, name, options) {
  const click = async () => {
    const code = await import("./command.js");
    code.show(view, typeof martlet === "function" ? martlet(code) : martlet, name, typeof options === "function" ? options() : options);
  };
  return h("button.plain", { click }, icon("command"), view.t("command"));
}

/** Returns a box with a text, a button that copies the text, and further buttons.
 * @param {View} view @param {string} text @param {...any} further */
export function copyable(view, text, ...further) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      view.toast(view.t("copied"));
    } catch {
      getSelection()?.selectAllChildren(code);
    }
  };
  const code = h("div.code", { tabindex: "0" }, text);
  return h("div.stack.tight", code, h("div.row", h("button", { click: copy }, icon("copy"), view.t("copy")), further));
}
