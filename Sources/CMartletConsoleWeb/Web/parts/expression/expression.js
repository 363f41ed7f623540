/** `<martlet-expression>`: a field for an audience, chosen by chips or written as a tag expression. An empty field
 * means no devices; all devices have a chip of their own. */

import { call } from "../../lib/api.js";
import { freshId, h, icon, put } from "../../lib/dom.js";
import { isTag, limits, toGroups, toText } from "./rules.js";

const GROUPS = /** @type {const} */ (["all", "any", "none"]);

class Expression extends HTMLElement {
  /** @param {View} view @param {(key: string, values?: any) => string} t @param {{text: string, isEverybody: boolean}} value */
  begin(view, t, value) {
    this.view = view;
    this.t = t;
    this.groups = toGroups(value.text);
    this.text = value.text;
    this.isEverybody = value.isEverybody;
    this.isText = this.groups === null;
    this.draw();
    return this;
  }

  get value() {
    return { text: this.isText ? (this.text ?? "").trim() : toText(this.groups ?? { all: [], any: [], none: [] }), isEverybody: this.isEverybody === true };
  }

  changed() {
    this.draw();
    this.dispatchEvent(new Event("change"));
  }

  draw() {
    const { t } = this;
    if (!t) return;
    if (this.isEverybody) {
      return put(this, h("div.row", h("span.chip.everybody", icon("people"), t("everybody"), this.remove_(t("everybody"), () => { this.isEverybody = false; })),
        h("span.quiet.small", t("to.everybodyNote"))));
    }
    put(this, this.isText ? this.asText() : this.asChips(),
      h("div.row", h("button.link", { click: () => this.toggle() }, this.isText ? t("to.asChips") : t("to.asText")),
        h("button.link", { click: () => { this.isEverybody = true; this.changed(); } }, t("to.everybody"))));
  }

  toggle() {
    if (this.isText) {
      const groups = toGroups(this.text ?? "");
      if (!groups) return this.view?.toast(this.t?.("to.notChips") ?? "");
      this.groups = groups;
    } else this.text = toText(this.groups ?? { all: [], any: [], none: [] });
    this.isText = !this.isText;
    this.draw();
  }

  asText() {
    const id = freshId();
    const input = h("textarea.mono", { id, rows: 2, spellcheck: "false", autocapitalize: "none", value: this.text ?? "", on: { input: () => {
      this.text = input.value;
      this.dispatchEvent(new Event("change"));
    } } });
    return h("div.field", h("label", { for: id }, this.t?.("to.expression")), input, h("p.help", this.t?.("to.expression.help")));
  }

  asChips() {
    const { t, groups } = this;
    if (!t || !groups) return null;
    const { count, limit } = limits(groups);
    return h("div.stack.tight", GROUPS.map((name) => this.group(name)), count > limit && h("p.problem.bad.small", t("to.tooMany", { n: count, limit })));
  }

  /** @param {typeof GROUPS[number]} name */
  group(name) {
    const { t, groups, view } = this;
    if (!t || !groups || !view) return null;
    const listId = freshId();
    const list = h("datalist", { id: listId });
    const input = h("input", { list: listId, "aria-label": t(`to.${name}.add`), placeholder: t("to.add"), autocomplete: "off", autocapitalize: "none", spellcheck: "false" });
    const add = () => {
      const tag = input.value.trim();
      if (!isTag(tag)) return tag !== "" && input.setAttribute("aria-invalid", "true");
      if (!groups[name].includes(tag)) groups[name].push(tag);
      this.changed();
      /** @type {HTMLElement | null} */ (this.querySelector(`[data-group="${name}"] input`))?.focus();
    };
    input.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.ctrlKey || event.metaKey) return;
      if (event.key === "Enter" || event.key === ",") {
        event.preventDefault();
        add();
      } else if (event.key === "Backspace" && input.value === "" && groups[name].length > 0) {
        groups[name].pop();
        this.changed();
        /** @type {HTMLElement | null} */ (this.querySelector(`[data-group="${name}"] input`))?.focus();
      }
    });
    input.addEventListener("change", add);
    let timer = 0;
    input.addEventListener("input", () => {
      input.removeAttribute("aria-invalid");
      window.clearTimeout(timer);
      timer = window.setTimeout(async () => {
        const found = await call("tags", { path: { hub: view.hub }, query: { prefix: input.value.trim(), limit: 20 } }).catch(() => ({ tags: [] }));
        put(list, found.tags.map((/** @type {string} */ tag) => h("option", { value: tag })));
      }, 150);
    });
    return h("div.group", { "data-group": name }, h("span.label.quiet", t(`to.${name}`)), h("div.chips",
      groups[name].map((tag) => h("span.chip", h("span.clip", tag), this.remove_(tag, () => groups[name].splice(groups[name].indexOf(tag), 1)))), input, list));
  }

  /** @param {string} name @param {() => void} remove */
  remove_(name, remove) {
    return h("button", { type: "button", "aria-label": this.t?.("to.remove", { tag: name }), click: () => {
      remove();
      this.changed();
    } }, icon("cross"));
  }
}

customElements.define("martlet-expression", Expression);

/** @param {Parameters<Expression["begin"]>} options @returns {Expression} */
export function expression(...options) {
  return /** @type {Expression} */ (document.createElement("martlet-expression")).begin(...options);
}
