/** Opens and saves campaigns. A campaign is a draft with a name, stored at the server, so that other operators can
 * continue it. */

import { call, Refusal } from "../../../lib/api.js";
import { freshId, h, icon } from "../../../lib/dom.js";
import { to } from "../../../lib/screen.js";
import { ask } from "../../../parts/dialog/ask.js";
import { formDialog } from "../../../parts/dialog/form.js";
import { content, fresh, kept } from "../draft.js";
import { among, question } from "../out/going.js";
import { became, useKey } from "../sending.js";

/**
 * Opens a campaign. If this browser has unsaved changes of the campaign, they are kept. If the campaign has changed at
 * the server too, the operator is asked which version to use.
 *
 * @param {import("../compose.js").Compose} compose
 * @param {string} id
 */
export async function open(compose, id) {
  const { hub, view } = compose;
  const found = await call("campaign", { path: { hub, id } });
  const draft = stored(found);
  if (found.send) {
    // A campaign that was sent cannot change any more, so the draft is a copy that belongs to no campaign.
    compose.draft = { ...draft, campaign: null };
    const status = await call("status", { path: { hub, id: found.send } }).catch(() => null);
    compose.note = sentNote(view, hub, "campaign.wasSentBy", { id: found.send, author: status?.author ?? "" });
    return;
  }
  const other = found.draft.asked ? await asked(hub, found.draft.asked) : null;
  const state = other && became(other);
  // The page that asked for it may have been closed before it was recorded.
  if (state === "begun") call("recordCampaignSend", { path: { hub, id }, body: { notification: other.id } }).catch(() => {});
  if (other && state !== "undone") compose.note = sentNote(view, hub, became(other) === "due" ? "campaign.goesOut" : "campaign.sentBy", other);
  compose.draft = draft;
  const own = kept(hub);
  if (!own?.campaign || own.campaign.id !== found.id || own.campaign.saved === content(own)) return;
  const isNewer = own.campaign.version !== found.version;
  const takesNewer = isNewer && await ask(view, { title: view.t("campaign.newer"), text: view.t("campaign.newer.text", change(view, found)), yes: view.t("campaign.newer.yes") });
  if (!takesNewer) compose.draft = own;
}

/**
 * Returns the draft of a campaign as it is stored at the server.
 * @param {any} found @returns {import("../draft.js").Draft} */
function stored(found) {
  const draft = { ...fresh(), ...found.draft };
  const { id, key, keyOf, changedAt, sending } = fresh();
  Object.assign(draft, { id, key, keyOf, changedAt, sending });
  delete /** @type {any} */ (draft).asked;
  draft.campaign = { id: String(found.id), name: String(found.name), version: Number(found.version), saved: content(draft) };
  return draft;
}

/**
 * Returns who changed a campaign last, and when.
 * @param {View} view @param {any} found */
function change(view, found) {
  return { name: String(found.changedBy).replace(/^operator:/, ""), time: view.time.brief(found.changedAt) };
}

/**
 * Saves the draft to its campaign; to a new campaign if it belongs to none.
 *
 * @param {import("../compose.js").Compose} compose
 * @param {boolean} isNew Whether to save it as a new campaign in any case.
 * @returns {Promise<boolean>} Whether the draft was saved.
 */
export async function save(compose, isNew) {
  const { draft, view } = compose;
  if (draft.confidential) {
    view.toast(view.t("campaign.confidential"));
    return false;
  }
  return draft.campaign && !isNew ? replace(compose, draft.campaign.version) : add(compose);
}

/** @param {import("../compose.js").Compose} compose @returns {Promise<boolean>} */
function add(compose) {
  const { view, hub, draft } = compose;
  const { t } = view;
  const id = freshId();
  const input = h("input", { id, required: true, maxlength: 100, value: draft.title.slice(0, 100), autocomplete: "off", autofocus: true });
  return new Promise((resolve) => {
    let isSaved = false;
    const dialog = formDialog(view, t("campaign.save"), [h("p.quiet", t("campaign.text")), h("div.field", h("label", { for: id }, t("campaign.name")), input)], t("save"), async () => {
      saved(compose, await call("addCampaign", { path: { hub }, body: { name: input.value.trim(), draft: JSON.parse(content(draft)) } }));
      isSaved = true;
    });
    dialog.addEventListener("close", () => resolve(isSaved));
  });
}

/** @param {import("../compose.js").Compose} compose @param {number} version
 * @param {{by: string, at: string, dues: string[], key: string}} [asked] A note that the operator sends it.
 * @returns {Promise<boolean>} */
async function replace(compose, version, asked) {
  const { view, hub, draft } = compose;
  const { t } = view;
  const { id, name } = draft.campaign ?? { id: "", name: "" };
  try {
    saved(compose, await call("saveCampaign", { path: { hub, id }, body: { name, draft: { ...JSON.parse(content(draft)), ...(asked && { asked }) }, version } }), Boolean(asked));
    return true;
  } catch (error) {
    const status = error instanceof Refusal ? error.status : 0;
    const found = status === 409 ? await call("campaign", { path: { hub, id } }).catch(() => null) : null;
    if (found?.send || status === 404) {
      draft.campaign = null;
      compose.changed();
      view.toast(t(found?.send ? "campaign.wasSent" : "campaign.gone"));
      return false;
    }
    if (!found) {
      if (asked) throw error;
      view.toast(error.message || t("failed.unreachable"));
      return false;
    }
    const isSure = await ask(view, { title: t("campaign.conflict"), text: t("campaign.conflict.text", change(view, found)), yes: t("campaign.conflict.yes"), isDanger: true });
    return isSure && replace(compose, found.version, asked);
  }
}

/** Returns the send that somebody has asked for from a campaign, as the campaign notes it; null if the server has none.
 * @param {string} hub @param {{by: string, at: string, dues: string[]}} note */
const asked = (hub, { by, at, dues }) => among(hub, by, { asked: at, dues });

/** @param {View} view @param {string} hub @param {string} key @param {{id: string, author: string}} send */
function sentNote(view, hub, key, send) {
  return h("div.notice.quiet-notice", icon("info"), h("p", view.t(key, { name: send.author.replace(/^operator:/, "") || view.t("unknown") }), " ", h("a", { href: to.send(hub, send.id) }, view.t("send.look"))));
}

/**
 * Saves the draft to its campaign before it is sent, with a note of who sends it and when, by which others see it.
 *
 * @param {import("../compose.js").Compose} compose @param {string} at The server's time. @param {string} due
 * @returns {Promise<boolean>} Whether it was saved: not if somebody else has sent it, or has changed it.
 */
export async function claim(compose, at, due) {
  const { view, hub, draft } = compose;
  const id = draft.campaign?.id ?? "";
  const found = await question("campaign", { path: { hub, id } }, undefined, 20_000).catch((error) => {
    if (error instanceof Refusal && error.status === 404) return null;
    throw error;
  });
  const mine = { by: view.session.operator, at, dues: [due], key: draft.key };
  const note = found?.draft.asked;
  if (found?.send) {
    const status = await question("status", { path: { hub, id: found.send } }).catch(() => null);
    draft.campaign = null;
    compose.changed();
    compose.tell(sentNote(view, hub, "campaign.wasSentBy", { id: found.send, author: status?.author ?? "" }));
    return false;
  }
  const isOthers = note && note.key !== draft.key;
  const other = isOthers ? await asked(hub, note) : null;
  if (other && became(other) !== "undone") {
    compose.tell(sentNote(view, hub, became(other) === "due" ? "campaign.goesOut" : "campaign.sentBy", other));
    return false;
  }
  const isSame = found && content(stored(found)) === content(draft);
  if (isOthers && isSame && !other) {
    // The other's request may still arrive. With the same key, only one of the two is accepted.
    draft.keyOf = "";
    useKey(draft, note.key);
    mine.key = note.key;
  }
  return replace(compose, isSame ? found.version : draft.campaign?.version ?? 0, mine);
}

/** @param {import("../compose.js").Compose} compose @param {any} answer @param {boolean} [isSend] Whether it is sent now. */
function saved(compose, answer, isSend = false) {
  const { view, draft, hub } = compose;
  const { campaign } = stored(answer);
  draft.campaign = campaign && { ...campaign, saved: content(draft) };
  if (isSend) return;
  compose.changed();
  history.replaceState(null, "", `${to.sends(hub)}/new?campaign=${answer.id}`);
  view.toast(view.t("campaign.saved", { name: answer.name }));
}
