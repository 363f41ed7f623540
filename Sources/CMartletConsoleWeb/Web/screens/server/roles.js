/** The roles of an operator: at most one for all hubs, and one for each of some hubs. */

import { freshId, h, icon, put } from "../../lib/dom.js";

const ROLES = ["viewer", "sender", "admin"];

/** @typedef {{role: string, hub: string}} Grant A role and its hub; `hub` is "" for all hubs. */

/** @param {string} text A role as the server writes it, such as `sender` or `sender@shop`. @returns {Grant} */
export function grantOf(text) {
  const [role = "viewer", hub = ""] = text.split("@");
  return { role, hub };
}

/** @param {Grant} grant */
export const textOf = ({ role, hub }) => (hub ? `${role}@${hub}` : role);

/** Returns the hubs for which there is no role yet; first "", which stands for all hubs, if it has no role yet.
 * @param {Grant[]} grants @param {string[]} hubs */
export function free(grants, hubs) {
  const taken = grants.map(({ hub }) => hub.toLowerCase());
  return ["", ...hubs].filter((hub) => !taken.includes(hub.toLowerCase()));
}

/** @param {View} view @param {string[]} texts */
export function roleFields(view, texts) {
  const { t } = view;
  const grants = texts.map(grantOf);
  const hubs = view.session.hubs.map(({ name }) => name);
  const list = h("ul.stack.tight.roles");
  const add = h("button.plain", { click: () => {
    grants.push({ role: "viewer", hub: free(grants, hubs)[0] ?? "" });
    draw(grants.length - 1);
  } }, icon("plus"), t("role.add"));

  /** @param {number} [focused] The row that gets the focus. */
  function draw(focused) {
    put(list, grants.map(row));
    add.hidden = free(grants, hubs).length === 0;
    if (focused !== undefined) list.children[Math.min(focused, grants.length - 1)]?.querySelector("select")?.focus();
  }

  /** @param {Grant} grant @param {number} index */
  function row(grant, index) {
    const ids = [freshId(), freshId()];
    const role = h("select", { id: ids[0], value: grant.role, on: { change: () => { grant.role = role.value; } } }, ROLES.map((name) => h("option", { value: name }, t(`role.${name}.long`))));
    // The role for a deleted hub is kept, so that it applies when the hub is created again.
    const hub = h("select", { id: ids[1], value: grant.hub, on: { change: () => {
      grant.hub = hub.value;
      draw();
      list.children[index]?.querySelectorAll("select")[1]?.focus();
    } } }, [grant.hub, ...free(grants, hubs)].sort().map((name) => h("option", { value: name }, name || t("allHubs"))));
    return h("li", h("div.field", h("label", { for: ids[0] }, t("role")), role), h("div.field", h("label", { for: ids[1] }, t("role.where")), hub),
      h("button.plain", { disabled: grants.length === 1, "aria-label": t("role.removeOf", { role: textOf(grant) }), click: () => {
        grants.splice(index, 1);
        draw(index);
      } }, icon("cross")));
  }

  draw();
  return { node: h("div.stack.tight", list, h("div", add)), read: () => grants.map(textOf) };
}
