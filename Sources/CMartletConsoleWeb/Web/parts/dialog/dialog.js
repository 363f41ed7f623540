/**
 * Dialogs: a question, the password once more, and a request as commands.
 */

import { address, call, CALLS, Refusal } from "../../lib/api.js";
import { freshId, h, icon, put } from "../../lib/dom.js";

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
 * Asks before something that cannot be taken back.
 *
 * @param {import("../../lib/screen.js").View} view
 * @param {object} question
 * @param {string} question.title
 * @param {any} question.text
 * @param {string} question.yes
 * @param {boolean} [question.isDanger]
 * @param {string} [question.typed] What must be typed before it can be answered with yes.
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
    const form = h("form", { on: { submit: (/** @type {Event} */ event) => {
      event.preventDefault();
      if (button.disabled) return;
      answer = true;
      dialog.close();
    } } },
    h("div.stack.tight", typeof text === "string" ? h("p", text) : text),
    input && h("div.field", h("label", { for: id }, typedLabel), input),
    h("div.actions", h("button", { type: "button", on: { click: () => dialog.close() } }, view.t("cancel")), button));
    const dialog = openDialog(title, [form]);
    dialog.addEventListener("close", () => resolve(answer));
  });
}

/**
 * Asks for the password again; resolves to whether it was right.
 *
 * @param {import("../../lib/screen.js").View} view
 * @returns {Promise<boolean>}
 */
export async function confirmPassword(view) {
  const texts = (await import(`./text.${view.language}.js`)).default;
  const t = (/** @type {string} */ key) => texts[key] ?? key;
  return new Promise((resolve) => {
    const id = freshId();
    const input = h("input", { id, type: "password", autocomplete: "current-password", autofocus: true, required: true });
    const problem = h("p.problem.bad.small", { role: "alert" });
    let isConfirmed = false;
    const submit = async (/** @type {Event} */ event) => {
      event.preventDefault();
      try {
        await call("confirm", { body: { password: input.value } });
        isConfirmed = true;
        dialog.close();
      } catch (error) {
        put(problem, error instanceof Refusal && error.status === 429 ? t("confirm.tooMany") : t("confirm.wrong"));
        input.select();
      }
    };
    const dialog = openDialog(t("confirm.title"), [h("form", { on: { submit } }, h("p.quiet", t("confirm.text")),
      h("input", { type: "text", autocomplete: "username", value: view.session.operator, hidden: true }),
      h("div.field", h("label", { for: id }, t("confirm.password")), input, problem),
      h("div.actions", h("button", { type: "button", on: { click: () => dialog.close() } }, view.t("cancel")), h("button.primary", t("confirm.yes"))))]);
    dialog.addEventListener("close", () => resolve(isConfirmed));
  });
}

/**
 * A button that shows a request as the commands that do the same.
 *
 * @param {import("../../lib/screen.js").View} view
 * @param {string | null} martlet The line for the command `martlet`, where there is one.
 * @param {import("../../lib/api.js").CallName} name
 * @param {import("../../lib/api.js").CallOptions} [options]
 */
export function commandButton(view, martlet, name, options) {
  const show = () => {
    const lines = [martlet, curl(name, options)].filter((line) => line !== null);
    const dialog = openDialog(view.t("command"), [h("p.quiet", view.t("command.text")), lines.map((line) => copyable(view, String(line))),
      h("div.actions", h("button", { type: "button", on: { click: () => dialog.close() } }, view.t("close")))]);
  };
  return h("button.plain", { type: "button", on: { click: show } }, icon("command"), view.t("command"));
}

/**
 * A text in a box with a button that copies it.
 *
 * @param {import("../../lib/screen.js").View} view
 * @param {string} text
 */
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
  return h("div.stack.tight", code, h("div.row", h("button", { type: "button", on: { click: copy } }, icon("copy"), view.t("copy"))));
}

/**
 * @param {import("../../lib/api.js").CallName} name
 * @param {import("../../lib/api.js").CallOptions} [options]
 */
export function curl(name, options = {}) {
  const method = CALLS[name][0];
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

/**
 * Quotes a word for a shell.
 *
 * @param {string} word
 */
export function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}
