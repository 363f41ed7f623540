/** Sends that wait for their time: an agenda by day. */

import { call } from "../../lib/api.js";
import { freshId, h, icon, put } from "../../lib/dom.js";
import { failure, to } from "../../lib/screen.js";
import { instants, wallClock } from "../../lib/zone.js";
import { empty, pane } from "../../parts/pane/pane.js";
import { ask } from "../../parts/dialog/ask.js";
import { openDialog } from "../../parts/dialog/dialog.js";

const API = { "api-version": "2020-06" };

/**
 * @param {import("../../lib/screen.js").View} view
 * @returns {import("../../lib/screen.js").Screen}
 */
export function screen(view) {
  const { t, hub } = view;
  const content = pane({
    t, bars: 5, load: (signal) => call("sends", { path: { hub }, query: { state: "scheduled", limit: 100 }, signal }),
    render: (page) => agenda(view, page.sends, () => content.reload()),
  });
  const links = [["all", to.sends(hub)], ["waiting", `${to.sends(hub)}/waiting`], ["failed", `${to.sends(hub)}/failed`]];
  const node = h("div.stack", h("div.head", h("div", h("h1", t("title")), h("p.quiet", t("subtitle", { zone: view.time.name() })))),
    h("nav.tabs", { "aria-label": t("place.sends") }, links.map(([name, href]) => h("a", { href, "aria-current": name === "waiting" ? "page" : null }, t(`tab.${name}`)))), content);
  return { title: t("title"), node };
}

/**
 * @param {import("../../lib/screen.js").View} view
 * @param {any[]} sends
 * @param {() => void} reload
 */
function agenda(view, sends, reload) {
  const { t, time, hub } = view;
  const waiting = sends.filter((send) => send.dueAt).sort((one, other) => one.dueAt.localeCompare(other.dueAt));
  if (waiting.length === 0) {
    return empty("clock", t("none"), t("none.text"), view.role(hub) !== "viewer" && h("a.button.primary", { href: `${to.sends(hub)}/new` }, icon("plus"), t("newSend")));
  }
  /** @type {Map<string, any[]>} */
  const days = new Map();
  for (const send of waiting) days.set(time.weekday(send.dueAt), [...(days.get(time.weekday(send.dueAt)) ?? []), send]);
  return h("div.stack.loose", [...days].map(([day, list]) => h("section.stack.tight", h("h2", day), h("ul.list.agenda", list.map((send) => h("li", h("div.item",
    h("time.strong.number", { datetime: send.dueAt }, time.minute(send.dueAt)),
    h("a.whose", { href: to.send(hub, send.id) }, h("span.strong.clip", send.isConfidential ? t("confidential") : send.text ?? t("sendOf", { id: send.id.slice(0, 8) })),
      h("span.quiet.small.clip", [send.isToOneUser ? t("oneUser") : send.expression ?? t("everybody"), time.relative(send.dueAt)].join(" · "))),
    view.role(hub) !== "viewer" && h("div.row", h("button", { type: "button", on: { click: () => change(view, send, reload) } }, t("change")),
      h("button.danger", { type: "button", on: { click: () => withdraw(view, send, reload) } }, t("withdraw"))))))))));
}

/**
 * @param {import("../../lib/screen.js").View} view
 * @param {any} send
 * @param {() => void} reload
 */
async function withdraw(view, send, reload) {
  const { t, hub } = view;
  const isSure = await ask(view, { title: t("withdraw.title"), text: t("withdraw.text"), yes: t("withdraw"), isDanger: true });
  if (!isSure) return;
  try {
    await call("withdraw", { path: { hub, id: send.id }, query: API });
    view.toast(t("withdraw.done"));
  } catch (error) {
    view.toast(/** @type {any} */ (error).message || t("failed.refused"));
  }
  reload();
}

/**
 * @param {import("../../lib/screen.js").View} view
 * @param {any} send
 * @param {() => void} reload
 */
async function change(view, send, reload) {
  const { t, time, hub } = view;
  const full = await call("send", { path: { hub, id: send.id } }).catch(() => send);
  const id = freshId();
  const input = h("input", { id, type: "datetime-local", value: wallClock(new Date(send.dueAt), time.zone), required: true, autofocus: true });
  const problem = h("div");
  const note = h("p.quiet.small.number");
  const update = () => {
    const [first] = instants(input.value, time.zone);
    put(note, first ? `${time.full(first)} · ${first.toISOString().slice(0, 16).replace("T", " ")} UTC` : t("change.none"));
  };
  input.addEventListener("input", update);
  update();
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const [at] = instants(input.value, time.zone);
    if (!at) return;
    try {
      if (full.content?.body === undefined) throw new Error(t("change.withheld"));
      /** @type {Record<string, string>} */
      const fields = { ...full.content.fields, "servicebusnotification-scheduletime": at.toISOString() };
      if (!fields["servicebusnotification-format"]) fields["servicebusnotification-format"] = send.kind === "message" ? "message" : send.kind === "template" ? "template" : String(send.platform);
      if (send.expression) fields["servicebusnotification-tags"] = send.expression;
      else fields["martlet-everybody"] = "true";
      await call("reschedule", { path: { hub, id: send.id }, query: API, fields, body: JSON.parse(full.content.body) });
      dialog.close();
      view.toast(t("change.done"));
      reload();
    } catch (error) {
      put(problem, failure(t, error, null));
    }
  };
  const dialog = openDialog(t("change.title"), [h("form", { on: { submit } }, h("div.field", h("label", { for: id }, t("change.time", { zone: time.name() })), input, note), problem,
    h("div.actions", h("button", { type: "button", on: { click: () => dialog.close() } }, t("cancel")), h("button.primary", t("change.yes"))))]);
}
