/** The fields of a draft that few sends need. */

import { freshId, h, icon, put } from "../../../lib/dom.js";

/** @param {import("../compose.js").Compose} compose */
export function fields(compose) {
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
    h("div.pair", compose.text("badge", { inputmode: "numeric" }), compose.text("collapse", { maxlength: 64 })),
    actions(compose), pairs(compose, "variables"), pairs(compose, "data"),
    h("div.stack.tight", tick("confidential"), tick("silent"), tick("truncate"))];
}

/** Returns fields for names with values.
 * @param {import("../compose.js").Compose} compose @param {"data" | "variables"} name */
function pairs(compose, name) {
  const { t } = compose.view;
  const list = compose.draft[name];
  const input = (/** @type {[string, string]} */ pair, /** @type {0 | 1} */ part, /** @type {string} */ label) =>
    h("input", { "aria-label": label, placeholder: label, value: pair[part], on: { input: (event) => { pair[part] = event.target.value; } } });
  return rows(compose, name, list, 32, () => /** @type {[string, string]} */ (["", ""]), (pair) => h("div.data-pair", input(pair, 0, t("data.name")), input(pair, 1, t(name === "data" ? "data.value" : "variables.default")), remove(compose, list, pair, t("data.remove"))));
}

/** Returns the fields for the buttons of the notification.
 * @param {import("../compose.js").Compose} compose */
function actions(compose) {
  const { t } = compose.view;
  const list = compose.draft.actions;
  const input = (/** @type {import("../draft.js").Action} */ action, /** @type {"title" | "link" | "id"} */ name, /** @type {Record<string, any>} */ options = {}) =>
    h("input", { "aria-label": t(`actions.${name}`), placeholder: t(`actions.${name}`), value: action[name], ...options, on: { input: (event) => { action[name] = event.target.value; } } });
  return rows(compose, "actions", list, 3, () => ({ id: "", title: "", link: "" }), (action) => h("div.action-row", input(action, "title"), input(action, "link", { type: "url" }), input(action, "id", { maxlength: 32 }), remove(compose, list, action, t("actions.remove"))));
}

/** Returns a list of rows of fields, with a button that adds a row.
 * @template Row
 * @param {import("../compose.js").Compose} compose @param {"data" | "variables" | "actions"} name @param {Row[]} list @param {number} limit
 * @param {() => Row} make @param {(row: Row) => any} show */
function rows(compose, name, list, limit, make, show) {
  const { t } = compose.view;
  const box = h("div.stack.tight");
  const problem = h("p.problem");
  if (compose.problemLines) compose.problemLines[name] = problem;
  const draw = () => put(box, list.map(show), list.length < limit && h("div", h("button", { type: "button", click: () => {
    list.push(make());
    draw();
    compose.drawLanguages();
    box.querySelector(":scope > :nth-last-child(2) input")?.focus();
  } }, icon("plus"), t(`add.${name}`))));
  box.redraw = draw;
  draw();
  return h("fieldset.field", h("legend.label", t(`field.${name}`)), t.has(`help.${name}`) && h("p.help", t(`help.${name}`)), box, problem);
}

/** @param {import("../compose.js").Compose} compose @param {any[]} list @param {any} row @param {string} label */
function remove(compose, list, row, label) {
  return h("button.plain", { type: "button", "aria-label": label, click: (event) => {
    const index = list.indexOf(row);
    list.splice(index, 1);
    if (list === compose.draft.actions) for (const one of compose.draft.languages) one.buttons.splice(index, 1);
    compose.drawLanguages();
    event.target.closest(".stack").redraw();
    compose.changed();
  } }, icon("cross"));
}
