/** The audit log: what operators have done, as sentences. */

import { call } from "../../../lib/api.js";
import { h, put } from "../../../lib/dom.js";
import { to } from "../../../lib/screen.js";
import { empty, pane } from "../../../parts/pane/pane.js";
import { isSend, word } from "./words.js";

/** The operator's name in entries about changes through the admin socket. No operator can have this name. */
const COMMAND_LINE = "command line";

/** @param {View} view */
export function show(view) {
  const { t } = view;
  const list = h("tbody");
  const more = h("div.row.center");
  const add = (/** @type {any} */ page) => {
    list.append(...page.entries.map((/** @type {any} */ one) => row(view, one)));
    put(more, page.next && h("button", { click: async () => add(await call("audit", { query: { before: page.next } })) }, t("older")));
  };
  return pane({
    t, bars: 8, load: (signal) => call("audit", { signal }),
    render: (page) => {
      if (page.entries.length === 0) return empty("check", t("audit.none"), t("audit.none.text"));
      list.replaceChildren();
      add(page);
      return h("div.stack", h("p.quiet", t("audit.text")), h("div.card.scroll", { tabindex: "0", role: "group", "aria-label": t("tab.audit") }, h("table.cards", h("thead", h("tr",
        ["what", "whom", "who", "when", "from", "answer"].map((name) => h("th", { scope: "col" }, t(`audit.${name}`))))), list)), more);
    },
  });
}

/** @param {View} view @param {any} one */
function row(view, one) {
  const { t, time } = view;
  const key = word(one.action);
  const cell = (/** @type {string} */ name, /** @type {any} */ value) => h("td", { "data-name": t(`audit.${name}`) }, h("span.audit-subject", value));
  const isLink = isSend(one.action) && one.hub && one.subject && (one.answer ?? 0) < 400;
  const subject = [one.hub, one.subject].filter(Boolean).join(" · ");
  return h("tr", h("th", { scope: "row", title: one.action }, t.has(key) ? t(key) : h("code", one.action)),
    cell("whom", isLink ? h("a", { href: to.send(one.hub, one.subject) }, subject) : subject), cell("who", one.operator === COMMAND_LINE ? t("audit.commandLine") : one.operator), cell("when", time.full(one.at)), cell("from", one.address),
    cell("answer", one.answer === null ? t("audit.open") : one.answer < 400 ? t("audit.done") : h("span.bad", t("audit.refused", { status: String(one.answer) }))));
}
