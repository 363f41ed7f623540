/** Opens and saves campaigns. A campaign is a draft with a name, stored at the server, so that other operators can
 * continue it. */

import { call, Refusal } from "../../../lib/api.js";
import { freshId, h } from "../../../lib/dom.js";
import { to } from "../../../lib/screen.js";
import { ask } from "../../../parts/dialog/ask.js";
import { formDialog } from "../../../parts/dialog/form.js";
import { content, fresh, kept } from "../draft.js";

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
    compose.draft = { ...draft, id: fresh().id, campaign: null };
    view.toast(view.t("campaign.wasSent"));
    return;
  }
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

/** @param {import("../compose.js").Compose} compose @param {number} version @returns {Promise<boolean>} */
async function replace(compose, version) {
  const { view, hub, draft } = compose;
  const { t } = view;
  const { id, name } = draft.campaign ?? { id: "", name: "" };
  try {
    saved(compose, await call("saveCampaign", { path: { hub, id }, body: { name, draft: JSON.parse(content(draft)), version } }));
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
      view.toast(error.message || t("failed.unreachable"));
      return false;
    }
    const isSure = await ask(view, { title: t("campaign.conflict"), text: t("campaign.conflict.text", change(view, found)), yes: t("campaign.conflict.yes"), isDanger: true });
    return isSure && replace(compose, found.version);
  }
}

/** @param {import("../compose.js").Compose} compose @param {any} answer */
function saved(compose, answer) {
  const { view, draft, hub } = compose;
  const { campaign } = stored(answer);
  draft.campaign = campaign && { ...campaign, saved: content(draft) };
  compose.changed();
  history.replaceState(null, "", `${to.sends(hub)}/new?campaign=${answer.id}`);
  view.toast(view.t("campaign.saved", { name: answer.name }));
}
