/** The screen of all sends of a hub, newest first. */

import { call, live } from "../../lib/api.js";
import { freshId, h, icon, put, say } from "../../lib/dom.js";
import { failure, serviceName, stateBadge, to } from "../../lib/screen.js";
import { empty, pane, sendTabs } from "../../parts/pane/pane.js";

const PAGE = 50;
/** The maximum number of sends in the list. Older sends can be found with filters. */
const MOST = 500;
const STATES = ["scheduled", "running", "held", "ended"];

/** @param {View} view @returns {OpenScreen} */
export function screen(view) {
  const { t, hub } = view;
  const filters = readFilters(view.query);
  let newest = /** @type {string | null} */ (null);
  let count = 0;
  const list = h("ul.list.sends");
  const more = h("div.row.center");
  const news = h("button.link.news", { type: "button", hidden: true, click: () => content.reload() });

  const content = pane({
    t, bars: 8, load: (signal) => call("sends", { path: { hub }, query: { ...filters, limit: PAGE }, signal }),
    render: (page) => {
      newest = page.sends[0]?.cursor ?? null;
      news.hidden = true;
      count = page.sends.length;
      if (count === 0 && !page.next) return nothing();
      put(list, page.sends.map((/** @type {any} */ send) => row(view, send)));
      showMore(page);
      return [list, more];
    },
  });

  function nothing() {
    if (Object.keys(filters).length > 0) {
      return empty("search", t("none.filtered"), t("none.filtered.text"), h("a.button", { href: to.sends(hub) }, t("filter.clear")));
    }
    return empty("sends", t("none"), t("none.text"),
      view.role(hub) !== "viewer" && h("a.button.primary", { href: `${to.sends(hub)}/new` }, icon("plus"), t("newSend")),
      h("a.button", { href: "/console/welcome" }, t("none.first")));
  }

  /** @param {any} page */
  function showMore(page) {
    if (!page.next) return put(more, count > PAGE && h("p.quiet.small", t("end")));
    if (count >= MOST) return put(more, h("p.quiet.small", t("most", { n: count })));
    put(more, page.isPartial && h("p.quiet.small", t("partial")),
      h("button", { click: () => further(page.next) }, t("older")));
  }

  /** @param {string} before */
  async function further(before) {
    const button = more.querySelector("button");
    if (button) button.disabled = true;
    try {
      const page = await call("sends", { path: { hub }, query: { ...filters, limit: PAGE, before } });
      const rows = page.sends.map((/** @type {any} */ send) => row(view, send));
      list.append(...rows);
      count += rows.length;
      showMore(page);
      rows[0]?.querySelector("a")?.focus();
    } catch (error) {
      put(more, failure(t, error, () => further(before)));
    }
  }

  const unwatch = live.watch([`sends:${hub}`], (event, data) => {
    const found = event === "past" ? data.sends?.[hub]?.newest : event === "sends" && data.hub === hub ? data.newest : null;
    if (found && newest !== null && Number(found) > Number(newest)) {
      say(news, t("news", { n: Number(found) - Number(newest) }));
      news.hidden = false;
    }
    for (const send of data.running ?? []) update(view, list, send);
  });

  const node = h("div.stack",
    h("div.head", h("div", h("h1", t("title")), h("p.quiet", t("subtitle", { hub })))),
    sendTabs(view, "all"),
    filterForm(view, filters),
    h("div", { "aria-live": "polite" }, news),
    content);
  return { title: t("title"), node, leave: unwatch };
}

/** @param {URLSearchParams} query @returns {Record<string, string>} */
function readFilters(query) {
  return Object.fromEntries(["state", "platform", "author", "since"].flatMap((name) => {
    const value = query.get(name);
    return value ? [[name, value]] : [];
  }));
}

/** @param {View} view @param {Record<string, string>} filters */
function filterForm(view, filters) {
  const { t, hub } = view;
  /** @param {Event} event */
  const apply = (event) => {
    event.preventDefault();
    const query = new URLSearchParams();
    for (const control of form.querySelectorAll("select")) if (control.value) query.set(control.name, control.value);
    view.go(`${to.sends(hub)}${String(query) ? `?${query}` : ""}`);
  };
  /** @param {string} name @param {[string, string][]} options */
  const choice = (name, options) => {
    const id = freshId();
    const value = filters[name] ?? "";
    const known = value && !options.some(([key]) => key === value) ? [/** @type {[string, string]} */ ([value, value]), ...options] : options;
    return h("div.filter", h("label.unseen", { for: id }, t(`filter.${name}`)),
      h("select", { id, name, value, on: { change: apply } }, h("option", { value: "" }, t(`filter.${name}.any`)),
        known.map(([key, text]) => h("option", { value: key }, text))));
  };
  const hours = (/** @type {number} */ count) => new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000 - count * 3_600_000).toISOString();
  const form = h("form.row.filters", { on: { submit: apply }, "aria-label": t("filters") },
    choice("state", STATES.map((state) => [state, t(`filter.state.${state}`)])),
    choice("author", [[`operator:${view.session.operator.toLowerCase()}`, t("author.mine")], ["administrator", t("author.administrator")], ["resend", t("author.resend")]]),
    choice("platform", ["apns", "fcmv1", "browser", "wns", "mpns", "adm", "baidu", "xiaomi"].map((name) => [name, serviceName(name)])),
    choice("since", [[hours(1), t("since.hour")], [hours(24), t("since.day")], [hours(24 * 7), t("since.week")]]),
    Object.keys(filters).length > 0 && h("a.button.plain", { href: to.sends(hub) }, icon("cross"), t("filter.clear")));
  return form;
}

/** @param {View} view @param {any} send */
function row(view, send) {
  const { t, time } = view;
  return h("li", { "data-id": send.id }, h("a", { href: to.send(view.hub, send.id) },
    h("span.what", h("span.clip.strong", title(view, send)), h("span.clip.quiet.small", audience(view, send))),
    h("span.state", stateBadge(t, send)),
    h("span.numbers.number", numbers(view, send)),
    h("span.when.small.quiet", h("time.number", { datetime: send.acceptedAt, title: time.full(send.acceptedAt) }, time.brief(send.dueAt ?? send.acceptedAt)),
      h("span.clip", author(view, send.author)))));
}

/** Returns whether an Undo has made a send in the place of one that had not arrived (`claimOf`). It goes to nobody.
 * @param {any} send */
export const isClaim = (send) => /^undone:[\da-f-]{36}$/.test(send.expression);

/** @param {View} view @param {any} send */
function title({ t }, send) {
  if (isClaim(send)) return t("claim");
  if (send.isConfidential) return [icon("lock"), " ", t("confidential")];
  return send.text ?? h("span.quiet", t("noText", { id: send.id.slice(-8) }));
}

/** @param {View} view @param {any} send */
function audience({ t }, send) {
  if (send.isDirect) return t("direct", { n: send.handles });
  if (isClaim(send)) return t("claim.to");
  if (send.isToOneUser) return t("oneUser");
  return send.expression ?? (send.platform ? t("everybodyOn", { service: serviceName(send.platform) }) : t("everybody"));
}

/** Returns who asked for a send, from the author that the server states: `operator:NAME`, `key:RULE`, `user:NAME`,
 * `administrator`, `resend:ID`.
 * @param {View} view @param {string | null} text */
function author({ t }, text) {
  if (!text) return "";
  const [kind = "", ...rest] = text.split(":");
  return t.has(`author.${kind}`) ? t(`author.${kind}`, { name: rest.join(":").slice(0, 40) }) : text;
}

/** @param {View} view @param {any} send */
function numbers({ t, n }, send) {
  return [h("span", t("taken", { n: send.succeeded })), send.failed > 0 && h("span.bad", t("failedCount", { n: send.failed })),
    h("span.quiet.small", typeof send.targeted === "number" ? t("of", { n: n.whole(send.targeted) }) : "")];
}

/** @param {View} view @param {Element} list @param {any} send */
function update(view, list, send) {
  const found = list.querySelector(`[data-id="${CSS.escape(send.id)}"]`);
  const cell = found?.querySelector(".numbers");
  if (cell) put(cell, numbers(view, send));
}
