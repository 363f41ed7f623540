/** The list of alerts, each with advice. */

import { h, icon, put } from "../../lib/dom.js";
import { path, serviceName, to } from "../../lib/screen.js";

/** Returns an alert as a row of a list. The facts of the alert are formatted in the operator's language.
 * @param {View} view @param {any} alert */
export function alertRow(view, alert) {
  const { t, n, time } = view;
  if (alert.code === "service-failing") return outageRow(view, alert);
  const values = {
    n: alert.count ?? alert.waiting ?? 0, hub: alert.hub ?? "", service: alert.platform ? serviceName(alert.platform) : "",
    date: alert.endsAt ? time.date(alert.endsAt) : "", time: typeof alert.seconds === "number" ? time.duration(alert.seconds) : "",
    ms: alert.p99 < 1000 ? `${n.short(alert.p99 ?? 0)} ms` : `${n.short((alert.p99 ?? 0) / 1000)} s`, share: n.share(alert.share ?? 0), free: n.bytes(alert.free ?? 0), reserve: n.bytes(alert.reserve ?? 0),
    sentence: alert.sentence ?? "",
  };
  const code = alert.code === "backup-old" && typeof alert.seconds !== "number" ? "backup-none" : alert.code;
  const isKnown = t.has(`alert.${code}`);
  // An alert about a platform is a link to a hub.
  const hub = alert.hub ?? (alert.platform ? view.hub : "");
  const address = !hub ? "/console/server" : ["oldest-waits", "failing"].includes(alert.code) ? to.sends(hub) : path("hubs", hub);
  return h("li", h("a.alert", { href: address, class: alert.severity },
    h("span", icon(alert.severity === "error" ? "cross" : "warn"), h("span.unseen", t(`severity.${alert.severity}`))),
    h("span.grow", h("span.strong", alert.hub && h("span.quiet", alert.hub, ": "), isKnown ? t(`alert.${code}`, values) : alert.code),
      t.has(`todo.${code}`) && h("span.todo", t(`todo.${code}`, values))),
    icon("right")));
}

/** Returns the row of an alert about a push service to which no push gets through. The texts are loaded when they are
 * needed.
 * @param {View} view @param {any} alert */
function outageRow(view, alert) {
  const text = h("span.grow", h("span.strong", serviceName(alert.platform)));
  import("../../parts/outage/outage.js").then(({ outage }) => outage(view, alert.platform, alert, alert)).then(([sentence, ...lines]) => {
    put(text, h("span.strong", h("span.quiet", alert.hub, ": "), sentence), lines.map((line) => h("span.todo", line)));
  }, () => {});
  return h("li", h("a.alert", { href: path("hubs", alert.hub), class: alert.severity },
    h("span", icon(alert.severity === "error" ? "cross" : "warn"), h("span.unseen", view.t(`severity.${alert.severity}`))), text, icon("right")));
}
