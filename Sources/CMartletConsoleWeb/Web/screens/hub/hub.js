/** The screen of a hub: its push services, tags, keys, settings and jobs. */

import { call, isUnreached, live, Refusal } from "../../lib/api.js";
import { freshId, h, icon, put } from "../../lib/dom.js";
import { HUB_NAME } from "../../lib/names.js";
import { badge, failure, path, serviceName, to } from "../../lib/screen.js";
import { freshPane } from "../../parts/pane/fresh.js";
import { empty, pane } from "../../parts/pane/pane.js";
import { ask } from "../../parts/dialog/ask.js";
import { commandButton, copyable, openDialog } from "../../parts/dialog/dialog.js";
import { formDialog } from "../../parts/dialog/form.js";

const TABS = ["services", "tags", "keys", "limits", "jobs"];

/** @param {View} view @returns {OpenScreen} */
export function screen(view) {
  const { t, hub } = view;
  const tab = TABS.includes(view.params.tab ?? "") ? view.params.tab ?? "services" : "services";
  const panes = /** @type {Record<string, (view: View) => any>} */ ({ services, tags, keys, limits: later("settings"), jobs: later("jobs") });
  const node = h("div.stack",
    h("div.head", h("div", h("h1", hub), h("p.quiet", t("subtitle"))), view.role(hub) === "admin" && view.session.isServerAdmin && h("button", { click: () => makeHub(view) }, icon("plus"), t("hub.new"))),
    h("nav.tabs", { "aria-label": t("place.hub") }, TABS.map((name) => h("a", { href: name === "services" ? path("hubs", hub) : path("hubs", hub, name), "aria-current": name === tab ? "page" : null }, t(`tab.${name}`)))),
    panes[tab]?.(view));
  return { title: `${hub}, ${t(`tab.${tab}`)}`, node };
}

/** @param {View} view */
function makeHub(view) {
  const { t } = view;
  const id = freshId();
  const input = h("input", { id, required: true, pattern: HUB_NAME, title: t("hub.name.help"), autocomplete: "off", spellcheck: "false", autofocus: true });
  formDialog(view, t("hub.new"), h("div.field", h("label", { for: id }, t("hub.name")), input, h("p.help", t("hub.name.help"))), t("hub.make"), async () => {
    const name = input.value.trim();
    await call("makeHub", { path: { hub: name }, body: {} });
    localStorage.setItem("hub", name);
    history.pushState(null, "", path("hubs", name));
    await view.refreshSession();
  });
}

// Services

/** @param {View} view */
function services(view) {
  const { t, hub } = view;
  const content = freshPane({
    t, bars: 6, load: (signal) => call("services", { path: { hub }, signal }),
    render: ({ platforms }) => {
      const order = ["unusable", "usable", "unchecked", "missing"];
      const isUsed = (/** @type {any} */ one) => one.state !== "missing" || (one.devices ?? 0) > 0;
      const sorted = [...platforms].sort((one, other) => order.indexOf(one.state) - order.indexOf(other.state) || other.connections - one.connections);
      const used = sorted.filter(isUsed);
      const rest = sorted.filter((one) => !isUsed(one));
      const card = (/** @type {any} */ one) => service(view, one, () => content.reload());
      return h("div.stack", h("div.services", (used.length > 0 ? used : rest).map(card)), used.length > 0 && rest.length > 0 && h("details", h("summary", t("others", { n: rest.length })), h("div.services", rest.map(card))));
    },
  });
  return content;
}

/** @param {View} view @param {() => void} reload @param {any} one */
function service(view, one, reload) {
  const { t, time, hub } = view;
  const isAdmin = view.role(hub) === "admin";
  // A hub without a credential for a platform sends to the simulator if it runs.
  const isSimulated = one.isSimulated && !one.fingerprint;
  const isFailing = one.failing.length > 0;
  const failing = isFailing && h("div.stack.tight");
  const isHeld = one.lane?.state === "paused" || one.origins?.length > 0;
  // A pause because of a refused credential, unlike other pauses, does not end before the credential is replaced.
  const isRefused = one.lane?.state === "paused" && one.lane.outcome === "InvalidCredentials" && one.state === "usable";
  const state = one.state === "unusable" || isRefused || isFailing ? "failed" : isHeld ? "paused" : isSimulated ? "waiting" : one.state === "usable" ? "done" : "stopped";
  const word = isRefused ? t("credential.refused") : isFailing && one.state !== "unusable" ? t("state.failing") : isHeld && one.state !== "unusable" ? t("state.held") : isSimulated ? t("credential.simulated") : t(`credential.${one.state}`);
  const facts = [
    one.expiresAt ? t("ends", { date: time.date(one.expiresAt), relative: time.relative(one.expiresAt) }) : isSimulated ? t("simulated.text") : one.state === "usable" ? t("ends.unknown") : null,
    one.connections > 0 ? t("connections", { n: one.connections }) : null,
    one.devices !== null && one.devices !== undefined ? t("devices", { n: one.devices }) : null,
  ].filter(Boolean);
  if (failing) import("../../parts/outage/outage.js").then(({ outage }) => showFailures(view, one, failing, outage)).catch(() => {});
  const known = new Set(one.failing.map((/** @type {any} */ failure) => failure.origin));
  return h("section.card.service", { "aria-label": serviceName(one.platform) },
    h("div.row.between", h("h2", serviceName(one.platform)), badge(state, word)),
    facts.length > 0 && h("p.quiet", facts.join(" · ")),
    one.reason && h("p.quote", { lang: "en" }, one.reason),
    one.state === "missing" && !one.isSimulated && (one.devices ?? 0) > 0 && h("p.warn", t("missing.devices", { n: one.devices })),
    isRefused ? h("p.bad", t("lane.refused", { service: serviceName(one.platform), reason: one.lane.reason || one.lane.outcome })) : one.lane?.state === "paused" && one.state !== "unusable" && !isFailing && h("p.warn", t("lane.paused", { reason: one.lane.outcome ?? "", time: one.lane.until ? time.clock(one.lane.until) : "" })),
    failing,
    (one.origins ?? []).filter((/** @type {any} */ origin) => !known.has(origin.origin)).map((/** @type {any} */ origin) => h("p.warn", t("origin.paused", { origin: origin.origin, time: time.clock(origin.until) }), " ", h("span.quiet.small", [origin.outcome, origin.reason].filter(Boolean).join(": ")))),
    one.quarantines?.length > 0 && h("p.warn", t("quarantine", { names: [serviceName(one.platform), ...one.quarantines.filter(Boolean)].join(", ") })),
    h("div.row", isAdmin && h("button", { click: async () => (await part(view, "credential")).setCredential(view, one, reload) }, one.state === "missing" || isSimulated ? t("set") : t("replace")),
      isAdmin && (one.state === "missing" || isSimulated) && one.canGenerate && h("button", { click: () => generate(view, one, reload) }, t("generate")),
      isAdmin && one.state !== "missing" && !isSimulated && h("button.plain", { click: () => removeCredential(view, one, reload) }, t("remove")),
      one.fingerprint && h("span.quiet.small", t("fingerprint"), " ", h("code", one.fingerprint))));
}

/** Shows the origins to which no push gets through, at most three of them, and then the waiting pushes and advice.
 * @param {View} view @param {any} one @param {Element} node @param {typeof import("../../parts/outage/outage.js").outage} outage */
async function showFailures(view, one, node, outage) {
  const failures = [...one.failing].sort((first, other) => other.attempts - first.attempts).slice(0, 3);
  const lines = await Promise.all(failures.map((failure) => outage(view, one.platform, failure, one.waiting)));
  put(node, lines.map(([sentence, detail]) => [h("p.bad", sentence), h("p.quiet.small", detail)]), h("p", lines[0]?.[2]), h("p.quiet", lines[0]?.[3]));
}

/** @param {View} view @param {() => void} reload @param {any} one */
async function generate(view, one, reload) {
  const { t, hub } = view;
  try {
    const made = await call("generateCredential", { path: { hub, platform: one.platform }, body: {} });
    openDialog(t("generated"), [h("p.quiet", t("generated.text")), Object.entries(made.shown ?? {}).map(([name, value]) => [h("p.strong", name), copyable(view, String(value))])]);
    reload();
  } catch (error) {
    view.toast(error.message || t("failed.refused"));
  }
}

/** @param {View} view @param {() => void} reload @param {any} one */
async function removeCredential(view, one, reload) {
  const { t, hub } = view;
  if (!(await ask(view, { title: t("remove.title", { service: serviceName(one.platform) }), text: t(one.hasSimulator ? "remove.simulated" : "remove.text"), yes: t("remove"), isDanger: true }))) return;
  await call("deleteCredential", { path: { hub, platform: one.platform } }).catch((error) => view.toast(error.message || t("failed.refused")));
  reload();
}

// Tags

/** @param {View} view */
function tags(view) {
  const { t, hub } = view;
  const id = freshId();
  const input = h("input", { id, type: "search", autocomplete: "off", autocapitalize: "none", spellcheck: "false", placeholder: t("tags.placeholder") });
  const list = pane({ t, bars: 6, load: (signal) => call("tags", { path: { hub }, query: { prefix: input.value.trim() || null }, signal }), render: (page) => tagList(view, page, input.value.trim()) });
  let timer = 0;
  input.addEventListener("input", () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => list.reload(), 200);
  });
  const prefixes = pane({
    t, bars: 1, load: (signal) => call("tagPrefixes", { path: { hub }, signal }),
    render: (found) => h("div.row", found.prefixes.map((/** @type {string} */ prefix) => h("button", { click: () => {
      input.value = prefix;
      list.reload();
      input.focus();
    } }, h("span.mono", prefix)))),
  });
  return h("div.stack", h("div.tag-search", h("label", { for: id }, t("tags.find")), h("div.search", icon("search"), input)), prefixes, list);
}

/** @param {View} view @param {string} prefix @param {any} page */
function tagList(view, page, prefix) {
  const { t, n, hub } = view;
  if (page.tags.length === 0) return empty("tag", prefix ? t("tags.noneSo") : t("tags.none"), t("tags.none.text"));
  const list = h("ul.list.tag-list");
  const row = (/** @type {string} */ tag) => {
    const count = h("span.quiet.small.number", { role: "status" });
    const look = async () => {
      put(count, "…");
      try {
        const found = await call("audience", { path: { hub }, query: { tags: tag } });
        put(count, [t("devices", { n: found.devices }), ...Object.entries(found.platforms).map(([name, part]) => `${serviceName(name)} ${n.whole(/** @type {any} */ (part).devices)}`)].join(" · "));
      } catch (error) {
        put(count, error.message || t("failed.refused"));
      }
    };
    return h("li", h("div.item", h("span.mono.clip", tag), count, h("div.row", h("button.plain", { click: look }, t("tags.count")),
      view.role(hub) !== "viewer" && h("a.button", { href: `${to.sends(hub)}/new?to=${encodeURIComponent(tag)}`, "aria-label": t("tags.sendTo", { tag }) }, t("tags.send")))));
  };
  const more = h("div.row.center");
  const show = (/** @type {any} */ one) => {
    list.append(...one.tags.map(row));
    put(more, one.next && h("button", { click: async () => show(await call("tags", { path: { hub }, query: { prefix: prefix || null, after: one.next } })) }, t("tags.more")));
  };
  show(page);
  return h("div.stack", list, more);
}

// Keys

/** @param {View} view */
function keys(view) {
  const { t, hub } = view;
  const box = h("div.stack");
  const show = async () => {
    try {
      const rules = await call("keys", { path: { hub } });
      put(box, rules.map((/** @type {any} */ rule) => h("section.card.stack.tight", h("h2", rule.name), h("p.quiet", rule.rights.map((/** @type {string} */ right) => t.has(`right.${right}`) ? t(`right.${right}`) : right).join(", ")),
        ["primary", "secondary"].map((name) => h("div.stack.tight", h("h3", t(`key.${name}`)), copyable(view, rule[name], h("button.plain", { click: () => renew(rule.name, name) }, icon("refresh"), t("key.renew"))))))));
    } catch (error) {
      put(box, failure(t, error, show));
    }
  };
  const renew = async (/** @type {string} */ rule, /** @type {string} */ key) => {
    if (!(await ask(view, { title: t("key.renew.title"), text: t("key.renew.text", { rule }), yes: t("key.renew"), isDanger: true, typed: rule, typedLabel: t("key.renew.typed", { rule }) }))) return;
    await call("renewKey", { path: { hub, rule, key }, body: {} }).then(show, (error) => view.toast(error.message || t("failed.refused")));
  };
  put(box, h("div.card.stack.tight", h("h2", t("keys.hidden")), h("p.quiet", t("keys.hidden.text")), h("div.row", h("button.primary", { click: show }, t("keys.show")),
    commandButton(view, `martlet hub key list ${hub}`, "keys", { path: { hub } }))));
  // An operator without the role admin sees the refusal at once, because the server would refuse the request.
  return view.role(hub) === "admin" ? box : failure(t, new Refusal(403, { code: "forbidden", needs: "admin" }), null);
}

// Parts whose code and texts are loaded when they are shown.

/** @param {View} view @param {string} name @returns {Promise<any>} */
async function part(view, name) {
  const [code, texts] = await Promise.all([import(`./${name}/${name}.js`), import(`./${name}/text.${view.language}.js`)]);
  view.t.add(texts.default);
  return code;
}

/** @param {string} name */
function later(name) {
  return (/** @type {View} */ view) => {
    const box = h("div");
    const show = () => part(view, name).then((code) => put(box, code[name](view)), (error) => {
      put(box, failure(view.t, error, show));
      if (isUnreached(error)) live.whenBack(() => box.isConnected && show());
    });
    show();
    return box;
  };
}
