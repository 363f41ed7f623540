/** Dialogs, and a button that shows a request as commands. */

import { freshId, h, icon } from "../../lib/dom.js";

/**
 * Shows a dialog until it is closed; the focus goes back to where it was.
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
 * A button that shows a request as the commands that do the same. Functions are asked when it is pressed.
 *
 * @param {View} view
 * @param {string | null | ((code: typeof import("./command.js")) => string | null)} martlet The line for the command `martlet`, where there is one.
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

/** A text in a box with a button that copies it, and further buttons.
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
