/** Takes over a send, an audience or a campaign as a draft. A draft that was there before is kept beside it, never lost. */

import { call } from "../../../lib/api.js";
import { h, icon, put } from "../../../lib/dom.js";
import { othersKey } from "../../../lib/drafts.js";
import { wallClock } from "../../../lib/zone.js";
import { read } from "../message.js";
import { content, fresh, keep, kept, others } from "../draft.js";

/** @typedef {import("../draft.js").Draft} Draft */

/** So many drafts are kept besides the one in the form. */
const MOST = 20;

/** Takes over what the address names.
 * @param {import("../compose.js").Compose} compose */
export async function take(compose) {
  const { hub, view } = compose;
  const own = kept(hub);
  const campaign = view.query.get("campaign");
  if (campaign) await (await compose.part("campaign")).open(compose, campaign);
  else compose.draft = await made(hub, view.query, view.time.zone) ?? compose.draft;
  // A page that is loaded again shows this draft, with what was changed since.
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

/** Keeps a draft besides another, unless nothing of it would be missed.
 * @param {string} hub @param {Draft} own @param {Draft} other @returns {Draft} The one for the form. */
export function besides(hub, own, other) {
  if (words(own) === words(other)) return own;
  if (isWorthless(own)) return other;
  const list = [own, ...others(hub).filter((one) => words(one) !== words(own) && words(one) !== words(other))].slice(0, MOST);
  try {
    localStorage.setItem(othersKey(hub), JSON.stringify(list));
    return other;
  } catch {
    // There is no room for both.
    return own;
  }
}

/** What a draft says, apart from its id.
 * @param {Draft} draft */
const words = (draft) => content({ ...draft, id: "" });

/** Whether a draft says nothing, or is on the server as it is.
 * @param {Draft} draft */
function isWorthless(draft) {
  return words({ ...draft, to: "", when: "now", at: "" }) === words(fresh()) && !/[\s&|!]/.test(draft.to.trim()) || draft.campaign?.saved === content(draft);
}

/** Shows the other drafts.
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
