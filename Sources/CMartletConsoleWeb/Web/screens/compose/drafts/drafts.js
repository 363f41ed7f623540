/** Makes a draft from a send, an audience or a campaign. A draft that it replaces in the form is stored, and can be
 * opened again. */

import { call } from "../../../lib/api.js";
import { h, icon, put } from "../../../lib/dom.js";
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
  put(compose.others, list.length > 0 && h("div.notice.quiet-notice", icon("info"), h("div.stack.tight.grow.others", h("p", t("drafts", { n: list.length })), list.map((draft) =>
    h("div", h("span.strong.clip", draft.title || draft.text || draft.to || t("title"), draft.sending && h("span.quiet", " ", t("drafts.sending"))),
      h("span.row", h("button", { click: () => open(draft) }, t("drafts.open")), !draft.sending && h("button.plain", { click: () => discard(draft) }, t("drafts.discard"))))))));
}
