/** The screen that says whether the server works: one sentence, figures, alerts, sends in progress, and charts. */

import { call, live } from "../../lib/api.js";
import { h, put, say } from "../../lib/dom.js";
import { failure, sendState, serviceName } from "../../lib/screen.js";

const RANGES = /** @type {const} */ (["15m", "24h", "35d"]);
/** The number of seconds before now over which the share of failed pushes is calculated. */
const RECENT = 300;
/** The share of failed pushes, from 0 to 1, from which the page warns. */
const MANY_FAILED = 0.2;

/** @param {View} view @returns {OpenScreen} */
export function screen(view) {
  const { t, n, time, session } = view;
  const hubs = session.hubs.map((one) => one.name);
  if (hubs.length === 0 && session.isServerAdmin) view.go("/console/welcome", true);

  let history = /** @type {any} */ (null);
  let recent = /** @type {any} */ (null);
  let alerts = /** @type {any} */ (null);
  let shownAt = "";
  let ticks = 0;
  let range = /** @type {typeof RANGES[number]} */ ("15m");

  const dot = h("span.lamp", { "aria-hidden": "true" });
  const sentence = h("h1", t("title"));
  const asOf = h("p.quiet.number.small");
  const figures = ["taken", "latency", "waiting", "failed"].map((name) => ({
    value: h("span.value.live-number", "–"), name: h("span.name", t(`figure.${name}`)), hint: h("span.name"),
  }));
  const attention = h("section.stack", { "aria-label": t("lookAt"), hidden: true });
  const list = h("ul.list");
  const underWay = h("section.stack", { "aria-label": t("underWay"), hidden: true }, h("h2", t("underWay")), list);
  const services = h("ul.service-line");
  const first = h("div", { hidden: true });
  const sum = (/** @type {Record<string, number>} */ table) => Object.values(table ?? {}).reduce((all, one) => all + one, 0);
  const milliseconds = latency(view);

  // The code of the charts is loaded after the sentence and the figures are shown.
  /** @type {ReturnType<typeof import("../../parts/chart/chart.js").chart>[] | null} */
  let charts = null;
  const boxes = [h("div.chart-box"), h("div.chart-box")];
  import("../../parts/chart/chart.js").then(({ chart }) => {
    charts = [
      chart({ view, label: t("chart.rate"), isRate: true, format: (value) => n.short(value), sentence: (values) => t("chart.rate.text", values) }),
      chart({ view, label: t("chart.latency"), format: milliseconds, sentence: (values) => t("chart.latency.text", values) }),
    ];
    boxes.forEach((box, index) => box.replaceChildren(charts?.[index]));
    draw();
  }).catch((error) => put(boxes[0], failure(t, error, null)));
  const ranges = h("div.segments", { role: "group", "aria-label": t("range") }, RANGES.map((name) =>
    h("button", { type: "button", "aria-pressed": String(name === range), click: () => choose(name) }, t(`range.${name}`))));

  /** @param {typeof RANGES[number]} name */
  async function choose(name) {
    range = name;
    ranges.querySelectorAll("button").forEach((/** @type {Element} */ button, /** @type {number} */ index) =>
      button.setAttribute("aria-pressed", String(RANGES[index] === name)));
    if (name === "15m") {
      history = recent;
      return draw();
    }
    try {
      history = await call("history", { query: { range: name } });
      draw();
    } catch {
      view.toast(t("failed.unreachable"));
    }
  }

  function draw() {
    if (!history || !charts) return;
    const [rates, latencies] = charts;
    const step = history.step * 1000;
    const length = Math.max(history.waiting?.length ?? 0, ...Object.values(history.taken).map((values) => values.length));
    const start = (history.end ? Date.parse(history.end) : Date.now()) - step * Math.max(length - 1, 0);
    const taken = Object.keys(history.taken).sort((a, b) => total(history.taken[b]) - total(history.taken[a])).map((platform) => ({ name: serviceName(platform), values: history.taken[platform] }));
    const values = added(Object.values(history.failed), length);
    const failed = values.some((value) => value > 0) ? [{ name: t("failedLine"), values, kind: "bad-line" }] : [];
    // The chart has at most four lines for platforms. The table has all platforms.
    const drawn = taken.length > 4 ? [...taken.slice(0, 3), { name: t("others", { n: taken.length - 3 }), values: added(taken.slice(3).map((line) => line.values), length) }] : taken.length > 0 ? taken : [{ name: t("figure.taken"), values: Array(length).fill(null) }];
    rates?.show([...drawn, ...failed], start, step, [...taken, ...failed]);
    latencies?.show([{ name: "p50", values: history.p50 }, { name: "p99", values: history.p99 }], start, step);
  }

  /** @param {any} second */
  function showSecond(second) {
    if (!second) return;
    const failedShare = share();
    const values = [
      [n.short(sum(second.taken)), ""], [second.p99 === null ? "–" : milliseconds(second.p99), ""],
      [n.whole(second.waiting), second.oldest > 1 ? t("oldest", { time: time.duration(second.oldest) }) : ""],
      [failedShare === null ? "–" : n.share(failedShare), t("fiveMinutes")],
    ];
    figures.forEach((figure, index) => {
      say(figure.value, values[index]?.[0] ?? "");
      say(figure.hint, values[index]?.[1] ?? "");
    });
    headline();
    shownAt = second.at;
    tellAge();
    const platforms = Object.keys({ ...second.connections, ...second.taken }).sort();
    const line = platforms.map((platform) => `${serviceName(platform)} ${second.connections?.[platform] ?? 0}`).join();
    if (line !== services.dataset.line) {
      services.dataset.line = line;
      put(services, platforms.map((platform) => h("li", h("span.strong", serviceName(platform)), " ",
        h("span.quiet", t("connections", { n: second.connections?.[platform] ?? 0 })))));
    }
  }

  function share() {
    if (!recent) return null;
    const steps = Math.max(1, Math.round(RECENT / recent.step));
    const taken = Object.values(recent.taken).reduce((all, values) => all + total(values.slice(-steps)), 0);
    const failed = Object.values(recent.failed).reduce((all, values) => all + total(values.slice(-steps)), 0);
    return taken + failed === 0 ? null : failed / (taken + failed);
  }

  /** @param {any} second */
  function extend(second) {
    if (!recent || !second) return;
    const push = (/** @type {(number | null)[]} */ values, /** @type {number | null} */ value) => {
      values.push(value);
      if (values.length > 900) values.shift();
    };
    for (const name of ["taken", "failed"]) {
      const length = recent.p50.length;
      for (const platform of Object.keys(second[name])) recent[name][platform] ??= Array(length).fill(0);
      for (const platform of Object.keys(recent[name])) push(recent[name][platform], second[name][platform] ?? 0);
    }
    for (const name of ["p50", "p95", "p99", "waiting", "oldest"]) push(recent[name], second[name] ?? null);
    recent.end = second.at;
  }

  /** Shows the time of the figures, and whether they are still live. */
  function tellAge() {
    if (!shownAt) return;
    const values = { time: time.clock(shownAt), zone: time.name() };
    say(asOf, live.state === "lost" ? t("asOfLost", values) : t(live.state === "live" ? "asOf.live" : "asOf", values));
  }

  /** Shows the sentence about the whole server. It is green only if there is no alert and few pushes fail. */
  function headline() {
    if (!alerts) return;
    const count = alerts.alerts.length;
    const failed = share() ?? 0;
    node.className = `stack loose now is-${count === 0 && failed > MANY_FAILED ? "attention" : alerts.state}`;
    say(sentence, count === 0 ? (failed > MANY_FAILED ? t("someFailed", { share: n.share(failed) }) : t(failed > 0 ? "someGood" : "allGood")) : t(alerts.state === "trouble" ? "trouble" : "attention", { n: count }));
  }

  /** @param {any} data */
  async function showAlerts(data) {
    alerts = data;
    headline();
    attention.hidden = data.alerts.length === 0;
    const { alertRow } = await import("./alerts.js");
    const shown = JSON.stringify(data.alerts);
    if (alerts !== data || shown === attention.dataset.shown) return;
    attention.dataset.shown = shown;
    const links = () => [...attention.querySelectorAll("a")];
    const focused = links().indexOf(/** @type {any} */ (document.activeElement));
    put(attention, h("h2", t("lookAt")), h("ul.list", data.alerts.map((/** @type {any} */ alert) => alertRow(view, alert))));
    links()[focused]?.focus();
  }

  /** @param {any} data */
  async function showRunning(data) {
    if (!data.running) return;
    running.set(data.hub, data.running.filter((/** @type {any} */ send) => sendState({ control: "running", ...send }) !== "scheduled").slice(0, 5));
    const sends = [...running].flatMap(([hub, list]) => list.map((send) => ({ ...send, hub })));
    if (sends.length + rows.size === 0) return;
    const { runningRow } = await import("./running.js");
    underWay.hidden = sends.length === 0;
    for (const [id, row] of rows) {
      if (sends.some((send) => send.id === id)) continue;
      row.node.remove();
      rows.delete(id);
    }
    for (const send of sends) {
      const row = rows.get(send.id) ?? runningRow(view, send);
      if (!rows.has(send.id)) list.append(row.node);
      rows.set(send.id, row);
      row.update(send);
    }
  }

  const running = /** @type {Map<string, any[]>} */ (new Map());
  const rows = /** @type {Map<string, {node: any, update: (send: any) => void}>} */ (new Map());

  /** @param {string} event @param {any} data */
  function hear(event, data) {
    if (event === "past" || event === "alert") showAlerts(data);
    if (event === "past") {
      recent = data.history ?? recent;
      if (range === "15m") history = recent;
      draw();
      showSecond(data.second);
      const hasSent = Object.values(data.sends ?? {}).some((one) => /** @type {any} */ (one).newest);
      if (data.sends && hubs.length > 0 && !hasSent && !first.firstChild) showFirst();
      if (data.sends && hubs.length > 0) first.hidden = hasSent;
      for (const [hub, one] of Object.entries(data.sends ?? {})) showRunning({ hub, ...one });
    }
    if (event === "second") {
      extend(data);
      showSecond(data);
      // A point of the chart stands for three seconds, so the chart is drawn every three seconds.
      ticks += 1;
      if (range === "15m" && ticks % 3 === 0) draw();
    }
    if (event === "sends") showRunning(data);
  }

  function showFirst() {
    put(first, h("div.card.row.between", h("div.grow", h("h2", t("first.title")), h("p.quiet", t("first.text"))),
      h("a.button.primary", { href: "/console/welcome" }, t("first.go"))));
  }

  const node = h("div.stack.loose.now",
    h("div.head", h("div.sentence", dot, h("div", sentence, asOf))),
    first,
    h("div.figures", figures.map((figure) => h("div", figure.value, figure.name, " ", figure.hint))),
    attention,
    underWay,
    h("section.stack", { "aria-label": t("charts") }, h("div.row.between", h("h2", t("charts")), ranges),
      h("div.grid2", h("figure.card.stack.tight", h("figcaption.strong", t("chart.rate")), boxes[0]),
        h("figure.card.stack.tight", h("figcaption.strong", t("chart.latency")), boxes[1]))),
    h("section.stack.tight", { "aria-label": t("services") }, h("h2", t("services")), services));

  const unwatch = live.watch(["now", ...hubs.slice(0, 7).map((hub) => `sends:${hub}`)], hear);
  const lost = () => {
    tellAge();
    if (live.state === "lost" && !recent) put(sentence, t("failed.unreachable"));
  };
  live.listeners.add(lost);
  return {
    title: t("title"), node, leave: () => {
      unwatch();
      live.listeners.delete(lost);
    },
  };
}

/** @param {View} view */
function latency({ n }) {
  return (/** @type {number} */ ms) => (ms < 1000 ? `${n.short(ms)} ms` : `${n.short(ms / 1000)} s`);
}

/** @param {any[]} values */
function total(values) {
  return values.reduce((all, one) => all + (one ?? 0), 0);
}

/** @param {(number | null)[][]} lists @param {number} length */
function added(lists, length) {
  return Array.from({ length }, (_, index) => total(lists.map((values) => values[index])));
}
