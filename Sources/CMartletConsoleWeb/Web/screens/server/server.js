/** The screen of the server: its health, the operators, the users, the logs, the keys, backups, and the simulator if it runs. */

import { call, isUnreached, live, Refusal } from "../../lib/api.js";
import { freshId, h, icon, put } from "../../lib/dom.js";
import { badge, failure, path, serviceName } from "../../lib/screen.js";
import { freshPane } from "../../parts/pane/fresh.js";
import { pane } from "../../parts/pane/pane.js";
import { copyable, openDialog } from "../../parts/dialog/dialog.js";
import { formDialog } from "../../parts/dialog/form.js";
import { roleFields } from "./roles.js";

/** @param {View} view @returns {OpenScreen} */
export function screen(view) {
  const { t, session } = view;
  const list = ["health", "operators", "users", "audit", "fetches", "keys", "backup", ...(session.simulator ? ["simulator"] : [])];
  const tab = list.includes(view.params.tab ?? "") ? view.params.tab ?? "health" : "health";
  const panes = /** @type {Record<string, (view: View) => any>} */ ({ health, operators, users: later("users"), audit: later("audit"), fetches: later("fetches"), keys: later("keys"), backup: later("backup"), simulator });
  const may = (/** @type {string} */ name) => name === "health" || session.isServerAdmin || (name === "users" && view.role() === "sender");
  const node = h("div.stack", h("div", h("h1", t("title")), h("p.quiet", `Martlet ${session.version}`)),
    h("nav.tabs", { "aria-label": t("title") }, list.filter((name) => name === tab || may(name)).map((name) => h("a", { href: name === "health" ? "/console/server" : path("server", name), "aria-current": name === tab ? "page" : null }, t(`tab.${name}`)))),
    may(tab) ? panes[tab]?.(view) : failure(t, new Refusal(403, { code: "forbidden", needs: tab === "users" ? "sender" : "admin" }), null));
  return { title: `${t("title")}, ${t(`tab.${tab}`)}`, node };
}

// Health

/** @param {View} view */
function health(view) {
  const { t, n, time } = view;
  const bytes = (/** @type {number | null} */ value) => (value === null || value === undefined ? t("unknown") : n.bytes(value));
  return freshPane({
    t, bars: 6, load: (signal) => call("serverFacts", { signal }),
    render: (facts) => h("div.stack.loose",
      facts.isReady ? h("p.row.strong", h("span.good", icon("check")), t("ready"))
        : h("div.notice.bad-notice", icon("warn"), h("div", h("p.strong", t("notReady")), h("p.quote", { lang: "en" }, facts.obstacle))),
      h("div.figures", [
        [facts.startedAt ? time.duration((Date.now() - Date.parse(facts.startedAt)) / 1000) : t("unknown"), t("uptime")], [bytes(facts.databaseBytes), t("database")],
        [bytes(facts.diskFree), t("diskFree", { reserve: bytes(facts.diskReserve) })], [bytes(facts.memory), t("memory")],
      ].map(([value, name]) => h("div", h("span.value", value), h("span.name", name)))),
      h("section.stack.tight", h("h2", t("care")), h("dl.facts.card", [
        [t("certificate"), facts.certificateEndsAt ? t("expires", { date: time.date(facts.certificateEndsAt), relative: time.relative(facts.certificateEndsAt) }) : t("certificate.none")],
        [t("lastBackup"), facts.backupAt ? `${time.full(facts.backupAt)}, ${time.relative(facts.backupAt)}` : view.session.isServerAdmin ? h("a", { href: path("server", "backup") }, t("lastBackup.none")) : t("lastBackup.none")],
      ].map(([name, value]) => [h("dt", name), h("dd", value)]))),
      h("section.stack.tight", h("h2", t("listeners")), h("ul.list", facts.listeners.map((/** @type {any} */ one) => h("li", h("div.item.listener", h("code.break", one.address),
        h("span", t(`listener.${one.purpose}`)), h("span.quiet.small", one.isTLS ? t("encrypted") : t("clear")))))))),
  });
}

// Operators

/** @param {View} view */
function operators(view) {
  const { t } = view;
  const content = freshPane({ t, bars: 4, load: (signal) => call("operators", { signal }), render: (list) => h("ul.list.operators", list.map((/** @type {any} */ one) => operator(view, one, () => content.reload()))) });
  return h("div.stack", h("div.row.between", h("p.quiet.grow", t("operators.text")), h("button.primary", { click: () => invite(view, null, () => content.reload()) }, icon("plus"), t("invite"))), content);
}

/** @param {View} view @param {() => void} reload @param {any} one */
function operator(view, one, reload) {
  const { t, time } = view;
  const act = async (/** @type {() => Promise<any>} */ work) => {
    await work().catch((error) => view.toast(error.message || t("failed.refused")));
    reload();
  };
  const isSelf = one.name === view.session.operator;
  /** @type {[string, string]} */
  const state = one.isDisabled ? ["stopped", t("operator.disabled")] : one.hasPassword || one.signedInAt ? ["done", t("operator.active")] : ["waiting", t("operator.invited")];
  return h("li", h("div.item", h("div.whose", h("span.strong.clip", one.name, isSelf && h("span.quiet", ` (${t("you")})`)),
    h("span.quiet.small", one.signedInAt ? t("signedIn", { time: time.relative(one.signedInAt), n: one.sessions }) : t("neverSignedIn"))),
  h("span.row", one.roles.map((/** @type {string} */ role) => h("span.chip", role))),
  badge(state[0], state[1]),
  h("div.row", h("button", { click: () => changeRoles(view, one, reload) }, t("roles")),
    h("button", { click: () => invite(view, one, reload) }, t("newLink")),
    one.sessions > 0 && h("button", { click: () => act(() => call("endSessions", { path: { name: one.name } })) }, t("endSessions")),
    one.hasFactor && !isSelf && h("button", { click: () => act(() => call("resetFactor", { path: { name: one.name } })) }, t("resetFactor")),
    !isSelf && h("button", { type: "button", class: one.isDisabled ? "" : "danger", click: () => act(() => call("setDisabled", { path: { name: one.name }, body: { disabled: !one.isDisabled } })) }, one.isDisabled ? t("enable") : t("disable")))));
}

/** @param {View} view @param {() => void} reload @param {any} one */
function changeRoles(view, one, reload) {
  const { t } = view;
  const fields = roleFields(view, one.roles);
  formDialog(view, t("roles.of", { name: one.name }), [fields.node, h("p.quiet.small", t("roles.text", { name: one.name }))], t("save"), async () => {
    await call("setRoles", { path: { name: one.name }, body: { roles: fields.read() } });
    reload();
  });
}

/** @param {View} view @param {any} one The operator that gets a new link, or null for a new operator. @param {() => void} reload */
function invite(view, one, reload) {
  const { t, time } = view;
  const id = freshId();
  const name = h("input", { id, required: true, autocomplete: "off", autocapitalize: "none", spellcheck: "false", maxlength: 64, value: one?.name ?? "", readonly: one !== null, autofocus: true });
  const fields = roleFields(view, one?.roles ?? ["viewer"]);
  const box = h("div.stack");
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      const made = await call("invite", { body: { name: name.value.trim(), roles: fields.read() } });
      put(form, h("p", t("invite.done", { time: time.minute(made.expiresAt) })), copyable(view, made.link), h("div.actions", h("button.primary", { click: () => dialog.close() }, t("close"))));
      reload();
    } catch (error) {
      put(box, failure(t, error, null));
    }
  };
  const form = h("form", { on: { submit } }, h("p.quiet", one ? t("invite.again") : t("invite.text")), h("div.field", h("label", { for: id }, t("name")), name), fields.node, box,
    h("div.actions", h("button", { click: () => dialog.close() }, t("cancel")), h("button.primary", t("invite.yes"))));
  const dialog = openDialog(one ? t("invite.for", { name: one.name }) : t("invite"), [form]);
}

// Parts whose code and texts are loaded when they are shown.

/** @param {"users" | "audit" | "fetches" | "keys" | "backup"} name */
function later(name) {
  return (/** @type {View} */ view) => {
    const box = h("div");
    const show = () => Promise.all([import(`./${name}/${name}.js`), import(`./${name}/text.${view.language}.js`)]).then(([code, texts]) => {
      view.t.add(texts.default);
      put(box, code.show(view));
    }, (error) => {
      put(box, failure(view.t, error, show));
      if (isUnreached(error)) live.whenBack(() => box.isConnected && show());
    });
    show();
    return box;
  };
}

// Simulator

/** @param {View} view */
function simulator(view) {
  const { t, n } = view;
  const content = pane({
    t, bars: 5, load: async (signal) => {
      const [services, counters, faults] = await Promise.all([call("simulatorServices", { signal }), call("simulatorCounters", { signal }), call("simulatorFaults", { signal })]);
      return { services, counters, faults };
    },
    render: ({ services, counters, faults }) => h("div.stack.loose",
      h("section.stack.tight", h("h2", t("faults")), h("p.quiet", t("faults.text")), faultForm(view, services, () => content.reload()),
        faults.faults.length > 0 && h("ul.list", faults.faults.map((/** @type {any} */ one) => h("li", h("div.item.listener", h("span.mono.strong", one.fault), h("span.quiet", one.service ? serviceName(one.service) : t("faults.all")), h("span.quiet.small.number", t("faults.seen", { n: one.happened ?? 0 })))))),
        faults.faults.length > 0 && h("div", h("button", { click: () => call("clearSimulatorFaults").then(() => content.reload()) }, t("faults.clear")))),
      h("section.stack.tight", h("h2", t("counters")), h("div.services", Object.entries(services).map(([name]) => h("section.card.stack.tight", h("h3", serviceName(name)),
        Object.keys(counters[name] ?? {}).length === 0 ? h("p.quiet", t("counters.none")) : h("dl.counters", Object.entries(counters[name]).sort().slice(0, 12).map(([key, value]) => [h("dt.mono", key), h("dd.number", n.whole(Number(value)))]))))))),
  });
  return content;
}

/** @param {View} view @param {() => void} reload @param {any} services */
function faultForm(view, services, reload) {
  const { t } = view;
  const ids = [freshId(), freshId(), freshId()];
  const names = Object.keys(services);
  const fault = h("select", { id: ids[1] });
  const service = h("select", { id: ids[0], on: { change: () => fill() } }, names.map((name) => h("option", { value: name }, serviceName(name))));
  const next = h("input", { id: ids[2], inputmode: "numeric", value: "10" });
  const fill = () => put(fault, [...new Set([...(services[service.value]?.faults ?? []), "slow", "unanswered", "reset"])].map((name) => h("option", { value: name }, name)));
  fill();
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const count = Number(next.value);
    await call("addSimulatorFault", { body: { fault: fault.value, service: service.value, ...(count > 0 ? { next: count } : {}) } }).catch((error) => view.toast(error.message || t("failed.refused")));
    reload();
  };
  return h("form.card.row.fault-form", { on: { submit } }, h("div.field", h("label", { for: ids[0] }, t("faults.service")), service), h("div.field", h("label", { for: ids[1] }, t("faults.fault")), fault),
    h("div.field", h("label", { for: ids[2] }, t("faults.next")), next), h("button", t("faults.add")));
}

