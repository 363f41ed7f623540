/** The fields for the message in other languages. A device gets the language that its tag `lang:` names; otherwise the
 * message's own. */

import { freshId, h, icon, put } from "../../../lib/dom.js";

/** @param {import("../compose.js").Compose} compose */
export function fields(compose) {
  const { draft, view } = compose;
  const { t } = view;
  const list = draft.languages;
  const box = h("div.stack");
  const problem = h("p.problem");
  if (compose.problemLines) compose.problemLines.language = problem;
  const names = freshId();
  const draw = () => put(box, list.length > 0 && tagField(view, t("language.own"), names, draft.language, (tag) => { draft.language = tag; }), list.map(block),
    h("div", h("button", { type: "button", click: add }, icon("plus"), t("language.add"))));
  function add() {
    draft.language ||= view.language;
    list.push({ tag: "", title: "", text: "", buttons: [] });
    draw();
    compose.changed();
    box.querySelector(":scope > :nth-last-child(2) input")?.focus();
  }
  /** @param {import("../draft.js").Language} one */
  const block = (one) => h("fieldset.language.stack.tight", h("legend.unseen", t("language.other")),
    h("div.row.between", tagField(view, t("language.tag"), names, one.tag, (tag) => { one.tag = tag; }), h("button.plain", { type: "button", "aria-label": t("language.remove"), click: () => {
      list.splice(list.indexOf(one), 1);
      draw();
      compose.changed();
    } }, icon("cross"))),
    words(t("field.title"), one.title, false, (text) => { one.title = text; }), words(t("field.text"), one.text, true, (text) => { one.text = text; }),
    draft.actions.map((action, index) => words(t("language.button", { title: action.title || String(index + 1) }), one.buttons[index] ?? "", false, (text) => { one.buttons[index] = text; })));
  draw();
  // Each language has fields for the titles of the buttons, so these fields are drawn again when the buttons change.
  compose.drawLanguages = draw;
  return [h("p.help", t("language.help")), box, problem, h("datalist", { id: names }, ["en", "de", "ko", "fr", "es", "it", "ja", "zh-Hans", "pt", "nl", "pl", "tr", "ar"].map((tag) => h("option", { value: tag }, nameOf(view, tag))))];
}

/** Returns a field for a language tag, with the name of the language beside it.
 * @param {View} view @param {string} label @param {string} list @param {string} tag @param {(tag: string) => void} take */
function tagField(view, label, list, tag, take) {
  const id = freshId();
  const name = h("span.quiet", nameOf(view, tag));
  const input = h("input.short", { id, list, value: tag, maxlength: 35, autocomplete: "off", autocapitalize: "none", spellcheck: "false", on: { input: () => {
    take(input.value.trim());
    put(name, nameOf(view, input.value.trim()));
  } } });
  return h("span.row", h("label", { for: id }, label), input, name);
}

/** @param {string} label @param {string} value @param {boolean} isLong @param {(text: string) => void} take */
function words(label, value, isLong, take) {
  const id = freshId();
  const input = h(isLong ? "textarea" : "input", { id, rows: isLong ? 3 : null, value, autocomplete: "off", on: { input: () => take(input.value) } });
  return h("div.field", h("label", { for: id }, label), input);
}

/** Returns the name of a language in the operator's language; empty if the browser does not know the language.
 * @param {View} view @param {string} tag */
function nameOf({ language }, tag) {
  try {
    const name = tag && new Intl.DisplayNames(language, { type: "language" }).of(tag);
    return name && name !== tag ? name : "";
  } catch {
    return "";
  }
}
