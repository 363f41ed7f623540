/** The backups in the data directory: makes, checks and downloads them. A download needs a recent confirmation of the
 * operator's identity. */

import { address, call, gate } from "../../../lib/api.js";
import { h, icon } from "../../../lib/dom.js";
import { badge } from "../../../lib/screen.js";
import { empty, pane } from "../../../parts/pane/pane.js";
import { commandButton } from "../../../parts/dialog/dialog.js";

/** The milliseconds between two requests for the state of a backup that is being made. */
const INTERVAL = 1000;

/** @param {View} view */
export function show(view) {
  const { t, n } = view;
  const content = pane({
    t, bars: 4, load: (signal) => call("backups", { signal }),
    render: (page) => {
      if (page.work) window.setTimeout(() => content.isConnected && content.reload(), INTERVAL);
      const make = h("button.primary", { click: () => begin("makeBackup"), disabled: page.work !== null }, icon("plus"), t("backup.make"));
      return h("div.stack", h("div.row.between", h("p.quiet.grow", t("backup.text", { n: page.kept })), h("div.row", commandButton(view, "martlet backup FILE", "makeBackup", { body: {} }), make)),
        h("div", { role: "status" }, page.work && h("div.notice", icon("clock"), h("div", h("p", page.work.kind === "make" ? t("backup.making", { size: n.bytes(page.written) }) : t("backup.verifying", { name: page.work.name }))))),
        page.failure && h("div.notice.bad-notice", icon("warn"), h("div", h("p.strong", t("backup.failed")), h("p.quote", { lang: "en" }, page.failure))),
        page.backups.length === 0 ? empty("download", t("backup.none"), t("backup.none.text")) : h("ul.list", page.backups.map((/** @type {any} */ one) => row(one, page.work !== null))));
    },
  });

  /** @param {"makeBackup" | "verifyBackup"} name @param {string} [backup] */
  async function begin(name, backup = "") {
    await call(name, { path: { backup }, body: {} }).catch((error) => view.toast(error.message || t("failed.refused")));
    content.reload();
  }

  /** @param {string} backup */
  async function download(backup) {
    // A download is a link, not a call of `call`, so the operator's identity is confirmed before it begins.
    const { isFresh } = await call("session").catch(() => ({}));
    if (!isFresh && !(await gate.confirm())) return;
    h("a", { href: address("backupFile", { path: { backup } }), download: backup }).click();
  }

  /** @param {boolean} isBusy @param {any} one */
  function row(one, isBusy) {
    const { time } = view;
    const [state, word] = one.isVerified === true ? ["done", t("backup.whole")] : one.isVerified === false ? ["failed", t("backup.damaged")] : ["stopped", t("backup.unread")];
    return h("li", h("div.item.backup", h("div.whose", h("span.strong.number", time.full(one.createdAt)), h("span.quiet.small", [n.bytes(one.bytes), time.relative(one.createdAt), one.isBeforeUpgrade ? t("backup.beforeUpgrade") : null].filter(Boolean).join(" · ")), one.problem && h("span.quote.small", { lang: "en" }, one.problem)),
      badge(state, word),
      h("div.row", h("button", { click: () => begin("verifyBackup", one.name), disabled: isBusy, "aria-label": t("backup.verifyOf", { time: time.full(one.createdAt) }) }, t("backup.verify")), h("button", { click: () => download(one.name), "aria-label": t("backup.downloadOf", { time: time.full(one.createdAt) }) }, icon("download"), t("backup.download")))));
  }
  return content;
}
