/** Makes a draft from a send, an audience or a campaign. A draft that it replaces in the form is stored, and can be
 * opened again. */

import { call } from "../../../lib/api.js";
import { h, icon, put } from "../../../lib/dom.js";
import { underWay } from "../../../lib/drafts.js";
import { to } from "../../../lib/screen.js";
import { wallClock } from "../../../lib/zone.js";
import { read } from "../message.js";
import { content, forget, fresh, kept, others, stored } from "../draft.js";

/** @typedef {import("../draft.js").Draft} Draft */

/** Makes the draft from what the query of the address names.
 * @param {import("../compose.js").Compose} compose */
export async function take(compose) {
  const { hub, view } = compose;
  const own = kept(hub);
  const campaign = view.query.get("campaign");
  if (campaign) await (await compose.part("campaign")).open(compose, campaign);
  else compose.draft = await made(hub, view.query, view.time.zone) ?? compose.draft;
  // The query is removed. If the page is loaded again, it shows this draft with its later changes.
  history.replaceState(null, "", location.pathname);
  if (own && own !== compose.draft) compose.draft = besides(hub, own, compose.draft);
}

/** @param {string} hub @param {URLSearchParams} query @param {string} zone @returns {Promise<Draft | null>} */
async function made(hub, query, zone) {
  const copied = query.get("copy") ?? query.get("change");
  if (!copied) return { ...fresh(), to: query.get("to") ?? "" };
  const send = await call("send", { path: { hub, id: copied } }).catch(() => null);
  if (!send) return null;
  const draft = { ...fresh(), to: send.expression ?? "" };
  if (query.has("change") && send.dueAt) {
    Object.assign(draft, { replaces: send.id, when: "at", at: wallClock(new Date(send.dueAt), zone), everybody: !send.expression && !send.isDirect });
  }
  try {
    if (send.kind === "message") Object.assign(draft, read(JSON.parse(send.content?.body ?? "{}")));
    else draft.text = send.text ?? "";
  } catch {
    draft.text = send.text ?? "";
  }
  return draft;
}

/** Decides between a draft and another that is to take its place in the form. The draft stays stored, unless it is
 * empty, or equals the other draft or its campaign.
 * @param {string} hub @param {Draft} own @param {Draft} other @returns {Draft} The draft for the form. */
export function besides(hub, own, other) {
  if (own.sending) return other;
  if (content(own) === content(other)) return own;
  if (isWorthless(own)) forget(hub, own);
  return other;
}

/** Returns whether a draft need not be stored: it has at most a tag and a time, or its campaign has the same content.
 * @param {Draft} draft */
function isWorthless(draft) {
  return content({ ...draft, to: "", when: "now", at: "" }) === content(fresh()) && !/[\s&|!]/.test(draft.to.trim()) || draft.campaign?.saved === content(draft);
}

/** Shows the stored drafts that are not in the form.
 * @param {import("../compose.js").Compose} compose */
export function show(compose) {
  const { hub, view } = compose;
  const { t } = view;
  const list = others(hub, compose.draft.id);
  /** @param {Draft} chosen */
  const open = (chosen) => {
    const own = compose.draft;
    compose.take(own.confidential ? chosen : besides(hub, own, chosen));
  };
  /** @param {Draft} draft */
  const discard = (draft) => {
    stored(hub, draft.id);
    forget(hub, draft);
    show(compose);
  };
  const nameOf = (/** @type {Draft} */ draft) => draft.title || draft.text || draft.to || t("title");
  // A draft that was being sent and is gone was sent.
  for (const one of compose.sent.values()) one.isSent = true;
  compose.sent.delete(compose.draft.id);
  for (const draft of list) {
    if (draft.sending) compose.sent.set(draft.id, { name: nameOf(draft), going: underWay.get(draft.key), isSent: false });
    else compose.sent.delete(draft.id);
  }
  const sent = [...compose.sent].filter(([, { isSent }]) => isSent).map(([, one]) => one);
  const isSending = list.some((draft) => draft.sending);
  window.clearTimeout(compose.othersTimer);
  if (isSending && !compose.isLeft) {
    for (const draft of list) if (draft.sending && !underWay.has(draft.key)) goOn(compose, draft);
    compose.othersTimer = window.setTimeout(() => show(compose), 1000);
  }
  // Nothing is drawn again that has not changed, so that a button keeps the focus.
  const shown = JSON.stringify([list.map((draft) => [draft.id, nameOf(draft), Boolean(draft.sending)]), sent.map(({ name }) => name)]);
  if (compose.others.dataset.shown === shown && compose.others.firstChild) return;
  compose.others.dataset.shown = shown;
  put(compose.others, list.length + sent.length > 0 && h("div.notice.quiet-notice", icon("info"), h("div.stack.tight.grow.others", list.length > 0 && h("p", t("drafts", { n: list.length })), list.map((draft) =>
    h("div", h("span.strong.clip", nameOf(draft), draft.sending && h("span.quiet", " ", t("drafts.sending"))),
      h("span.row", h("button", { click: () => open(stored(hub, draft.id) ?? draft) }, t("drafts.open")), !draft.sending && h("button.plain", { click: () => discard(draft) }, t("drafts.discard"))))),
  sent.map(({ name, going }) => h("div", { role: "status" }, h("span.strong.clip", name, h("span.quiet", " ", t("drafts.sent"))), h("a", { href: going?.id ? to.send(hub, going.id) : to.sends(hub) }, t("send.look")))))));
}

/** Asks what became of a send that was asked for before this page was loaded.
 * @param {import("../compose.js").Compose} compose @param {Draft} draft */
async function goOn(compose, draft) {
  await compose.part("out");
  const { goingOf } = await import("../out/going.js");
  goingOf(compose.hub, draft, compose.view, false).turn();
}
