/** Sends a draft: to the testers at once, or to its audience after ten seconds in which it can be undone. */

import { call } from "../../../lib/api.js";
import { freshId, h, icon, put, say } from "../../../lib/dom.js";
import { failure, serviceName, to } from "../../../lib/screen.js";
import { ask } from "../../../parts/dialog/ask.js";
import { loadOutcomes, told } from "../../../parts/outcome/outcome.js";
import { openDialog } from "../../../parts/dialog/dialog.js";
import { content, forget, fresh } from "../draft.js";
import { fields, message } from "../message.js";

const API = { "api-version": "2020-06" };
/** If a send reaches more devices than this, the operator must type their number to confirm it. */
const MANY = 10_000;
/** The seconds in which a send can be undone. */
const UNDO = 10;

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
    return h("li", h("span", { class: isGood ? "good" : "bad" }, icon(isGood ? "check" : "cross")), h("span", h("span.strong", serviceName(one.platform)), " ", h("code.quiet", one.registration), " ", isGood ? t("verdict.delivered")
      : [h("span.mono", one.outcome), text && h("p", text, " ", todo), h("p.quote", { lang: "en" }, quote || one.reason)]));
  }));
}

/** @param {import("../compose.js").Compose} compose */
export async function send(compose) {
  const { view, draft } = compose;
  const { t, n } = view;
  const count = compose.count ?? 0;
  if (/^\s*[[{]/.test(draft.text) && isJSON(draft.text) && !(await ask(view, { title: t("isJSON"), text: t("isJSON.text"), yes: t("isJSON.yes") }))) return;
  if ((count > MANY || draft.everybody) && !(await ask(view, {
    title: t("sure", { n: count }), text: h("div.stack.tight", h("p", draft.everybody ? t("sure.everybody") : h("code", draft.to)), h("p", t("sure.text"))),
    yes: compose.first ? t("send.first", { first: compose.first, n: count }) : t("send.now", { n: count }), typed: String(count), typedLabel: t("sure.typed", { number: n.whole(count) }),
  }))) return;
  // The campaign is saved first, so that it is stored as it was sent.
  if (draft.campaign && draft.campaign.saved !== content(draft) && !(await compose.save())) return;
  await schedule(compose);
}

/** @param {string} text */
function isJSON(text) {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}

/** @param {import("../compose.js").Compose} compose */
async function schedule(compose) {
  const { view, draft, hub } = compose;
  const { t } = view;
  const isLater = draft.when === "at";
  const { replaces } = draft;
  compose.sendButton.disabled = true;
  // The time of the send may have passed since the last dry run.
  if (isLater && compose.dueAt() <= new Date()) return (await compose.part("check")).runCheck(compose);
  try {
    const at = isLater ? compose.dueAt() : new Date(Date.parse((await call("session")).now) + UNDO * 1000);
    const own = { ...fields(compose.draft, view), "servicebusnotification-scheduletime": at.toISOString() };
    const answer = replaces
      ? await call("reschedule", { path: { hub, id: replaces }, query: API, body: message(draft), fields: own })
      : await call("schedule", { path: { hub }, query: API, body: message(draft), fields: { ...own, "idempotency-key": draft.id } });
    const id = replaces ?? /\/(?:schedulednotifications|messages)\/([^/?]+)/.exec(answer?.location ?? "")?.[1] ?? "";
    if (!isLater) return countDown(compose, id, Date.now() + UNDO * 1000);
    compose.recordSend(id);
    forget(hub);
    view.toast(t("scheduled", { time: view.time.full(at) }));
    view.go(id ? to.send(hub, id) : `${to.sends(hub)}/waiting`);
  } catch (error) {
    put(compose.checkBox, failure(t, error, null));
    compose.showActions();
  }
}

/** Shows a countdown with a button that undoes the send.
 * @param {import("../compose.js").Compose} compose @param {string} id @param {number} end */
function countDown(compose, id, end) {
  const { view, hub } = compose;
  const { t } = view;
  const line = h("span.strong.number");
  freeze(compose, true);
  const button = h("button.big.danger", { click: () => undo(compose, id) }, t("undo"));
  put(compose.actions, h("div.notice.undo", { role: "status" }, icon("clock"), h("div.row.between.grow", h("span", h("span.unseen", t("undo.told")), h("span", { "aria-hidden": "true" }, line)), button)));
  button.focus();
  const tick = () => {
    const left = Math.max(0, Math.ceil((end - Date.now()) / 1000));
    say(line, t(compose.first ? "undo.first" : "undo.left", { n: left, first: compose.first, devices: view.n.whole(compose.count ?? 0) }));
    if (left > 0) return;
    window.clearInterval(compose.pending?.timer);
    compose.pending = null;
    compose.recordSend(id);
    forget(hub);
    view.go(to.send(hub, id));
  };
  compose.pending = { timer: window.setInterval(tick, 250), id, end, undo: () => takeBack(hub, id).then((isDone) => view.toast(t(isDone ? "undone" : "undo.late"))) };
  tick();
}

/** Disables or enables the fields. During the countdown, the draft cannot be changed.
 * @param {import("../compose.js").Compose} compose @param {boolean} isFrozen */
function freeze({ node, actions }, isFrozen) {
  for (const child of /** @type {any} */ (node.children)) child.inert = isFrozen && !child.contains(actions);
}

/** @param {import("../compose.js").Compose} compose @param {string} id */
async function undo(compose, id) {
  const { view, hub } = compose;
  const { t } = view;
  window.clearInterval(compose.pending?.timer);
  const isDone = await takeBack(hub, id);
  compose.pending = null;
  view.toast(t(isDone ? "undone" : "undo.late"));
  compose.draft.id = fresh().id;
  compose.draft.replaces = null;
  if (!isDone) return view.go(to.send(hub, id));
  compose.sendButton = null;
  freeze(compose, false);
  compose.changed();
}

/** Withdraws a send that has not begun. If it has begun, cancels it, so that no further push is sent.
 * @param {string} hub @param {string} id @returns {Promise<boolean>} Whether nothing was sent. */
async function takeBack(hub, id) {
  try {
    await call("withdraw", { path: { hub, id }, query: API });
    return true;
  } catch {
    // The send has begun already.
    await call("cancel", { path: { hub, id }, body: {} }).catch(() => {});
    return false;
  }
}
