/** The dialog that asks before an action that cannot be undone. */

import { freshId, h } from "../../lib/dom.js";
import { openDialog } from "./dialog.js";

/**
 * Asks before an action that cannot be undone.
 *
 * @param {View} view
 * @param {object} question
 * @param {string} question.title
 * @param {any} question.text
 * @param {string} question.yes
 * @param {boolean} [question.isDanger]
 * @param {string} [question.typed] The text that must be typed before the question can be answered with yes.
 * @param {string} [question.typedLabel]
 * @returns {Promise<boolean>}
 */
export function ask(view, { title, text, yes, isDanger = false, typed, typedLabel }) {
  return new Promise((resolve) => {
    const id = freshId();
    const input = typed === undefined ? null : h("input", { id, autocomplete: "off", autofocus: true, inputmode: /^\d+$/.test(typed) ? "numeric" : null });
    const button = h("button", { class: isDanger ? "danger" : "primary", disabled: input !== null }, yes);
    input?.addEventListener("input", () => {
      button.disabled = input.value.replace(/[\s.,']/g, "") !== typed?.replace(/[\s.,']/g, "");
    });
    let answer = false;
    const form = h("form", { on: { submit: (event) => {
      event.preventDefault();
      if (button.disabled) return;
      answer = true;
      dialog.close();
    } } },
    h("div.stack.tight", typeof text === "string" ? h("p", text) : text),
    input && h("div.field", h("label", { for: id }, typedLabel), input),
    h("div.actions", h("button", { click: () => dialog.close() }, view.t("cancel")), button));
    const dialog = openDialog(title, [form]);
    dialog.addEventListener("close", () => resolve(answer));
  });
}
