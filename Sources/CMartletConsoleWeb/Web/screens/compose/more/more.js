/** The fields of a draft that few sends need. */

import { freshId, h, icon, put } from "../../../lib/dom.js";

/** @param {import("../compose.js").Compose} compose */
export function moreFields(compose) {
  const { draft, view } = compose;
  const { t } = view;
  const choice = (/** @type {"sound" | "priority"} */ name, /** @type {string[]} */ options) => {
    const id = freshId();
    const select = h("select", { id, value: draft[name], on: { change: () => { draft[name] = select.value; compose.changed(); } } },
      options.map((one) => h("option", { value: one }, t(name === "sound" ? `sound.${one}` : `priority.${one}`))));
    return h("div.field", h("label", { for: id }, t(`field.${name}`)), select);
  };
  const tick = (/** @type {"confidential" | "silent" | "truncate"} */ name) => {
    const input = h("input", { type: "checkbox", checked: draft[name], on: { change: () => { draft[name] = input.checked; compose.changed(); } } });
    return h("label.choice", input, h("span", t(`field.${name}`)));
  };
  return [compose.text("picture", { type: "url", placeholder: "https://" }),
    h("div.pair", choice("sound", ["default", "none"]), choice("priority", ["normal", "high", "low"])),
    h("div.pair", compose.text("badge", { inputmode: "numeric" }), compose.text("collapse", { maxlength: 64 })), data(compose),
    h("div.stack.tight", tick("confidential"), tick("silent"), tick("truncate"))];
}

/** @param {import("../compose.js").Compose} compose */
function data(compose) {
  const { t } = compose.view;
  const pairs = compose.draft.data;
  const box = h("div.stack.tight");
  const input = (/** @type {[string, string]} */ pair, /** @type {0 | 1} */ part, /** @type {string} */ name) =>
    h("input", { "aria-label": name, placeholder: name, value: pair[part], on: { input: (event) => { pair[part] = event.target.value; } } });
  const draw = () => put(box, pairs.map((pair, index) => h("div.data-pair", input(pair, 0, t("data.name")), input(pair, 1, t("data.value")),
    h("button.plain", { type: "button", "aria-label": t("data.remove"), click: () => { pairs.splice(index, 1); draw(); compose.changed(); } }, icon("cross")))),
  h("div", h("button", { click: () => { pairs.push(["", ""]); draw(); box.querySelector(".data-pair:last-of-type input")?.focus(); } }, icon("plus"), t("data.add"))));
  draw();
  return h("fieldset.field", h("legend.label", t("field.data")), box);
}
