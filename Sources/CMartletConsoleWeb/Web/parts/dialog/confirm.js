/** The dialog in which operators confirm their identity again before secrets are shown or changed. */

import { call, Refusal } from "../../lib/api.js";
import { freshId, h, put } from "../../lib/dom.js";
import { openDialog } from "./dialog.js";

/** Asks the operator to confirm their identity, with the password or at the identity provider. Resolves to whether they
 * did.
 * @param {View} view @returns {Promise<boolean>} */
export async function confirmPassword(view) {
  if (view.session.provider) return (await import("../provider/confirm.js")).confirmByProvider(view);
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
      h("div.actions", h("button", { click: () => dialog.close() }, view.t("cancel")), h("button.primary", t("confirm.yes"))))]);
    dialog.addEventListener("close", () => resolve(isConfirmed));
  });
}
