/** The keys that encrypt secrets in the database: lists their ids, adds a new key, and removes old ones. */

import { call } from "../../../lib/api.js";
import { h, icon, put } from "../../../lib/dom.js";
import { badge, failure } from "../../../lib/screen.js";
import { pane } from "../../../parts/pane/pane.js";
import { ask } from "../../../parts/dialog/ask.js";
import { commandButton } from "../../../parts/dialog/dialog.js";

/** @param {View} view */
export function show(view) {
  const { t } = view;
  const state = h("div", { role: "status" });
  const content = pane({
    t, load: (signal) => call("serverKeys", { signal }),
    render: ({ keys, left }) => h("div.stack",
      left > 0 && h("div.notice.warn-notice", icon("info"), h("div", h("p", t("keys.left", { n: left })), h("button", { click: () => act(reseal) }, t("keys.reseal")))),
      h("ul.list", keys.map(item)),
      keys.length > 1 && left === 0 && h("div.row", h("button.danger", { click: retire }, t("keys.retire")), commandButton(view, "martlet server-key retire", "retireServerKeys"))),
  });

  /** @param {string} id @param {number} index */
  function item(id, index) {
    const [state, word] = index === 0 ? ["done", "keys.newest"] : ["stopped", "keys.older"];
    return h("li", h("div.item.listener", h("code.break.strong", id), badge(state, t(word))));
  }

  /** @param {() => Promise<any>} work */
  async function act(work) {
    put(state, h("div.notice", icon("clock"), h("p", t("keys.working"))));
    try {
      await work();
      put(state);
    } catch (error) {
      put(state, failure(t, error, null));
    }
    content.reload();
  }

  /** Encrypts secrets with the newest key until none is left. One request does it for some seconds. */
  async function reseal() {
    for (let before = Infinity; ;) {
      const { left } = await call("resealSecrets");
      if (left === 0 || left >= before || !content.isConnected) return;
      before = left;
    }
  }

  async function rotate() {
    if (!(await ask(view, { title: t("keys.rotate"), text: t("keys.rotate.text"), yes: t("keys.rotate") }))) return;
    await act(() => call("rotateServerKey").then(reseal));
  }

  async function retire() {
    if (!(await ask(view, { title: t("keys.retire"), text: t("keys.retire.text"), yes: t("keys.retire"), isDanger: true, typed: "retire", typedLabel: t("keys.retire.typed", { word: "retire" }) }))) return;
    await act(() => call("retireServerKeys"));
  }

  return h("div.stack", h("div.row.between", h("p.quiet.grow", t("keys.text")), h("div.row", commandButton(view, "martlet server-key rotate", "rotateServerKey"), h("button.primary", { click: rotate }, icon("key"), t("keys.rotate")))), state, content);
}
