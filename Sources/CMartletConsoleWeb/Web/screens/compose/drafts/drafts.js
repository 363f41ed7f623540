/** Makes a draft from a send, an audience or a campaign. A draft that it replaces in the form is stored, and can be
 * opened again. */

import { call } from "../../../lib/api.js";
import { h, icon, put } from "../../../lib/dom.js";
import { othersKey } from "../../../lib/drafts.js";
import { wallClock } from "../../../lib/zone.js";
import { read } from "../message.js";
import { content, fresh, keep, kept, others } from "../draft.js";

/** @typedef {import("../draft.js").Draft} Draft */

/** The maximum number of stored drafts in addition to the one in the form. */
const MOST = 20;

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

/** Stores a draft that another draft replaces in the form, unless it is empty, or equals the other draft or its
 * campaign.
 * @param {string} hub @param {Draft} own @param {Draft} other @returns {Draft} The draft for the form. */
export function besides(hub, own, other) {
  if (words(own) === words(other)) return own;
  if (isWorthless(own)) return other;
  const list = [own, ...others(hub).filter((one) => words(one) !== words(own) && words(one) !== words(other))].slice(0, MOST);
  try {
    localStorage.setItem(othersKey(hub), JSON.stringify(list));
    return other;
  } catch {
    // The browser's storage is full, so the old draft stays in the form.
    return own;
  }
}

/** Returns the content of a draft without its id.
 * @param {Draft} draft */
const words = (draft) => content({ ...draft, id: "" });

/** Returns whether a draft need not be stored: it has at most a tag and a time, or its campaign has the same content.
 * @param {Draft} draft */
function isWorthless(draft) {
  return words({ ...draft, to: "", when: "now", at: "" }) === words(fresh()) && !/[\s&|!]/.test(draft.to.trim()) || draft.campaign?.saved === content(draft);
}

/** Shows the stored drafts that are not in the form.
 * @param {import("../compose.js").Compose} compose */
export function show(compose) {
  const { hub, view } = compose;
  const { t } = view;
  const list = others(hub);
  /** @param {number} index */
  const without = (index) => localStorage.setItem(othersKey(hub), JSON.stringify(list.filter((_, other) => other !== index)));
  /** @param {number} index */
  const open = (index) => {
    const chosen = /** @type {Draft} */ (list[index]);
    const own = compose.draft;
    without(index);
    compose.draft = own.confidential ? chosen : besides(hub, own, chosen);
    keep(hub, compose.draft);
    compose.counted = "";
    compose.sendButton = null;
    compose.draw();
    compose.changed();
  };
  put(compose.others, list.length > 0 && h("div.notice.quiet-notice", icon("info"), h("div.stack.tight.grow.others", h("p", t("drafts", { n: list.length })), list.map((draft, index) =>
    h("div", h("span.strong.clip", draft.title || draft.text || draft.to || t("title")),
      h("span.row", h("button", { click: () => open(index) }, t("drafts.open")), h("button.plain", { click: () => { without(index); show(compose); } }, t("drafts.discard"))))))));
}
