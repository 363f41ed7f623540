/** The screen of a send: its progress, its failures, and buttons that pause or stop it. After the send has ended,
 * the screen is its report. */

import { call, live } from "../../lib/api.js";
import { h, icon, put, say, svg } from "../../lib/dom.js";
import { failure, sendState, serviceName, stateBadge, to } from "../../lib/screen.js";
import { pane } from "../../parts/pane/pane.js";
import { commandButton, openDialog, copyable } from "../../parts/dialog/dialog.js";
import { chart } from "../../parts/chart/chart.js";
import { decide, loadHeld, sentence } from "../../parts/held/held.js";

/** The number of seconds that the chart of a running send shows. */
const SECONDS = 300;

/** @param {View} view @returns {OpenScreen} */
export function screen(view) {
  const { t, hub } = view;
  const id = view.params.id ?? "";
  const path = { hub, id };
  /** @type {ReturnType<typeof body> | null} */
  let parts = null;
  /** @type {() => void} */
  let unwatch = () => {};

  const node = pane({
    t, bars: 6, heading: t("title"), load: async (signal) => {
      const [send, status, funnel] = await Promise.all([
        call("send", { path, signal }), call("status", { path, signal }),
        call("funnel", { path, signal }).catch((error) => {
          if (error.status === 404) return null;
          throw error;
        }),
        loadHeld(view),
      ]);
      return { send, status, funnel };
    },
    render: ({ send, status, funnel }) => {
      parts = body(view, send, path);
      parts.update(status, funnel);
      document.title = `${nameOf(view, send)} · Martlet`;
      unwatch();
      unwatch = live.watch([`send:${hub}:${id}`], (event, data) => {
        const news = event === "past" ? data.send?.[hub]?.[id] : event === "send" && data.id === id ? data : null;
        if (news?.status) parts?.update(news.status, news.funnel);
        if (event === "second") parts?.tick(data?.at);
        if (event === "poll") parts?.read();
      });
      return parts.node;
    },
  });
  const lost = () => parts?.tellAge();
  live.listeners.add(lost);
  return {
    title: t("title"), node: h("div.stack.loose", node), key: (key) => parts?.key(key) ?? false, leave: () => {
      unwatch();
      live.listeners.delete(lost);
    },
  };
}

const OVER = ["done", "stopped", "failed", "expired"];

/** @param {View} view @param {any} send */
function nameOf({ t }, send) {
  if (send.isConfidential) return t("confidential");
  return send.text ?? t("sendOf", { id: String(send.id).slice(-8) });
}

/** @param {View} view @param {{hub: string, id: string}} path @param {any} send */
function body(view, send, path) {
  const { t, n, time, hub } = view;
  const canSend = view.role(hub) !== "viewer";
  const badge = h("span.big-badge", { role: "status" });
  const progress = h("p.strong.live-number.number");
  const age = h("p.quiet.small", { hidden: true });
  const bar = h("div");
  const reason = h("div");
  const funnelBox = h("ol.funnel");
  const boundNote = h("span", { hidden: true }, " ", t("funnel.bound"));
  const tableBox = h("div");
  const tableCard = h("div.card", tableBox);
  const funnelCard = h("section.stack", { "aria-label": t("funnel") }, h("h2", t("funnel")), funnelBox, h("p.quiet.small", t("funnel.note"), boundNote));
  const failedBox = h("section.stack.tight");
  const rates = chart({ view, label: t("rate"), isRate: true, format: (value) => n.short(value), sentence: (values) => t("rate.text", values) });
  const rateCard = h("figure.card.stack.tight", { hidden: true }, h("figcaption.strong", t("rate")), rates);
  const buttons = {
    resume: control("resume", "play", "primary"), pause: control("pause", "pause", ""), cancel: control("cancel", "stop", "danger"),
  };
  const problem = h("div");
  let last = /** @type {any} */ (null);
  let readAt = new Date();
  let isUnsure = false;
  let now = Date.now();
  /** @type {{at: number, count: number}[]} */
  const samples = [];
  const controls = h("div.stack.tight", h("div.row.controls", buttons.resume, buttons.pause, buttons.cancel), h("p.quiet.small", t("cannotCallBack")));

  /** @param {"resume" | "pause" | "cancel"} name @param {string} symbol @param {string} kind */
  function control(name, symbol, kind) {
    const label = h("span", t(`do.${name}`));
    const button = h("button.big", { type: "button", class: kind, click: () => act(name) }, icon(symbol), label);
    button.label = label;
    return button;
  }

  /** @param {"resume" | "pause" | "cancel"} name */
  async function act(name) {
    for (const button of Object.values(buttons)) button.disabled = true;
    put(problem);
    try {
      update(await decide(view, path, name, (text) => {
        isUnsure = text !== "";
        put(problem, isUnsure && h("div.notice.bad-notice", { role: "alert" }, icon("warn"), h("p", text)));
        if (text) update(last, null);
      }) ?? last, null);
    } catch (error) {
      put(problem, failure(t, error, null));
      update(await call("status", { path }).catch(() => last), null);
    }
  }

  /** Reads the status of a send without a stream. */
  async function read() {
    if (OVER.includes(sendState(last))) return;
    const [status, funnel] = await Promise.all([call("status", { path }), call("funnel", { path }).catch(() => null)]).catch(() => [null]);
    if (status) update(status, funnel);
  }

  /** Shows how long it is until a scheduled send is due, or that it is over time.
   * @param {string | undefined} at The server's time. */
  function tick(at) {
    now = Date.parse(at ?? "") || Date.now();
    if (sendState(last) === "scheduled") say(progress, progressText(last, null, 0));
  }

  /** While the connection is lost, shows the time of the figures of a send that is not over. */
  function tellAge() {
    age.hidden = live.state !== "lost" || OVER.includes(sendState(last));
    if (!age.hidden) say(age, t("asOfLost", { time: time.clock(live.heardAt ?? readAt), zone: time.name() }));
  }

  /** @param {any} status @param {any} funnel */
  function update(status, funnel) {
    const state = sendState(status);
    controls.hidden = OVER.includes(state);
    if (controls.hidden && isUnsure) put(problem);
    if (status !== last) readAt = new Date();
    last = status;
    tellAge();
    if (badge.dataset.state !== state) {
      badge.dataset.state = state;
      put(badge, stateBadge(t, status));
    }
    const meant = status.targeted ?? status.rollout?.audience ?? null;
    const spared = status.outcomes?.Canceled ?? 0;
    const over = status.succeeded + status.failed + status.suppressed - spared;
    say(progress, progressText(status, meant, over));
    const wasUndone = state === "stopped" && !status.startedAt;
    // Without a whole there is no share.
    put(bar, meant === null ? meter(0, 0, 1) : meter(status.succeeded, status.failed, Math.max(meant, 1)));
    for (const node of [bar, funnelCard, tableCard]) node.hidden = wasUndone;
    const isGoing = ["running", "waiting", "scheduled"].includes(state);
    const isHeld = ["paused", "halted", "holding"].includes(state);
    put(reason, isHeld ? h("p.warn", sentence(view, status)) : state === "stopped" && !wasUndone && h("p.quiet", t("why.stopped", { n: spared })));
    buttons.resume.disabled = !isHeld;
    buttons.pause.disabled = !isGoing && state !== "holding";
    buttons.cancel.disabled = !isGoing && !isHeld;
    const left = meant === null ? null : Math.max(meant - over, 0);
    say(buttons.cancel.label, left && !buttons.cancel.disabled ? t("do.cancelSpare", { n: left }) : t("do.cancel"));
    if (funnel) {
      put(funnelBox, funnelSteps(view, funnel));
      boundNote.hidden = funnel.received === null;
    }
    put(tableBox, platformTable(view, status, funnel));
    showFailed(status);
    sample(status);
  }

  /** @param {number | null} meant @param {number} over @param {any} status */
  function progressText(status, meant, over) {
    if (sendState(status) === "stopped" && !status.startedAt) return t("why.undone");
    if (sendState(status) === "scheduled" && status.dueAt) return Date.parse(status.dueAt) < now - 2000 ? t("overdue", { time: time.full(status.dueAt) }) : t("goesOut", { time: time.full(status.dueAt), relative: time.relative(status.dueAt) });
    if (meant === null) return t("progress.open", { n: over });
    if (meant === 0) return t("progress.nobody");
    return t("progress", { done: over, n: meant, share: n.share(over / meant) });
  }

  /** @param {any} status */
  function showFailed(status) {
    const reasons = Object.entries(status.outcomes ?? {}).filter(([name, count]) => Number(count) > 0 && !["Success", "Canceled", "Skipped", "Superseded"].includes(name));
    const key = JSON.stringify(reasons);
    if (failedBox.dataset.key === key) return;
    failedBox.dataset.key = key;
    failedBox.hidden = reasons.length === 0;
    put(failedBox, h("h2", t("failed", { n: reasons.reduce((all, [, count]) => all + Number(count), 0) })),
      h("div.row", reasons.sort((a, b) => Number(b[1]) - Number(a[1])).map(([name, count]) =>
        h("span.chip", h("span.mono", name), h("span.strong.number", n.whole(Number(count)))))),
      h("details", { on: { toggle: (event) => event.target.open && !event.target.dataset.is && (event.target.dataset.is = "1", event.target.append(letters(view, path))) } },
        h("summary", t("failed.look"))),
      status.failed > 0 && h("a", { href: `${to.sends(hub)}/failed` }, t("failed.all")));
  }

  /** @param {any} status */
  function sample(status) {
    const at = Math.floor(Date.now() / 1000);
    if (samples[samples.length - 1]?.at === at) return;
    samples.push({ at, count: status.succeeded });
    if (samples.length > SECONDS) samples.shift();
    const rateOf = samples.slice(1).map((one, index) => Math.max(0, (one.count - (samples[index]?.count ?? 0)) / (one.at - (samples[index]?.at ?? 0))));
    rateCard.hidden = rateOf.length < 3;
    if (rateOf.length >= 3) rates.show([{ name: t("rate"), values: rateOf }], (samples[1]?.at ?? 0) * 1000, 1000);
  }

  /** @param {string} key */
  function key(key) {
    const name = key === "p" ? "pause" : null;
    if (!name || buttons[name].disabled) return false;
    act(name);
    return true;
  }

  const who = h("div");
  import("./who/who.js").then(({ whoForm }) => whoForm(view, path)).then((form) => put(who, form), () => {});
  const node = h("div.stack.loose",
    h("nav.small", { "aria-label": t("back") }, h("a", { href: to.sends(hub) }, t("place.sends"))),
    h("div.stack.tight",
      h("div.head", h("div", h("h1", send.isConfidential && [icon("lock"), " "], nameOf(view, send))), badge),
      h("p.quiet", facts(view, send).flatMap((fact, index) => (index === 0 ? [fact] : [" · ", fact]))),
      h("p.quiet.small", t("id"), " ", h("code", path.id))),
    h("section.card.stack", { "aria-label": t("progressOf") }, progress, bar, reason,
      // The notes come below the buttons, which must not move away from under the mouse.
      canSend && controls, problem, age),
    funnelCard,
    tableCard,
    failedBox,
    rateCard,
    who,
    h("div.row", canSend && h("a.button", { href: `${to.sends(hub)}/new?copy=${encodeURIComponent(path.id)}` }, icon("copy"), t("copyAsNew")),
      h("button", { click: () => showPayload(view, path, send) }, icon("info"), t("payload")),
      h("button", { click: () => exportTable(view, path, last) }, icon("download"), t("export")),
      commandButton(view, `martlet status ${hub} ${path.id}`, "status", { path })));
  return { node, update, key, read, tick, tellAge };
}

/** @param {View} view @param {any} send */
function facts(view, send) {
  const { t, time } = view;
  const [kind = "", ...rest] = String(send.author ?? "").split(":");
  return [
    send.author && h("a", { href: `${to.sends(view.hub)}?author=${encodeURIComponent(send.author)}` }, t.has(`author.${kind}`) ? t(`author.${kind}`, { name: rest.join(":") }) : send.author),
    h("time", { datetime: send.acceptedAt }, time.full(send.acceptedAt)),
    t("expires", { time: time.brief(send.expiresAt) }),
    send.isDirect ? t("direct", { n: send.handles }) : send.isToOneUser ? t("oneUser") : send.expression ? h("span", t("toExpression"), " ", h("code", send.expression)) : t("everybody"),
    send.resentFrom && h("a", { href: to.send(view.hub, send.resentFrom) }, t("resentFrom")),
  ].filter(Boolean);
}

/** @param {number} taken @param {number} failed @param {number} all */
function meter(taken, failed, all) {
  const x = (taken / all) * 100;
  const width = (failed / all) * 100;
  return svg("svg", { class: "meter", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "taken", width: Math.max(x, taken > 0 ? 0.5 : 0), height: 4 }),
    svg("rect", { class: "failed", x, width: failed > 0 ? Math.max(width, 0.5) : 0, height: 4 }));
}

/** @param {View} view @param {any} funnel */
function funnelSteps({ t, n }, funnel) {
  const steps = /** @type {[string, number | null, boolean][]} */ ([
    ["meant", funnel.targeted, false], ["made", funnel.rendered, false], ["taken", funnel.accepted, false],
    ["received", funnel.received, true], ["opened", funnel.opened, true],
  ]);
  const most = Math.max(...steps.map(([, count]) => count ?? 0), 1);
  return steps.map(([name, count, isBound]) => h("li",
    h("span.quiet.small", t(`step.${name}`)),
    h("span.value.number.live-number", { class: count === null ? "quiet" : "" }, count === null ? t("unknown") : (isBound ? "≥ " : "") + n.whole(count)),
    svg("svg", { class: "meter", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { class: "taken", width: count ? Math.max((count / most) * 100, 0.8) : 0, height: 4 }))));
}

/** @param {View} view @param {any} status @param {any} funnel */
function platformTable(view, status, funnel) {
  const { t, n } = view;
  const names = Object.keys(status.platforms ?? {}).sort((a, b) => (status.platforms[b].targeted ?? 0) - (status.platforms[a].targeted ?? 0));
  if (names.length === 0) return h("p.quiet", t("noPlatforms"));
  const count = (/** @type {number | null | undefined} */ value) => (value === null || value === undefined ? h("span.quiet", t("unknown")) : n.whole(value));
  // `suppressed` counts the devices that got nothing although their push did not fail, for example because the send was
  // stopped or a newer one replaced it.
  const hasSpared = names.some((name) => status.platforms[name].suppressed > 0);
  const heads = ["meant", "taken", "failed", ...(hasSpared ? ["spared"] : []), "retrying", "received"];
  return h("div.scroll", { tabindex: "0", role: "group", "aria-label": t("byService") }, h("table.cards",
    h("thead", h("tr", h("th", { scope: "col" }, t("service")), heads.map((name) => h("th.number", { scope: "col" }, t(`step.${name}`))))),
    h("tbody", names.map((name) => {
      const one = status.platforms[name];
      const received = funnel?.platforms?.[name]?.received;
      const cells = [count(one.targeted), count(one.succeeded), count(one.failed), ...(hasSpared ? [count(one.suppressed)] : []), count(one.retrying), received === null || received === undefined ? count(null) : ["≥ ", count(received)]];
      return h("tr", h("th", { scope: "row" }, serviceName(name)), cells.map((cell, index) =>
        h("td.number.live-number", { "data-name": t(`step.${heads[index]}`), class: index === 2 && one.failed > 0 ? "bad" : "" }, cell)));
    }))));
}

/** Returns a list of the first devices that did not get the send, each with a link to the reason.
 * @param {View} view @param {{hub: string, id: string}} path */
function letters(view, path) {
  const { t, time } = view;
  return pane({
    t, load: (signal) => call("failedOf", { path, signal }),
    render: (page) => (page.deadLetters.length === 0 ? h("p.quiet", t("failed.none")) : h("ul.list", page.deadLetters.slice(0, 50).map((/** @type {any} */ letter) => {
      const device = letter.installation ?? letter.registration;
      const text = [h("span.strong", letter.outcome), h("span.quiet", [letter.status, letter.reason].filter(Boolean).join(" ")),
        h("span.quiet.small.number", serviceName(letter.platform), " · ", time.brief(letter.at), " · ", t("attempts", { n: letter.attempts }))];
      return h("li", device ? h("a", { href: to.why(path.hub, path.id, device) }, text) : h("div.item", text));
    }))),
  });
}

/** @param {View} view @param {{hub: string, id: string}} path @param {any} send */
function showPayload(view, path, send) {
  const { t } = view;
  const box = h("div.stack");
  const close = () => h("div.actions", h("button", { click: () => dialog.close() }, t("close")));
  const dialog = openDialog(t("payload"), [box, close()], "wide-dialog");
  show(send.content);
  /** @param {any} content */
  function show(content) {
    if (!content) return put(box, h("p.quiet", t("payload.none")));
    if (content.isWithheld) {
      const mayReveal = content.why !== "confidential" && view.role(path.hub) === "admin";
      return put(box, h("p", t(`withheld.${content.why}`)),
        mayReveal && h("div", h("button", { click: reveal }, t("reveal")), h("p.quiet.small", t("reveal.note"))));
    }
    put(box, copyable(view, pretty(content.body)), Object.keys(content.fields ?? {}).length > 0 && h("dl.facts", Object.entries(content.fields).map(([key, value]) => [h("dt.mono", key), h("dd.mono", String(value))])));
  }
  async function reveal() {
    try {
      show((await call("send", { path, query: { content: "show" } })).content);
    } catch (error) {
      put(box, failure(t, error, null));
    }
  }
}

/** @param {string} text */
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return String(text);
  }
}

/** Downloads the outcomes by push service as CSV, from the data that is shown.
 * @param {View} view @param {{id: string}} path @param {any} status */
function exportTable(view, path, status) {
  const lines = [["push service", "outcome", "devices"], ...Object.entries(status.platforms).flatMap(([name, one]) =>
    Object.entries(/** @type {any} */ (one).outcomes ?? {}).map(([outcome, count]) => [serviceName(name), outcome, String(count)]))];
  const url = URL.createObjectURL(new Blob([lines.map((line) => line.map(csv).join(",")).join("\r\n")], { type: "text/csv" }));
  const link = h("a", { href: url, download: `${path.id}.csv` });
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Quotes a field of CSV. A text that a spreadsheet would read as a formula gets an apostrophe in front.
 * @param {string} text */
function csv(text) {
  const safe = /^[=+\-@\t]/.test(text) ? `'${text}` : text;
  return /[",\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}
