/** The screen of sends that wait: held sends, and scheduled sends as a list by day or as a month. */

import { call } from "../../lib/api.js";
import { freshId, h, icon, put } from "../../lib/dom.js";
import { stateBadge, to } from "../../lib/screen.js";
import { instants, wallClock } from "../../lib/zone.js";
import { empty, pane, sendTabs } from "../../parts/pane/pane.js";
import { ask } from "../../parts/dialog/ask.js";
import { formDialog } from "../../parts/dialog/form.js";
import { heldLine, loadHeld } from "../../parts/held/held.js";

const API = { "api-version": "2020-06" };
/** If a scheduled send is to go out now, it begins after this many seconds, in which it can still be withdrawn. */
const SOON = 10;
const FORMS = /** @type {const} */ (["agenda", "month"]);

/** @param {View} view @returns {OpenScreen} */
export function screen(view) {
  const { t, hub } = view;
  // On a narrow screen the list is the default, because a month does not fit.
  let form = localStorage.getItem("waiting") ?? (matchMedia("(width < 48rem)").matches ? "agenda" : "month");
  const content = pane({
    t, bars: 5, load: async (signal) => {
      const list = (/** @type {string} */ state) => call("sends", { path: { hub }, query: { state, limit: 100 }, signal });
      const [page, held, month] = await Promise.all([list("scheduled"), list("held"), form === "month" ? import("./month.js") : null, loadHeld(view)]);
      return { sends: page.sends, held: held.sends, month };
    },
    render: ({ sends, held, month }) => {
      const waiting = sends.filter((/** @type {any} */ send) => send.dueAt).sort((/** @type {any} */ one, /** @type {any} */ other) => one.dueAt.localeCompare(other.dueAt));
      const again = () => content.reload();
      const top = held.length > 0 && h("section.stack.tight", h("h2", t("held")), h("ul.list", held.map((/** @type {any} */ send) => heldRow(view, send, again))));
      if (waiting.length === 0 && !top) return empty("clock", t("none"), t("none.text"), view.role(hub) !== "viewer" && h("a.button.primary", { href: `${to.sends(hub)}/new` }, icon("plus"), t("newSend")));
      return h("div.stack.loose", top, waiting.length > 0 && (month ? month.month(view, waiting, (/** @type {any} */ list) => rows(view, list, again)) : agenda(view, waiting, again)));
    },
  });
  const forms = h("div.segments", { role: "group", "aria-label": t("form") }, FORMS.map((name) => h("button", { "aria-pressed": String(name === form), click: () => {
    form = name;
    localStorage.setItem("waiting", name);
    forms.querySelectorAll("button").forEach((/** @type {any} */ button, /** @type {number} */ index) => button.setAttribute("aria-pressed", String(FORMS[index] === name)));
    content.reload();
  } }, t(`form.${name}`))));
  const node = h("div.stack", h("div.head", h("div", h("h1", t("title")), h("p.quiet", t("subtitle", { zone: view.time.name() }))), forms), sendTabs(view, "waiting"), content);
  return { title: t("title"), node };
}

/** @param {View} view @param {any[]} waiting @param {() => void} reload */
function agenda(view, waiting, reload) {
  /** @type {Map<string, any[]>} */
  const days = new Map();
  for (const send of waiting) {
    const day = view.time.weekday(send.dueAt);
    days.set(day, [...(days.get(day) ?? []), send]);
  }
  return h("div.stack.loose", [...days].map(([day, list]) => h("section.stack.tight", h("h2", day), rows(view, list, reload))));
}

/** @param {View} view @param {any} send */
const nameOf = ({ t }, send) => (send.isConfidential ? t("confidential") : send.text ?? t("sendOf", { id: send.id.slice(-8) }));

/** @param {View} view @param {any} send */
const audienceOf = ({ t }, send) => (send.isToOneUser ? t("oneUser") : send.expression ?? t("everybody"));

/** @param {View} view @param {any} send @param {() => void} reload */
function heldRow(view, send, reload) {
  const path = { hub: view.hub, id: send.id };
  return h("li", h("div.item.held-item",
    h("a.whose", { href: to.send(view.hub, send.id) }, h("span.strong.clip", nameOf(view, send)), h("span.quiet.small.clip", audienceOf(view, send))),
    stateBadge(view.t, send), heldLine(view, path, send, reload)));
}

/** @param {View} view @param {any[]} list @param {() => void} reload */
function rows(view, list, reload) {
  const { t, time, hub } = view;
  return h("ul.list.agenda", list.map((send) =>
    h("li", h("div.item",
      h("time.strong.number", { datetime: send.dueAt }, time.minute(send.dueAt)),
      h("a.whose", { href: to.send(hub, send.id) }, h("span.strong.clip", nameOf(view, send)),
        h("span.quiet.small.clip", [audienceOf(view, send), time.relative(send.dueAt)].join(" · "))),
      view.role(hub) !== "viewer" && h("div.row", send.kind === "message" && !send.isConfidential && !send.isToOneUser && h("a.button", { href: `${to.sends(hub)}/new?change=${encodeURIComponent(send.id)}` }, t("edit")), h("button", { click: () => change(view, send, reload) }, t("change")),
        h("button", { click: () => sendNow(view, send, reload) }, t("now")), h("button.danger", { click: () => withdraw(view, send, reload) }, t("withdraw")))))));
}

/** @param {View} view @param {any} send @param {() => void} reload */
async function withdraw(view, send, reload) {
  const { t, hub } = view;
  if (!(await ask(view, { title: t("withdraw.title"), text: t("withdraw.text"), yes: t("withdraw"), isDanger: true }))) return;
  await call("withdraw", { path: { hub, id: send.id }, query: API }).then(() => view.toast(t("withdraw.done")), (error) => view.toast(error.message || t("failed.refused")));
  reload();
}

/** @param {View} view @param {any} send @param {() => void} reload */
async function sendNow(view, send, reload) {
  const { t, hub } = view;
  if (!(await ask(view, { title: t("now.title"), text: t("now.text", { n: SOON }), yes: t("now") }))) return;
  try {
    await move(view, send, new Date(Date.parse((await call("session")).now) + SOON * 1000));
    view.go(to.send(hub, send.id));
  } catch (error) {
    view.toast(error.message || t("failed.refused"));
    reload();
  }
}

/** Changes the time of a scheduled send and nothing else.
 * @param {View} view @param {any} send @param {Date} at */
async function move({ t, hub }, send, at) {
  const { content } = await call("send", { path: { hub, id: send.id } });
  if (content?.body === undefined) throw new Error(t("change.withheld"));
  /** @type {Record<string, string>} */
  const fields = { ...content.fields, "servicebusnotification-scheduletime": at.toISOString() };
  fields["servicebusnotification-format"] ??= send.kind === "message" ? "message" : send.kind === "template" ? "template" : String(send.platform);
  if (send.expression) fields["servicebusnotification-tags"] = send.expression;
  else fields["martlet-everybody"] = "true";
  await call("reschedule", { path: { hub, id: send.id }, query: API, fields, body: JSON.parse(content.body) });
}

/** @param {View} view @param {any} send @param {() => void} reload */
function change(view, send, reload) {
  const { t, time } = view;
  const id = freshId();
  const input = h("input", { id, type: "datetime-local", value: wallClock(new Date(send.dueAt), time.zone), required: true, autofocus: true });
  const note = h("p.quiet.small.number", { role: "status" });
  const update = () => {
    const [first] = instants(input.value, time.zone);
    put(note, first ? [time.full(first), first <= new Date() && h("span.bad", " · ", t("change.past"))] : t("change.none"));
  };
  input.addEventListener("input", update);
  update();
  formDialog(view, t("change.title"), h("div.field", h("label", { for: id }, t("change.time", { zone: time.name() })), input, note), t("change"), async () => {
    const [at] = instants(input.value, time.zone);
    if (!at || at <= new Date()) throw new Error(t(at ? "change.past" : "change.none"));
    await move(view, send, at);
    view.toast(t("change.done"));
    reload();
  });
}
