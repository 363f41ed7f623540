/** The screen that says why a device did or did not get a send: the verdict, the events, and facts for a support
 * ticket. */

import { call } from "../../lib/api.js";
import { h, icon } from "../../lib/dom.js";
import { serviceName, to } from "../../lib/screen.js";
import { empty, pane } from "../../parts/pane/pane.js";
import { commandButton, copyable } from "../../parts/dialog/dialog.js";
import { loadLook, look } from "../../parts/look/look.js";

const GOOD = ["delivered"];
const OPEN = ["retrying", "pending", "scheduled"];
/** Verdicts for which the last attempt can show that a person must change something before the push can be sent. */
const UNSENT = ["retrying", "pending", "expired"];

/** @param {View} view @returns {OpenScreen} */
export function screen(view) {
  const { t, hub, params } = view;
  const path = { hub, id: params.id ?? "", device: params.device ?? "" };
  const node = pane({
    t, bars: 6, heading: t("title"),
    load: async (signal) => {
      const [trace, send] = await Promise.all([
        call("trace", { path, signal }).catch((error) => {
          if (error.status === 404) return null;
          throw error;
        }), call("send", { path, signal }).catch(() => null), loadLook(view.language),
      ]);
      const outcomes = ["refused", "suppressed", ...UNSENT].includes(trace?.verdict) ? await import("../../parts/outcome/outcome.js") : null;
      await outcomes?.loadOutcomes(view);
      const push = trace?.registrations[0];
      const last = push?.attempts[push.attempts.length - 1];
      // If there was no attempt yet, only the state of the lane can show that no push gets through.
      const lane = outcomes && trace.verdict === "pending" ? await laneOf(hub, push?.platform, signal) : null;
      const cause = UNSENT.includes(trace?.verdict) && !outcomes?.needsPerson(last?.outcome) ? lane : last;
      const told = cause && outcomes?.told(t, cause.outcome, cause.reason);
      return { trace, send, told: told && { ...told, link: told.isAtServices && outcomes?.servicesLink(view) } };
    },
    render: ({ trace, send, told }) => !trace ? [h("h1.unseen", t("title")), empty("search", t("noSend"), t("noSend.text", { id: path.id }), h("a.button", { href: to.device(hub, path.device) }, t("noSend.device")))] : page(view, path, trace, send, told),
  });
  return { title: t("title"), node };
}

/** Returns the pause of a lane that lasts until its credential is replaced; null if there is none.
 * @param {string} hub @param {string} platform @param {AbortSignal} signal */
async function laneOf(hub, platform, signal) {
  const { platforms } = await call("services", { path: { hub }, signal });
  const { lane, state, reason } = platforms.find((/** @type {any} */ one) => one.platform === platform) ?? {};
  if (state === "unusable") return { outcome: "InvalidCredentials", reason };
  return lane?.state === "paused" && lane.outcome === "InvalidCredentials" ? lane : null;
}

/** @param {View} view @param {{hub: string, id: string, device: string}} path @param {any} trace @param {any} send @param {any} told */
function page(view, path, trace, send, told) {
  const { t, hub } = view;
  const name = send?.text ?? t("sendOf", { id: path.id.slice(-8) });
  const main = trace.registrations[0] ?? null;
  return h("div.stack.loose",
    h("nav.small.row", { "aria-label": t("where") }, h("a", { href: to.sends(hub) }, t("place.sends")), icon("right"),
      h("a.clip", { href: to.send(hub, path.id) }, name), icon("right"), h("a.clip", { href: to.device(hub, path.device) }, path.device)),
    verdict(view, trace, told),
    trace.registrations.map((/** @type {any} */ push) => registration(view, trace, push, trace.registrations.length > 1)),
    h("section.stack.tight", h("h2", t("facts")), factsOf(view, path, trace, main)),
    h("div.row", commandButton(view, `martlet why ${hub} ${path.id} ${path.device}`, "trace", { path }),
      h("button", { click: () => copyAll(view, path, trace) }, icon("copy"), t("copyTicket"))),
    h("details", h("summary", t("details")), h("div.stack.tight.quote", { lang: "en" }, trace.explanation.map((/** @type {string} */ line) => h("p", line)))));
}

/** @param {View} view
 * @param {any} trace @param {any} told The explanation of the outcome, if the verdict is an outcome. */
function verdict(view, trace, told) {
  const { t } = view;
  const kind = GOOD.includes(trace.verdict) ? "good" : told?.link ? "bad" : OPEN.includes(trace.verdict) ? "open" : ["refused", "expired"].includes(trace.verdict) ? "bad" : "none";
  const { text = "", todo = "", quote = "", link = null } = told ?? {};
  const advice = text ? todo : t.has(`do.${trace.verdict}`) ? t(`do.${trace.verdict}`) : "";
  return h("div.verdict", { class: `verdict-${kind}` },
    h("span.verdict-mark", icon(kind === "good" ? "check" : kind === "bad" ? "cross" : kind === "open" ? "clock" : "info")),
    h("div", h("p.verdict-word", t(`verdict.${trace.verdict}`)), h("h1", text || t(`is.${trace.verdict}`)), quote && h("p", { lang: "en" }, quote), (quote ? todo : advice) && h("p", quote ? todo : advice), link && h("p", link)));
}

/** @param {View} view @param {boolean} isOneOfMany @param {any} trace @param {any} push */
function registration(view, trace, push, isOneOfMany) {
  const { t, time } = view;
  return h("section.stack", h("h2", isOneOfMany ? t("timelineOf", { id: push.registration }) : t("timeline")),
    h("ol.timeline", events(view, trace, push).map((one) => h("li", { class: one.kind ?? "" },
      h("time.number.quiet", { datetime: one.at ?? null }, one.at ? time.precise(one.at) : "–"),
      h("div", h("i.mark", { "aria-hidden": "true" }), h("p", one.text), one.detail && h("p.quiet.small", one.detail))))),
    push.payload && payload(view, push));
}

/** Returns the events of a push, in order of time.
 * @param {View} view @returns {{at: string | null, text: any, detail?: any, kind?: string}[]} @param {any} trace @param {any} push */
function events(view, trace, push) {
  const { t, time } = view;
  /** @type {{at: string | null, text: any, detail?: any, kind?: string}[]} */
  const list = [];
  const service = serviceName(push.platform);
  if (push.createdAt > trace.acceptedAt) list.push({ at: push.createdAt, text: t("event.registered") });
  list.push({ at: trace.acceptedAt, text: t("event.accepted"), detail: push.isToOneUser ? t("event.oneUser") : push.expression ? t.nodes("event.expression", { expression: h("code", push.expression) }) : t("event.everybody") });
  if (push.isInAudience) list.push({ at: push.page?.startedAt ?? null, text: t("event.meant"), detail: decided(view, push) });
  else if (push.decidedBy) list.push({ at: push.page?.startedAt ?? null, text: t("event.notMeant"), detail: decided(view, push), kind: "bad" });
  // Several attempts may have the same number, because an attempt that failed by a fault of the push service is not
  // counted.
  const first = push.attempts[0]?.number ?? 1;
  for (const [index, attempt] of push.attempts.entries()) {
    const isGood = attempt.outcome === "Success";
    list.push({
      at: attempt.at, kind: isGood ? "good" : "bad",
      text: isGood ? t("event.taken", { service }) : !attempt.origin ? t.nodes("event.notSent", { reason: h("span", { lang: "en" }, attempt.reason || attempt.outcome) }) : t.nodes("event.attempt", { n: first + index, answer: h("code", [attempt.status, attempt.reason || attempt.outcome].filter(Boolean).join(" ")) }),
      detail: [attempt.origin, attempt.connection ? t("event.connection", { number: String(attempt.connection) }) : null].filter(Boolean).join(" · "),
    });
  }
  if (push.verdict === "delivered" && push.attempts.length === 0) list.push({ at: push.page?.endedAt ?? null, text: t("event.taken", { service }), detail: push.page?.origins?.join(" · "), kind: "good" });
  if (push.token !== "kept") list.push({ at: push.since?.at ?? null, text: t(`token.${push.token}`), kind: "bad" });
  else if (push.since) list.push({ at: push.since.at, text: t.has(`since.${push.since.what}`) ? t(`since.${push.since.what}`) : push.since.what });
  if (push.nextAttemptAt) list.push({ at: push.nextAttemptAt, text: t("event.next") });
  if (trace.controlledAt && t.has(`control.${trace.control}`)) list.push({ at: trace.controlledAt, text: t(`control.${trace.control}`) });
  for (const receipt of trace.receipts.filter((/** @type {any} */ one) => one.registration === push.registration)) {
    list.push({ at: receipt.at, text: t.has(`receipt.${receipt.event}`) ? t(`receipt.${receipt.event}`) : receipt.event, kind: "good" });
  }
  list.sort((one, other) => (one.at ?? "").localeCompare(other.at ?? ""));
  if (push.verdict === "delivered" && trace.receipts.length === 0) list.push({ at: null, text: t("receipt.none"), detail: t("receipt.none.text") });
  if (push.verdict === "expired") list.push({ at: trace.expiresAt, text: t("event.expired", { time: time.full(trace.expiresAt) }), kind: "bad" });
  return list;
}

/** @param {View} view @param {any} push */
function decided({ t }, push) {
  if (!push.decidedBy?.length) return null;
  return push.decidedBy.flatMap((/** @type {any} */ term, /** @type {number} */ index) => [index > 0 ? ", " : "", ...t.nodes(term.isPresent ? "has" : "lacks", { tag: h("code", term.tag) })]);
}

/** @param {View} view @param {any} push */
function payload(view, push) {
  const { t, n } = view;
  const shown = push.payload;
  return h("details", h("summary", shown.isWithheld ? t("payload.title") : t("payload", { size: n.bytes(shown.size) })), h("div.stack",
    shown.appearance && h("div.looks", look(view, shown.appearance, { app: view.hub, name: serviceName(push.platform) })),
    shown.isWithheld ? h("p.quiet", t(shown.why === "confidential" ? "payload.confidential" : "payload.withheld")) : copyable(view, shown.body ?? shown.base64),
    !shown.isWithheld && h("p.quiet.small.mono", `SHA-256 ${shown.sha256}`)));
}

/** @param {View} view @param {{hub: string, id: string, device: string}} path @param {any} trace @param {any} push */
function factsOf(view, path, trace, push) {
  const { t, time } = view;
  const facts = [
    [t("fact.send"), h("code", path.id)], [t("fact.device"), h("code", path.device)],
    push?.messageId && [t("fact.message"), h("code", push.messageId)],
    push && [t("fact.registration"), [h("code", push.registration), " · ", serviceName(push.platform), " · ", t(`kind.${push.kind}`), " · ", t("made", { time: time.full(push.createdAt) })]],
    [t("fact.expires"), time.full(trace.expiresAt)],
  ].filter(Boolean);
  return h("dl.facts.card", facts.map((/** @type {any} */ [name, value]) => [h("dt", name), h("dd", value)]));
}

/** @param {View} view @param {{hub: string, id: string, device: string}} path @param {any} trace */
async function copyAll(view, path, trace) {
  const lines = [
    `${view.t(`verdict.${trace.verdict}`)}: ${view.t(`is.${trace.verdict}`)}`, location.href, `${view.t("fact.send")} ${path.id}`, `${view.t("fact.device")} ${path.device}`,
    ...trace.registrations.flatMap((/** @type {any} */ push) => events(view, trace, push).map((one) => `${one.at ?? "-"}  ${h("p", one.text).textContent}  ${h("p", one.detail ?? "").textContent}`)),
  ];
  await navigator.clipboard.writeText(lines.join("\n")).then(() => view.toast(view.t("copied")), () => {});
}
