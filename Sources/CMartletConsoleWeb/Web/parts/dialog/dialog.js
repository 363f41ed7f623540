/** Dialogs, and a request shown as commands. */

import { address, methodOf } from "../../lib/api.js";
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
 * A button that shows a request as the commands that do the same.
 *
 * @param {View} view
 * @param {string | null} martlet The line for the command `martlet`, where there is one.
 * @param {CallName} name
 * @param {CallOptions} [options]
 */
export function commandButton(view, martlet, name, options) {
  return h("button.plain", { click: () => showCommand(view, martlet, name, options) }, icon("command"), view.t("command"));
}

/**
 * @param {View} view
 * @param {string | null} martlet
 * @param {CallName} name
 * @param {CallOptions} [options]
 */
export function showCommand(view, martlet, name, options) {
  const lines = [martlet, curl(name, options)].filter((line) => line !== null);
  const dialog = openDialog(view.t("command"), [h("p.quiet", view.t("command.text")), lines.map((line) => copyable(view, String(line))),
    h("div.actions", h("button", { click: () => dialog.close() }, view.t("close")))]);
}

/** A text in a box with a button that copies it.
 * @param {View} view @param {string} text */
export function copyable(view, text) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      view.toast(view.t("copied"));
    } catch {
      getSelection()?.selectAllChildren(code);
    }
  };
  const code = h("div.code", { tabindex: "0" }, text);
  return h("div.stack.tight", code, h("div.row", h("button", { click: copy }, icon("copy"), view.t("copy"))));
}

/** @param {CallName} name @param {CallOptions} [options] */
export function curl(name, options = {}) {
  const method = methodOf(name);
  // The console's own addresses stand for the administration API and, below `rest`, for the hub's.
  const path = address(name, options).replace(/^\/console\/api(\/rest)?/, "");
  const parts = ["curl"];
  if (method !== "GET") parts.push("-X", method);
  for (const [field, value] of Object.entries({ authorization: "$TOKEN", ...options.fields })) {
    parts.push("-H", `"${field}: ${value.replace(/(["\\`])/g, "\\$1")}"`);
  }
  if (options.body !== undefined) parts.push("-H", "'content-type: application/json'", "--data", quoted(JSON.stringify(options.body)));
  return [...parts, quoted(location.origin + path)].join(" ");
}

/** Quotes a word for a shell.
 * @param {string} word */
export function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}
