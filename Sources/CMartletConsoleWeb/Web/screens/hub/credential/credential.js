/** The form for a credential. Its fields come from the platform's description, so no platform needs a form of its
 * own. */

import { call } from "../../../lib/api.js";
import { freshId, h, put } from "../../../lib/dom.js";
import { serviceName } from "../../../lib/screen.js";
import { formDialog } from "../../../parts/dialog/form.js";
import { inputsOf, kindsOf, members } from "./fields.js";

/** @param {View} view @param {any} one The platform. @param {() => void} reload */
export function setCredential(view, one, reload) {
  const { t, hub } = view;
  const kinds = kindsOf(one.fields);
  let kind = kinds[0] ?? null;
  const inputs = /** @type {{field: any, read: () => Promise<string>}[]} */ ([]);
  const box = h("div.stack");
  const row = (/** @type {any} */ field) => {
    const id = freshId();
    const input = field.isFile ? h("input", { id, type: "file" }) : h("input", { id, type: field.isSecret ? "password" : "text", autocomplete: "off", spellcheck: "false" });
    inputs.push({ field, read: async () => (field.isFile ? fileText(input.files?.[0]) : input.value.trim()) });
    const isKnown = t.has(`field.${field.flag}`);
    return h("div.field", h("label", { for: id }, isKnown ? t(`field.${field.flag}`) : field.name),
      // The server's help is in English. It is shown if the pages have no label for the field. For a rarely used field
      // with a label, it is shown only to operators who use English.
      input, field.help && (!isKnown || (!field.isUsual && view.language === "en")) && h("p.help", { lang: "en" }, field.help));
  };
  const draw = () => {
    inputs.length = 0;
    const [usual, others] = inputsOf(one.fields, kind);
    put(box, usual.map(row), others.length > 0 && h("details", h("summary", t("credential.more")), h("div.stack", others.map(row))));
  };
  draw();
  const name = freshId();
  const choice = kinds.length > 1 && h("div.row.choices", { role: "radiogroup", "aria-label": t("credential.kind") }, kinds.map((each) => h("label.choice",
    h("input", { type: "radio", name, checked: each === kind, on: { change: () => { kind = each; draw(); } } }), t(`kind.${each}`))));
  formDialog(view, t("credential.title", { service: serviceName(one.platform) }), [h("p.quiet", t("credential.text")), choice, box], t("credential.save"), async () => {
    const values = await Promise.all(inputs.map(async ({ field, read }) => /** @type {[any, string]} */ ([field, await read()])));
    await call("setCredential", { path: { hub, platform: one.platform }, body: members(values, one.fields) });
    view.toast(t("credential.saved"));
    reload();
  });
}

/** Returns the content of a file as text; in Base64 if it is not text in UTF-8; "" if there is no file.
 * @param {File | undefined} file */
async function fileText(file) {
  if (!file) return "";
  const bytes = new Uint8Array(await file.arrayBuffer());
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  }
}
