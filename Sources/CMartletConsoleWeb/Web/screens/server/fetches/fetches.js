/** The log of fetches: who has read notifications that stay on the server, and who was refused. */

import { call } from "../../../lib/api.js";
import { freshId, h } from "../../../lib/dom.js";
import { empty, pane } from "../../../parts/pane/pane.js";
import { commandButton } from "../../../parts/dialog/dialog.js";

/** The number of entries that are shown at first, and at most. */
const FEW = 100;
const MANY = 1000;
const COLUMNS = ["user", "payload", "when", "from", "outcome"];

/** @param {View} view */
export function show(view) {
  const { t, time } = view;
  const user = h("input", { id: freshId(), autocomplete: "off", autocapitalize: "none", spellcheck: "false", maxlength: 256 });
  const payload = h("input", { id: freshId(), autocomplete: "off", inputmode: "numeric", pattern: "\\d*", maxlength: 10 });
  /** What was last searched for, because the inputs may have changed since then.
   * @type {{ user?: string, payload?: string, limit: number }} */
  let query = { limit: FEW };
  const content = pane({
    t, bars: 8, load: (signal) => call("fetches", { query, signal }),
    render: (entries) => entries.length === 0 ? empty("check", t("fetches.none"), t("fetches.none.text")) : h("div.stack",
      h("div.card.scroll", { tabindex: "0", role: "group", "aria-label": t("tab.fetches") }, h("table.cards", h("thead", h("tr", COLUMNS.map((name) => h("th", { scope: "col" }, t(`fetches.${name}`))))),
        // The answer has the newest entry last.
        h("tbody", entries.map(row).reverse()))),
      entries.length === query.limit && query.limit < MANY && h("div.row.center", h("button", { click: () => read({ ...query, limit: MANY }) }, t("fetches.more", { n: MANY })))),
  });
  /** @param {any} one */
  function row({ user, payload, at, address, outcome }) {
    const values = [String(payload), time.full(at), address, outcome === "read" ? t("fetches.read") : h("span.bad", t("fetches.refused"))];
    return h("tr", h("th", { scope: "row" }, user), values.map((value, index) => h("td", { "data-name": t(`fetches.${COLUMNS[index + 1]}`) }, h("span.audit-subject", value))));
  }
  /** @param {typeof query} asked */
  function read(asked) {
    query = asked;
    content.reload();
  }
  /** @param {Event} event */
  function find(event) {
    event.preventDefault();
    read({ user: user.value.trim() || undefined, payload: payload.value.trim() || undefined, limit: FEW });
  }
  /** @param {typeof import("../../../parts/dialog/command.js")} code */
  function line({ quoted }) {
    return `martlet audit${query.user ? ` --user ${quoted(query.user)}` : ""}${query.payload ? ` --payload ${quoted(query.payload)}` : ""}`;
  }
  return h("div.stack", h("div.row.between", h("p.quiet.grow", t("fetches.text")), commandButton(view, line, "fetches", () => ({ query }))),
    h("form.row.fault-form", { role: "search", on: { submit: find } }, [user, payload].map((input, index) => h("div.field", h("label", { for: input.id }, t(`fetches.${COLUMNS[index]}`)), input)), h("button", t("fetches.find"))),
    content);
}
