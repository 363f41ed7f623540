/** The screen of sends that some devices did not get, by reason, with buttons that send to these devices again. */

import { call } from "../../lib/api.js";
import { h, icon } from "../../lib/dom.js";
import { serviceName, stateBadge, to } from "../../lib/screen.js";
import { empty, pane, sendTabs } from "../../parts/pane/pane.js";
import { ask } from "../../parts/dialog/ask.js";
import { commandButton } from "../../parts/dialog/dialog.js";
import { loadOutcomes, needsCause, servicesLink, told } from "../../parts/outcome/outcome.js";

/** Outcomes for which sending again helps when the cause is corrected. For other outcomes, the device or the message
 * must change. */
const MENDABLE = ["PnsUnavailable", "PnsUnreachable", "PnsServerError", "PnsInterfaceError", "InvalidCredentials", "Throttled", "ChannelThrottled", "NoPushService", "TokenProviderUnreachable", "TokenProviderInterfaceError", "AbandonedNotificationMessages", "ChannelDisconnected"];

/** @param {View} view @returns {OpenScreen} */
export function screen(view) {
  const { t, hub } = view;
  const content = pane({
    t, bars: 5, load: async (signal) => {
      const query = { order: "newest", limit: 50, outcome: view.query.get("outcome"), continuation: view.query.get("before") };
      const page = await call("failed", { path: { hub }, query, signal });
      const list = page.notifications;
      const ask = (/** @type {"send" | "reasons"} */ name, /** @type {(one: any) => boolean} */ isAsked) =>
        Promise.all(list.map((/** @type {any} */ one) => isAsked(one) && call(name, { path: { hub, id: one.notification }, signal }).catch(() => null)));
      const again = list.map((/** @type {any} */ one) => Promise.all(one.resends.map((/** @type {any} */ made) =>
        call("send", { path: { hub, id: made.notification }, signal }).catch(() => null))));
      const [names, resends, reasons] = await Promise.all([
        ask("send", () => true), Promise.all(again), ask("reasons", (one) => Object.values(one.platforms).some((counts) => Object.keys(counts).some(needsCause))), loadOutcomes(view),
      ]);
      return { list: list.map((/** @type {any} */ one, /** @type {number} */ index) => ({ ...one, send: names[index], again: resends[index], why: reasons[index]?.reasons ?? [] })), next: page.continuation };
    },
    render: ({ list, next }) => (list.length === 0 && !next ? empty("check", t("none"), t("none.text"))
      : h("div.stack", h("ul.list.failed", list.map((/** @type {any} */ one) => row(view, one, () => content.reload()))), next && h("a.button", { href: `${to.sends(hub)}/failed?${new URLSearchParams({ ...Object.fromEntries(view.query), before: next })}` }, t("more")))),
  });
  const node = h("div.stack", h("div.head", h("div", h("h1", t("title")), h("p.quiet", t("subtitle"))), commandButton(view, `martlet dead-letters ${hub}`, "failed", { path: { hub } })),
    sendTabs(view, "failed"), content);
  return { title: t("title"), node };
}

/** @param {View} view @param {() => void} reload @param {any} one */
function row(view, one, reload) {
  const { t, n, time, hub } = view;
  /** @type {Record<string, number>} */
  const reasons = {};
  for (const counts of Object.values(one.platforms)) {
    for (const [reason, count] of Object.entries(/** @type {Record<string, number>} */ (counts))) reasons[reason] = (reasons[reason] ?? 0) + count;
  }
  const total = Object.values(reasons).reduce((all, count) => all + count, 0);
  const canSend = view.role(hub) !== "viewer";
  return h("li", h("div.item", h("div.whose", h("a.strong", { href: to.send(hub, one.notification) }, one.send?.text ?? t("sendOf", { id: one.notification.slice(-8) })),
    h("span.quiet.small.number", [time.brief(one.acceptedAt), Object.keys(one.platforms).map(serviceName).join(", "), t("total", { n: total })].join(" · "))),
  h("ul.reasons", Object.entries(reasons).sort((a, b) => b[1] - a[1]).map(([reason, count]) => h("li",
    h("span.number.strong", n.whole(count)), h("span", h("a.mono", { href: `${to.sends(hub)}/failed?outcome=${encodeURIComponent(reason)}` }, reason), causes(view, reason, one.why)),
    resent(view, one, reason) ?? (canSend && h("button", { type: "button", class: MENDABLE.includes(reason) ? "" : "plain", click: () => again(view, one, reason, count, reload) }, icon("refresh"), t("again"))))))));
}

/** Returns a link to the send that has resent the failed pushes of an outcome, with its result; null if there is none.
 * Failed pushes are resent only once.
 * @param {View} view @param {any} one @param {string} outcome */
function resent(view, one, outcome) {
  const { t, n } = view;
  // A resend whose outcome is null was for all outcomes that had not been resent before, so the first match is the one.
  const index = one.resends.findIndex((/** @type {any} */ made) => made.outcome === outcome || made.outcome === null);
  if (index < 0) return null;
  const send = one.again[index];
  return h("a.resent", { href: to.send(view.hub, one.resends[index].notification) }, h("span", t("resent")),
    send && stateBadge(t, send), send && h("span.quiet.small.number", t("again.taken", { done: n.whole(send.succeeded ?? 0), n: (send.succeeded ?? 0) + (send.failed ?? 0) })));
}

/** Returns the meaning of an outcome, and the sentences that the hub has recorded about its causes.
 * @param {View} view @param {string} outcome @param {any[]} why */
function causes(view, outcome, why) {
  const { t } = view;
  const found = why.filter((one) => one.outcome === outcome).map((one) => told(t, outcome, one.reason));
  const own = found.filter((one) => one.quote).slice(0, 3);
  const { text, todo, isAtServices } = found.find((one) => !one.quote) ?? (own[0] ? { ...own[0], text: "" } : told(t, outcome, ""));
  return [(text || todo) && h("span.quiet.small.block", [text, todo].filter(Boolean).join(" "), isAtServices && [" ", servicesLink(view)]), own.map(({ quote }) => h("span.quote.small.block", { lang: "en" }, quote))];
}

/** @param {View} view @param {string} outcome @param {number} count @param {() => void} reload @param {any} one */
async function again(view, one, outcome, count, reload) {
  const { t, hub } = view;
  const isSure = await ask(view, { title: t("again.title", { n: count }), text: h("div.stack.tight", h("p", t("again.who")), h("p", t("again.once")), h("p", t("again.new"))), yes: t("again.yes", { n: count }) });
  if (!isSure) return;
  try {
    const made = await call("resend", { path: { hub, id: one.notification }, query: { outcome }, body: {} });
    view.toast(t("again.done"));
    view.go(to.send(hub, made.notification));
  } catch (error) {
    view.toast(error.message || t("failed.refused"));
    reload();
  }
}
