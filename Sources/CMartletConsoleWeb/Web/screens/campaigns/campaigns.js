/** The screen of campaigns: drafts with names that the server stores, and the sends that were made from them. */

import { call } from "../../lib/api.js";
import { h, icon } from "../../lib/dom.js";
import { badge, to } from "../../lib/screen.js";
import { ask } from "../../parts/dialog/ask.js";
import { commandButton } from "../../parts/dialog/dialog.js";
import { empty, pane, sendTabs } from "../../parts/pane/pane.js";

const PAGE = 50;

/** @param {View} view @returns {OpenScreen} */
export function screen(view) {
  const { t, hub } = view;
  const canSend = view.role(hub) !== "viewer";
  const begin = canSend && h("a.button.primary", { href: `${to.sends(hub)}/new` }, icon("plus"), t("newSend"));
  const content = pane({
    t, bars: 5, load: (signal) => call("campaigns", { path: { hub }, query: { limit: PAGE, before: view.query.get("before") }, signal }),
    render: ({ campaigns, next }) => (campaigns.length === 0 ? empty("sends", t("none"), t(canSend ? "none.text" : "none.viewer"), begin)
      : h("div.stack", h("ul.list.campaigns", campaigns.map((/** @type {any} */ one) => row(view, one, canSend, () => content.reload()))),
        next && h("a.button", { href: `${to.sends(hub)}/campaigns?before=${encodeURIComponent(next)}` }, t("older")))),
  });
  const node = h("div.stack", h("div.head", h("div", h("h1", t("title")), h("p.quiet", t("subtitle"))), commandButton(view, null, "campaigns", { path: { hub } })),
    sendTabs(view, "campaigns"), content);
  return { title: t("title"), node };
}

/** @param {View} view @param {any} one @param {boolean} canSend @param {() => void} reload */
function row(view, one, canSend, reload) {
  const { t, time, hub } = view;
  const who = one.changedBy.startsWith("operator:") ? one.changedBy.slice(9) : t("socket");
  const address = one.send ? to.send(hub, one.send) : canSend ? `${to.sends(hub)}/new?campaign=${one.id}` : null;
  const remove = async () => {
    if (!(await ask(view, { title: t("delete.title", { name: one.name }), text: t(one.send ? "delete.sent" : "delete.draft"), yes: t("delete"), isDanger: true }))) return;
    await call("deleteCampaign", { path: { hub, id: one.id } }).catch((error) => view.toast(error.message || t("failed.refused")));
    reload();
  };
  return h("li", h("div.item", h("div.whose", address ? h("a.strong", { href: address }, one.name) : h("span.strong", one.name),
    h("span.quiet.small", t("changed", { time: time.brief(one.changedAt), name: who }))),
  badge(one.send ? "done" : "waiting", t(one.send ? "sent" : "draft")),
  canSend ? h("button.plain", { click: remove, "aria-label": t("delete.of", { name: one.name }) }, t("delete")) : h("span")));
}
