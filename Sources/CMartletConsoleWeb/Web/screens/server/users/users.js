/** The users of the app backend: finds them by the beginning of their names, and shows and changes one of them. A name is
 * never in an address. */

import { call } from "../../../lib/api.js";
import { freshId, h, icon, put } from "../../../lib/dom.js";
import { failure, path } from "../../../lib/screen.js";
import { empty, pane } from "../../../parts/pane/pane.js";
import { ask } from "../../../parts/dialog/ask.js";
import { commandButton, copyable, openDialog } from "../../../parts/dialog/dialog.js";

/** The number of users that are read at a time. */
const PAGE = 50;
/** The beginning of a role that stands for a group. */
const GROUP = "group:";
/** The characters of a new password: 32, without those that look alike. */
const CHARACTERS = "abcdefghijkmnpqrstuvwxyz23456789";
/** The properties of an input for a name. */
const NAME = { autocomplete: "off", autocapitalize: "none", spellcheck: "false" };

/** @param {View} view */
export function show(view) {
  const { t } = view;
  const id = freshId();
  const input = h("input", { id, type: "search", maxlength: 256, ...NAME });
  const list = h("ul.list.users");
  const more = h("div.row.center");
  // The beginning that was last searched for, and that of the list: a search may have failed.
  let [prefix, shown] = ["", ""];
  /** @param {string | null} [after] */
  const query = (after = null) => ({ prefix: (after ? shown : prefix) || null, after, limit: PAGE });
  /** @param {any} page */
  function add({ users, next }) {
    list.append(...users.map(item));
    put(more, next && h("button", { click: () => further(next) }, t("users.more")));
  }
  /** @param {string} after @returns {Promise<any>} */
  const further = (after) => call("users", { query: query(after) }).then(add, (error) => put(more, failure(t, error, () => further(after))));
  const content = pane({
    t, bars: 5, load: (signal) => call("users", { query: query(), signal }),
    render: (page) => {
      shown = prefix;
      if (page.users.length === 0) return prefix ? empty("search", t("users.noMatch"), "") : empty("people", t("users.none"), t("users.none.text"));
      list.replaceChildren();
      add(page);
      return h("div.stack", list, more);
    },
  });
  /** @param {Event} event */
  function find(event) {
    event.preventDefault();
    prefix = input.value.trim();
    content.reload();
  }
  /** @param {any} user */
  function item({ name, roles }) {
    return h("li", h("div.item", h("span.strong.clip", name), chips(roles),
      h("div.row", view.hub && h("button", { click: () => showDevices(view, name), "aria-label": t("users.devicesOf", { name }) }, t("users.devices")),
        h("button", { click: () => open(view, name, content.reload), "aria-label": t("users.accountOf", { name }) }, t("users.account")))));
  }
  return h("div.stack", h("div.row.between", h("p.quiet.grow", t("users.text")), commandButton(view, "martlet user list", "users", () => ({ query: query() }))),
    h("form.row", { role: "search", on: { submit: find } }, h("div.grow", h("label.unseen", { for: id }, t("users.prefix")), h("div.search", icon("search"), input)), h("button", t("users.find"))),
    content);
}

/** Opens the search for a user's devices in the chosen hub.
 * @param {View} view @param {string} name */
function showDevices(view, name) {
  sessionStorage.setItem("search", name);
  view.go(path("hubs", view.hub, "people"));
}

/** @param {string[]} roles @param {(role: string) => any} [action] Returns what follows a role. */
const chips = (roles, action) => h("span.row", roles.map((role) => h("span.chip", h("span.clip", role), action?.(role))));

/** Opens a dialog with a user's roles and sessions.
 * @param {View} view @param {string} name @param {() => void} changed */
function open(view, name, changed) {
  const { t, n, time } = view;
  const { isServerAdmin } = view.session;
  const options = { path: { name } };
  const problem = h("div", { "aria-live": "polite" });
  /** @param {Promise<any>} work */
  async function act(work) {
    try {
      await work;
      put(problem);
      changed();
      content.reload();
    } catch (error) {
      put(problem, failure(t, error, null));
    }
  }
  /** @param {string} role */
  const take = (role) => act(role.startsWith(GROUP) ? call("removeUserGroup", { path: { name, group: role.slice(GROUP.length) } }) : call("removeUserRole", { path: { name, role } }));
  const id = freshId();
  const added = h("input", { id, required: true, maxlength: 64, ...NAME });
  /** @param {Event} event */
  function give(event) {
    event.preventDefault();
    act(call("addUserRole", { path: { name, role: added.value } }).then(() => { added.value = ""; }));
  }
  const content = pane({
    t, load: (signal) => call("user", { ...options, signal }),
    render: ({ createdAt, sessions, roles }) => h("dl.facts", [
      [t("users.made"), time.full(createdAt)],
      [t("users.sessions"), h("div.row", n.whole(sessions), isServerAdmin && sessions > 0 && h("button", { click: () => act(call("endUserSessions", options)) }, t("endSessions")))],
      [t("roles"), roles.length === 0 ? t("users.noRoles") : chips(roles, (role) => isServerAdmin && h("button", { "aria-label": t("role.removeOf", { role }), click: () => take(role) }, icon("cross")))],
    ].map(([key, value]) => [h("dt", key), h("dd", value)])),
  });
  async function renew() {
    if (!(await ask(view, { title: t("users.renew"), text: t("users.renew.text", { name }), yes: t("users.renew"), isDanger: true }))) return;
    const password = newPassword();
    // With the condition, a user whom another operator has removed meanwhile is not added again.
    act(call("putUser", { ...options, fields: { "if-match": "*" }, body: { password } }).then(() => openDialog(t("users.renew"), [h("p", t("users.renewed", { name })), copyable(view, password)])));
  }
  async function remove() {
    if (!(await ask(view, { title: t("users.remove"), text: t("users.remove.text"), yes: t("users.remove"), isDanger: true, typed: name, typedLabel: t("users.typed", { name }) }))) return;
    await act(call("deleteUser", options).then(() => dialog.close()));
  }
  const dialog = openDialog(name, [content, isServerAdmin && [
    h("form.row", { on: { submit: give } }, h("div.grow.field", h("label", { for: id }, t("role.add")), added), h("button", t("users.give"))),
    h("div.row", h("button", { click: renew }, t("users.renew")), h("button.danger", { click: remove }, t("users.remove")),
      commandButton(view, (code) => `martlet user end-sessions ${code.quoted(name)}`, "endUserSessions", options))],
  problem, h("div.actions", h("button", { click: () => dialog.close(), autofocus: true }, t("close")))]);
}

/** Returns a password of 20 characters, 100 random bits. */
export const newPassword = () => Array.from(crypto.getRandomValues(new Uint8Array(20)), (byte) => CHARACTERS[byte & 31]).join("");
