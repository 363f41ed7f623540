/** Sends a draft: to the testers at once, or to its audience after ten seconds in which it can be undone. */

import { call } from "../../../lib/api.js";
import { freshId, h, icon, put, say } from "../../../lib/dom.js";
import { failure, serviceName, to } from "../../../lib/screen.js";
import { ask } from "../../../parts/dialog/ask.js";
import { loadOutcomes, told } from "../../../parts/outcome/outcome.js";
import { openDialog } from "../../../parts/dialog/dialog.js";
import { follow, fresh, hold, keep, others } from "../draft.js";
import { fields, message } from "../message.js";
import { digest, endOf, sentBefore, UNDO, useKey } from "../sending.js";
import { goingOf, question, Questions, sentence } from "./going.js";

const API = { "api-version": "2020-06" };
/** If a send reaches more devices than this, the operator must type their number to confirm it. */
const MANY = 10_000;
/** If there are more devices by this factor than the operator has confirmed, the number must be confirmed again. */
const MORE = 1.01;

/** @param {import("../compose.js").Compose} compose */
export async function test(compose) {
  const { view, hub } = compose;
  const { t } = view;
  const id = freshId();
  const sending = await call("sending", { path: { hub }, query: API }).catch(() => ({}));
  const testers = sending.testers ?? "";
  const input = h("input.mono", { id, value: testers, placeholder: "testers", autocomplete: "off", spellcheck: "false", required: true, autofocus: true });
  const results = h("div.stack.tight", { "aria-live": "polite" });
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    put(results, h("p.quiet", t("test.running")));
    const tags = input.value.trim();
    try {
      /** @type {Record<string, string>} */
      const own = { ...fields(compose.draft, view), "servicebusnotification-tags": tags };
      delete own["martlet-everybody"];
      delete own["martlet-rollout"];
      const answer = await call("post", { path: { hub }, query: { ...API, test: "" }, fields: own, body: message(compose.draft) });
      await loadOutcomes(view);
      put(results, testResults(view, answer?.results ?? []));
      if (tags === testers) return;
      call("saveSending", { path: { hub }, query: API, body: { ...sending, testers: tags } }).catch(() => {});
    } catch (error) {
      put(results, failure(t, error, null));
    }
  };
  const dialog = openDialog(t("test.title"), [h("form", { on: { submit } }, h("p.quiet", t("test.text")), h("div.field", h("label", { for: id }, t("test.to")), input), results,
    h("div.actions", h("button", { click: () => dialog.close() }, t("close")), h("button.primary", t("test.send"))))]);
}

/** @param {View} view @param {any[]} results */
function testResults({ t }, results) {
  if (results.length === 0) return h("p.warn", t("test.nobody"));
  return h("ul.check-list", results.map((one) => {
    const isGood = one.outcome === "Success";
    const { text, todo, quote } = told(t, one.outcome, one.reason);
    return h("li", h("span", { class: isGood ? "good" : "bad" }, icon(isGood ? "check" : "cross")), h("span", h("span.strong", serviceName(one.platform)), " ", h("code.quiet", one.registration), " ", isGood ? [t("verdict.delivered"), one.reason && h("p.quiet.small", h("code.break", one.reason))]
      : [h("span.mono", one.outcome), text && h("p", text, " ", todo), h("p.quote", { lang: "en" }, quote || one.reason)]));
  }));
}

/** @param {import("../compose.js").Compose} compose */
export async function send(compose) {
  const { view, draft, hub } = compose;
  const { t } = view;
  // Another tab may have sent the same draft a moment ago.
  follow(hub, draft);
  if (draft.sending) return show(compose);
  const same = others(hub, draft.id).find((one) => one.sending && one.keyOf === digest(draft));
  if (same) return compose.take(same);
  const before = sentBefore(hub, draft);
  if (before && compose.before?.id !== before.id) {
    compose.before = before;
    return compose.showActions();
  }
  if (/^\s*[[{]/.test(draft.text) && isJSON(draft.text) && !(await ask(view, { title: t("isJSON"), text: t("isJSON.text"), yes: t("isJSON.yes") }))) return;
  if (!(await isSure(compose))) return;
  // It is sent again on purpose.
  if (before) draft.keyOf = "";
  await schedule(compose);
}

/** Asks before a send to many devices, and again if there are more of them by then.
 * @param {import("../compose.js").Compose} compose @returns {Promise<boolean>} */
async function isSure(compose) {
  const { view, draft, hub } = compose;
  const { t, n } = view;
  for (;;) {
    const count = compose.count ?? 0;
    if (count <= MANY && !draft.everybody) return true;
    if (!(await ask(view, {
      title: t("sure", { n: count }), text: h("div.stack.tight", h("p", draft.everybody ? t("sure.everybody") : h("code", draft.to)), h("p", t("sure.text"))),
      yes: compose.first ? t("send.first", { first: compose.first, n: count }) : t("send.now", { n: count }), typed: String(count), typedLabel: t("sure.typed", { number: n.whole(count) }),
    }))) return false;
    const run = await question("post", { path: { hub }, query: { ...API, dryRun: "" }, fields: fields(draft, view), body: message(draft) }).catch(() => null);
    if (!(run?.targeted > count * MORE)) return true;
    compose.count = run.targeted;
    compose.showActions();
  }
}

/** @param {string} text */
function isJSON(text) {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}

/** Asks the server for the send.
 * @param {import("../compose.js").Compose} compose */
async function schedule(compose) {
  const { view, draft, hub } = compose;
  const { t } = view;
  const isLater = draft.when === "at";
  compose.sendButton.disabled = true;
  // The time of the send may have passed since the last dry run.
  if (isLater && compose.dueAt() <= new Date()) return (await compose.part("check")).runCheck(compose);
  window.clearTimeout(compose.checkTimer);
  compose.tell(null);
  // What is sent is what was checked.
  freeze(compose, true);
  const back = () => {
    freeze(compose, false);
    compose.showActions();
  };
  try {
    say(compose.sendNote, t("sending.asking"));
    const { asked, at } = await new Questions().time();
    const ahead = at - Date.now();
    const due = isLater ? compose.dueAt() : new Date(at + UNDO * 1000);
    useKey(draft);
    // The campaign is saved first, so that it is stored as it was sent, and others see who sends it.
    if (draft.campaign && !(await (await compose.part("campaign")).claim(compose, asked, due.toISOString()))) return back();
    // Who has left the page meanwhile would not see the ten seconds.
    if (compose.isLeft) return;
    keep(hub, draft);
    draft.sending = { asked, ahead, dues: [due.toISOString()], isLater, replaces: draft.replaces, id: null, undo: false, count: compose.count ?? 0, first: compose.first };
  } catch (error) {
    // The server was not asked for the send yet.
    compose.tell(failure(t, error, () => compose.send()), h("p.strong", t("sending.none")));
    return back();
  }
  hold(hub, keep(hub, draft) ? draft.id : "");
  show(compose, true);
}

/** Shows what is known of the send of the draft in the form, with a button that undoes it.
 * @param {import("../compose.js").Compose} compose @param {boolean} [isNew] Whether it is asked for now. */
export function show(compose, isNew = false) {
  const { view, draft, hub } = compose;
  const { t } = view;
  if (!draft.sending || compose.pending) return;
  const going = goingOf(hub, draft, view, isNew);
  const isSeen = isNew || Date.now() < endOf(draft.sending);
  const line = h("span.strong.number");
  const note = h("span");
  const told = h("span.unseen");
  // The buttons are where Send was: the second half of a double click is not for them.
  const once = (/** @type {() => void} */ act) => (/** @type {MouseEvent} */ { detail }) => detail < 2 && act();
  const button = h("button.big.danger", { click: once(() => going.undo()) }, t("undo"));
  // The notice has the focus and not the button, which a second press of Enter would press too.
  const notice = h("div.notice.undo", { role: "status", tabindex: "-1" }, icon("clock"), h("div.row.between.grow", h("span.stack.tight.grow", h("span", told, h("span", { "aria-hidden": "true" }, line)), note),
    h("span.row", button, h("button.plain", { click: once(() => compose.take(fresh())) }, t("another")))));
  freeze(compose, true);
  put(compose.actions, notice);
  if (isNew) notice.focus();
  const tick = () => {
    if (going.outcome || !draft.sending) return;
    const { id, undo, first, count, isLater } = draft.sending;
    const left = Math.ceil((endOf(draft.sending) - Date.now()) / 1000);
    const state = undo && left <= 0 ? t("undo.due") : !id ? t(!going.isOpen ? "sending.asking" : going.request ? "sending.unknown" : "sending.looking") : left <= 0 ? t("sending.past") : isLater ? t("sending.asking") : t(first ? "undo.first" : "undo.left", { n: left, first, devices: view.n.whole(count) });
    say(line, state);
    say(told, id && left > 0 ? t("undo.told") : state);
    const cause = going.error ? going.error.message || t("sending.noAnswer") : "";
    say(note, undo ? (cause ? `${t("undo.trying")} ${going.error?.message}`.trim() : t("undo.running")) : cause);
  };
  compose.pending = { going, timer: window.setInterval(tick, 250) };
  going.listen = (/** @type {import("./going.js").Outcome | undefined} */ outcome) => (outcome ? settled(compose, going, outcome, isSeen) : tick());
  tick();
  going.turn();
}

/** Returns what to say of a send that is under way when the operator may not undo it any more: that it goes out.
 * @param {import("../compose.js").Compose} compose */
export function goesOn({ view, hub, draft }) {
  const { dues, ahead, count } = draft.sending ?? { dues: [], ahead: 0, count: 0 };
  const begins = Date.parse(dues.at(-1) ?? "") - ahead;
  return h("div.notice.warn-notice", { role: "alert" }, icon("warn"), h("p", view.t(Date.now() < begins ? "goesOn" : "goesOn.begun", { n: count, time: view.time.clock(begins) }), " ", h("a", { href: to.sends(hub) }, view.t("place.sends"))));
}

/** Shows what became of the send.
 * @param {import("../compose.js").Compose} compose @param {import("./going.js").Going} going
 * @param {import("./going.js").Outcome} outcome @param {boolean} isSeen Whether the operator has seen it begin. */
function settled(compose, going, outcome, isSeen) {
  const { view, hub, draft } = compose;
  const { t } = view;
  const address = going.id ? to.send(hub, going.id) : `${to.sends(hub)}/waiting`;
  const said = sentence(outcome);
  const wasHeld = draft.sending;
  compose.detach();
  if (outcome === "undone") {
    view.toast(t("undone"));
    compose.changed();
  } else if (["begun", "scheduled", "stopped", "late"].includes(outcome)) {
    compose.take(fresh());
    if (!isSeen) return compose.tell(h("div.notice.quiet-notice", icon("info"), h("p", t(said ?? ""), " ", h("a", { href: address }, t("send.look")))));
    if (outcome === "scheduled") view.toast(t("scheduled", { time: view.time.full(new Date(wasHeld?.dues.at(-1) ?? "")) }));
    else if (outcome !== "begun") view.toast(t(said ?? ""));
    view.go(address);
  } else {
    compose.changed();
    if (outcome === "refused") compose.tell(failure(t, going.error, null), h("p.strong", t("sending.none")));
    else if (said) compose.tell(h("div.notice.warn-notice", { role: "alert" }, icon("warn"), h("p", t(said))));
  }
}

/** Disables or enables the fields. During the countdown, the draft cannot be changed.
 * @param {import("../compose.js").Compose} compose @param {boolean} isFrozen */
export function freeze({ node, actions }, isFrozen) {
  for (const child of /** @type {any} */ (node.children)) child.inert = isFrozen && !child.contains(actions);
}
