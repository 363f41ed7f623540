/** The settings of a hub: its limits, and a button that deletes the hub. */

import { call } from "../../../lib/api.js";
import { freshId, h } from "../../../lib/dom.js";
import { ask } from "../../../parts/dialog/ask.js";
import { commandButton } from "../../../parts/dialog/dialog.js";
import { formDialog } from "../../../parts/dialog/form.js";
import { freshPane } from "../../../parts/pane/fresh.js";

/** The limits that can be changed, each with the option of `martlet hub limits` that sets it. */
const LIMITS = /** @type {const} */ ([["requestRate", "requests"], ["backlog", "backlog"]]);

/** @param {View} view */
export function settings(view) {
  const { t, n, hub } = view;
  const isAdmin = view.role(hub) === "admin";
  const content = freshPane({
    t, bars: 3, load: (signal) => call("limits", { path: { hub }, signal }),
    render: (found) => h("div.stack.tight", h("dl.facts.card", [
      ...LIMITS.map(([name]) => [name, h("span", n.whole(found[name] ?? found.usual[name]), found[name] === null && h("span.quiet.small", " ", t("limit.usual")))]),
      ["unfinished", n.whole(found.unfinished.notifications)], ["bytes", n.bytes(found.unfinished.bytes)],
    ].map(([name, value]) => [h("dt", t(`limit.${name}`)), h("dd.number", value)])),
    h("div.row", isAdmin && h("button", { click: () => change(view, found, () => content.reload()) }, t("limit.change")),
      commandButton(view, `martlet hub limits ${hub}`, "limits", { path: { hub } }))),
  });
  return h("div.stack.loose", h("section.stack.tight", h("h2", t("limits")), content),
    view.session.isServerAdmin && h("section.stack.tight", h("h2", t("delete")), h("p.quiet", t("delete.text")), h("div", h("button.danger", { click: () => deleteHub(view) }, t("delete.yes")))));
}

/** Returns only those limits that are not as they were found. The others stay as they are on the server, where somebody
 * else may have changed them since.
 * @param {Record<string, number | null>} found @param {Record<string, number | null>} wanted */
export function changed(found, wanted) {
  return Object.fromEntries(Object.entries(wanted).filter(([name, value]) => value !== (found[name] ?? null)));
}

/** Returns the line of `martlet` that changes limits; the one that shows them if there is no change.
 * @param {string} hub @param {Record<string, number | null>} limits */
export function commandOf(hub, limits) {
  const options = LIMITS.flatMap(([name, option]) => (name in limits ? [`--${option} ${limits[name] ?? "usual"}`] : []));
  return ["martlet hub limits", hub, ...options].join(" ");
}

/** @param {View} view @param {any} found @param {() => void} reload */
function change(view, found, reload) {
  const { t, n, hub } = view;
  const inputs = LIMITS.map(([name]) => {
    const id = freshId();
    const input = h("input", { id, type: "number", min: 1, step: 1, value: found[name] ?? "", autocomplete: "off" });
    return { name, input, node: h("div.field", h("label", { for: id }, t(`limit.${name}`)), input, h("p.help", t("limit.empty", { usual: n.whole(found.usual[name]) }))) };
  });
  const body = () => changed(found, Object.fromEntries(inputs.map(({ name, input }) => [name, input.value === "" ? null : Number(input.value)])));
  const line = () => commandOf(hub, body());
  formDialog(view, t("limit.change"), [inputs.map(({ node }) => node), h("div.row", commandButton(view, line, "setLimits", () => ({ path: { hub }, body: body() })))], t("limit.save"), async () => {
    if (Object.keys(body()).length > 0) await call("setLimits", { path: { hub }, body: body() });
    reload();
  });
}

/** @param {View} view */
async function deleteHub(view) {
  const { t, hub } = view;
  if (!(await ask(view, { title: t("delete.title", { hub }), text: t("delete.text"), yes: t("delete.yes"), isDanger: true, typed: hub, typedLabel: t("delete.typed", { hub }) }))) return;
  try {
    await call("deleteHub", { path: { hub } });
    localStorage.removeItem("hub");
    history.pushState(null, "", "/console/");
    await view.refreshSession();
  } catch (error) {
    view.toast(error.message || t("failed.refused"));
  }
}
