/** New send: message, audience and time on one page; what devices will show beside it; checked before it can be sent. */

import { call, Refusal } from "../../lib/api.js";
import { freshId, h, icon, put, say } from "../../lib/dom.js";
import { failure, serviceName, to } from "../../lib/screen.js";
import { instants, wallClock } from "../../lib/zone.js";
import { ask } from "../../parts/dialog/ask.js";
import { commandButton, openDialog } from "../../parts/dialog/dialog.js";
import { expression } from "../../parts/expression/expression.js";
import { limits, toGroups } from "../../parts/expression/rules.js";
import { loadLook, look } from "../../parts/look/look.js";
import { forget, fresh, keep, kept, message, problems, rollout } from "./draft.js";

const API = { "api-version": "2020-06" };
/** From so many devices on, their number must be typed. */
const MANY = 10_000;
/** Seconds in which a send can be undone. */
const UNDO = 10;

/**
 * @param {import("../../lib/screen.js").View} view
 * @returns {import("../../lib/screen.js").Screen}
 */
export function screen(view) {
  const node = h("div.stack.loose", h("h1", view.t("title")));
  const compose = new Compose(view, node);
  compose.begin();
  return { title: view.t("title"), node, leave: () => compose.leave() };
}

class Compose {
  /**
   * @param {import("../../lib/screen.js").View} view
   * @param {HTMLElement} node
   */
  constructor(view, node) {
    this.view = view;
    this.node = node;
    this.hub = view.hub;
    this.draft = kept(view.hub) ?? fresh();
    /** What the last check was of, and what it said. @type {{of: string, run: any, at: Date} | null} */
    this.check = null;
    /** @type {number | null} */
    this.count = null;
    this.countTimer = 0;
    this.checkTimer = 0;
    this.controller = new AbortController();
    this.countController = new AbortController();
    this.counted = "";
    this.pending = /** @type {{id: string, timer: number} | null} */ (null);
  }

  async begin() {
    const { view } = this;
    if (view.role(this.hub) === "viewer") {
      put(this.node, h("h1", view.t("title")), failure(view.t, new Refusal(403, { code: "forbidden", needs: "sender" }), null));
      return;
    }
    await loadLook(view.language);
    await this.fill();
    this.draw();
    this.changed();
  }

  /** Takes over what the address names: a send to copy, or an audience. */
  async fill() {
    const { query } = this.view;
    const copied = query.get("copy");
    const audience = query.get("to");
    if (audience) this.draft = { ...fresh(), to: audience };
    if (!copied) return;
    const send = await call("send", { path: { hub: this.hub, id: copied } }).catch(() => null);
    if (!send) return;
    this.draft = { ...fresh(), to: send.expression ?? "" };
    try {
      const body = JSON.parse(send.content?.body ?? "{}");
      for (const name of /** @type {const} */ (["title", "text", "link", "picture", "collapse"])) {
        if (typeof body[name] === "string") this.draft[name] = body[name];
      }
    } catch {
      this.draft.text = send.text ?? "";
    }
  }

  draw() {
    const { view } = this;
    const { t } = view;
    this.saved = h("span.quiet.small", { role: "status" });
    this.countLine = h("div.count", { role: "status" });
    this.preview = h("div.looks");
    this.checkBox = h("div.stack.tight");
    this.actions = h("div.stack.tight");
    this.problemLines = /** @type {Record<string, any>} */ ({});
    const form = h("form.compose-form", { on: { submit: (/** @type {Event} */ event) => event.preventDefault(), input: () => this.changed(), keydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.send();
    } } },
    h("section.card.stack", h("h2", t("message")), this.text("title", { maxlength: 1024 }), this.text("text", { area: true }), this.text("link", { type: "url", placeholder: "https://" }),
      h("details", { open: this.hasMore() }, h("summary", t("more")), h("div.stack", this.text("picture", { type: "url", placeholder: "https://" }),
        h("div.pair", this.choice("sound", ["default", "none"]), this.choice("priority", ["normal", "high", "low"])),
        h("div.pair", this.text("badge", { inputmode: "numeric" }), this.text("collapse", { maxlength: 64 })), this.data(),
        this.tick("confidential"), this.tick("silent"), this.tick("truncate")))),
    h("section.card.stack", h("h2", t("to")), this.audience(), this.countLine),
    h("section.card.stack", h("h2", t("when")), this.time(), this.rolloutFields()));
    put(this.node, h("div.head", h("div", h("h1", t("title"))), this.saved),
      h("div.compose", form, h("aside.compose-side", { "aria-label": t("looks") }, h("section.stack", h("h2", t("looks")), this.preview), h("section.card.stack.tight", h("h2", t("check")), this.checkBox))),
      h("div.compose-end", this.actions));
    this.showActions();
  }

  hasMore() {
    const { draft } = this;
    return Boolean(draft.picture || draft.collapse || draft.badge || draft.data.length || draft.confidential || draft.silent || draft.truncate || draft.sound !== "default" || draft.priority !== "normal");
  }

  /**
   * @param {"title" | "text" | "link" | "picture" | "collapse" | "badge"} name
   * @param {Record<string, any>} options
   */
  text(name, { area = false, ...attributes }) {
    const { t } = this.view;
    const id = freshId();
    const problem = h("p.problem", { id: `${id}p` });
    if (this.problemLines) this.problemLines[name] = problem;
    const input = h(area ? "textarea" : "input", { id, name, rows: area ? 3 : null, value: this.draft[name], "aria-describedby": `${id}p`, autocomplete: "off", ...attributes, on: { input: () => { this.draft[name] = input.value; } } });
    return h("div.field", h("label", { for: id }, t(`field.${name}`)), input, t.has(`help.${name}`) && h("p.help", t(`help.${name}`)), problem);
  }

  /**
   * @param {"sound" | "priority"} name
   * @param {string[]} options
   */
  choice(name, options) {
    const id = freshId();
    const select = h("select", { id, value: this.draft[name], on: { change: () => { this.draft[name] = select.value; this.changed(); } } },
      options.map((one) => h("option", { value: one }, this.view.t(name === "sound" ? `sound.${one}` : `priority.${one}`))));
    return h("div.field", h("label", { for: id }, this.view.t(`field.${name}`)), select);
  }

  /** @param {"confidential" | "silent" | "truncate"} name */
  tick(name) {
    const input = h("input", { type: "checkbox", checked: this.draft[name], on: { change: () => { this.draft[name] = input.checked; this.changed(); } } });
    return h("label.choice", input, h("span", this.view.t(`field.${name}`)));
  }

  data() {
    const { t } = this.view;
    const box = h("div.stack.tight");
    const draw = () => put(box, this.draft.data.map((pair, index) => h("div.data-pair",
      h("input", { "aria-label": t("data.name"), placeholder: t("data.name"), value: pair[0], on: { input: (/** @type {any} */ event) => { pair[0] = event.target.value; } } }),
      h("input", { "aria-label": t("data.value"), placeholder: t("data.value"), value: pair[1], on: { input: (/** @type {any} */ event) => { pair[1] = event.target.value; } } }),
      h("button.plain", { type: "button", "aria-label": t("data.remove"), on: { click: () => { this.draft.data.splice(index, 1); draw(); this.changed(); } } }, icon("cross")))),
    h("div", h("button", { type: "button", on: { click: () => { this.draft.data.push(["", ""]); draw(); } } }, icon("plus"), t("data.add"))));
    draw();
    return h("fieldset.field", h("legend.label", t("field.data")), box);
  }

  audience() {
    const { view } = this;
    const chooser = expression(view, view.t, { text: this.draft.to, isEverybody: this.draft.everybody });
    chooser.addEventListener("change", () => {
      this.draft.to = chooser.value.text;
      this.draft.everybody = chooser.value.isEverybody;
      this.changed();
    });
    return chooser;
  }

  time() {
    const { t, time } = this.view;
    const name = freshId();
    const note = h("div.stack.tight", { role: "status" });
    const input = h("input", { type: "datetime-local", "aria-label": t("when.time"), value: this.draft.at || wallClock(new Date(Date.now() + 3_600_000), time.zone), min: wallClock(new Date(Date.now()), time.zone), on: { input: () => choose("at") } });
    const radios = /** @type {Record<string, any>} */ ({});
    for (const kind of ["now", "at"]) radios[kind] = h("input", { type: "radio", name, checked: this.draft.when === kind, on: { change: () => choose(kind) } });
    const choose = (/** @type {string} */ kind) => {
      radios[kind].checked = true;
      this.draft.when = kind;
      update();
      this.changed();
    };
    const update = () => {
      this.draft.at = input.value;
      const found = instants(input.value, time.zone);
      if (this.draft.when !== "at") return put(note);
      if (found.length === 0) return put(note, h("p.bad.small", t("when.none")));
      if (found.length > 1) {
        const twice = freshId();
        return put(note, h("p.small", t("when.twice")), found.map((one, index) => h("label.choice", h("input", { type: "radio", name: twice, checked: this.draft.which === index, on: { change: () => { this.draft.which = index; this.changed(); } } }), `${one.toISOString().slice(0, 16).replace("T", " ")} UTC`)));
      }
      return put(note, h("p.quiet.small.number", t("when.both", { local: time.full(found[0] ?? 0), utc: `${(found[0] ?? new Date()).toISOString().slice(0, 16).replace("T", " ")} UTC` })));
    };
    update();
    return h("div.stack.tight", { role: "radiogroup", "aria-label": t("when") }, h("label.choice", radios.now, t("when.now")),
      h("div.row", h("label.choice", radios.at, t("when.at")), h("div.when-field", input), h("span.quiet.small", time.name())), note);
  }

  rolloutFields() {
    const { t } = this.view;
    const hasCanary = this.view.session.features?.includes("canary");
    const number = (/** @type {"first" | "rate" | "halt"} */ name) => {
      const input = h("input", { inputmode: "numeric", "aria-label": t(`rollout.${name}`), value: this.draft[name], class: "short", on: { input: () => { this.draft[name] = input.value; } } });
      return input;
    };
    const line = (/** @type {string} */ key, /** @type {any} */ input) => h("span.row", this.view.t.nodes(key, { field: input }));
    return h("fieldset.stack.tight.rollout", h("legend.label", t("rollout")), hasCanary && line("rollout.first.line", number("first")), line("rollout.rate.line", number("rate")), line("rollout.halt.line", number("halt")),
      h("p.help.quiet.small", t("rollout.help")));
  }

  /** Something is different: what was checked is void; count soon, check a little later. */
  changed() {
    const { draft, view } = this;
    const state = JSON.stringify(draft);
    if (this.check && this.check.of !== state) this.check = null;
    if (!draft.confidential) {
      keep(this.hub, draft);
      if (this.saved) say(this.saved, view.t("kept", { time: view.time.clock(Date.now()) }));
    } else {
      forget(this.hub);
      if (this.saved) say(this.saved, view.t("notKept"));
    }
    this.showProblems();
    window.clearTimeout(this.countTimer);
    window.clearTimeout(this.checkTimer);
    this.countTimer = window.setTimeout(() => this.countAudience(), 400);
    this.checkTimer = window.setTimeout(() => this.runCheck(), 1000);
    this.showActions();
  }

  showProblems() {
    const found = problems(this.draft);
    for (const [name, line] of Object.entries(this.problemLines ?? {})) {
      const key = found[name];
      put(line, key && [icon("warn"), this.view.t(key)]);
      line.parentElement?.querySelector("input, textarea")?.toggleAttribute("aria-invalid", Boolean(key));
    }
  }

  get hasAudience() {
    return this.draft.everybody || this.draft.to.trim() !== "";
  }

  async countAudience() {
    const { t } = this.view;
    this.countController.abort();
    this.countController = new AbortController();
    const { signal } = this.countController;
    if (!this.countLine) return;
    if (!this.hasAudience) {
      this.count = null;
      put(this.countLine, h("p.quiet", t("count.nobody")));
      return;
    }
    const groups = toGroups(this.draft.to);
    if (groups && limits(groups).count > limits(groups).limit) return;
    const key = `${this.draft.everybody}${this.draft.to}`;
    if (key === this.counted) return;
    put(this.countLine, h("p.quiet", t("counting")));
    try {
      const found = await call("audience", { path: { hub: this.hub }, query: { tags: this.draft.everybody ? null : this.draft.to }, signal });
      this.counted = key;
      this.showCount(found);
    } catch (error) {
      if (signal.aborted) return;
      put(this.countLine, h("p.bad.small", error instanceof Refusal && error.message ? error.message : t("failed.unreachable")));
    }
  }

  /** @param {any} found */
  showCount(found) {
    const { t, n } = this.view;
    const parts = Object.entries(found.platforms).map(([name, part]) => [name, /** @type {any} */ (part).native]).filter(([, count]) => count > 0);
    const sum = parts.reduce((all, [, count]) => all + count, 0);
    this.count = sum;
    const templates = Object.values(found.platforms).reduce((all, part) => all + /** @type {any} */ (part).templates, 0);
    put(this.countLine, h("p", h("span.count-number.number", t("devices", { n: sum })), " ",
      h("span.quiet.small.number", parts.sort((a, b) => b[1] - a[1]).map(([name, count]) => `${serviceName(name)} ${n.whole(count)}`).join(" · "))),
    templates > 0 && h("p.quiet.small", t("count.templates", { n: templates })));
  }

  fields() {
    /** @type {Record<string, string>} */
    const fields = { "servicebusnotification-format": "message" };
    if (this.draft.everybody) fields["martlet-everybody"] = "true";
    else fields["servicebusnotification-tags"] = this.draft.to.trim();
    const control = rollout(this.draft, this.view.session.features?.includes("canary"));
    if (control) fields["martlet-rollout"] = control;
    if (this.draft.confidential) fields["martlet-confidential"] = "true";
    return fields;
  }

  async runCheck() {
    const { t } = this.view;
    this.controller.abort();
    this.controller = new AbortController();
    const { signal } = this.controller;
    const of = JSON.stringify(this.draft);
    const isEmpty = !this.draft.title && !this.draft.text && !this.draft.silent;
    if (!this.hasAudience || isEmpty || Object.keys(problems(this.draft)).length > 0) {
      put(this.preview, h("p.quiet", t("looks.empty")));
      put(this.checkBox, h("p.quiet", isEmpty ? t("check.noText") : !this.hasAudience ? t("check.nobody") : t("check.fields")));
      return;
    }
    put(this.checkBox, h("p.quiet", { role: "status" }, t("checking")));
    try {
      const run = await call("post", { path: { hub: this.hub }, query: { ...API, dryRun: "" }, fields: this.fields(), body: message(this.draft), signal });
      if (of !== JSON.stringify(this.draft)) return;
      this.check = { of, run, at: new Date() };
      this.showCheck(run);
      this.showLooks(run);
    } catch (error) {
      if (signal.aborted) return;
      put(this.checkBox, error instanceof Refusal && error.status === 400 ? h("div.notice.bad-notice", icon("warn"), h("div", h("p.strong", t("check.refused")), h("p.quote", { lang: "en" }, error.message))) : failure(t, error, () => this.runCheck()));
    }
    this.showActions();
  }

  /** @param {any} run */
  showCheck(run) {
    const { t, time } = this.view;
    const lines = [];
    const credentials = Object.entries(run.platforms).map(([name, part]) => ({ name: serviceName(name), state: part.credential.state, targeted: part.targeted, problems: part.problems }));
    lines.push(run.isAccepted ? ["check", "good", t("check.accepted", { n: run.targeted })] : ["cross", "bad", t("check.notAccepted")]);
    for (const one of credentials) {
      if (one.state === "missing") lines.push(["warn", "warn", t("check.missing", { service: one.name, n: one.targeted })]);
      if (one.state === "unusable") lines.push(["cross", "bad", t("check.unusable", { service: one.name })]);
      if (one.state === "unchecked") lines.push(["info", "quiet", t("check.unchecked", { service: one.name })]);
    }
    if (run.templatesOnly > 0) lines.push(["info", "quiet", t("check.templates", { n: run.templatesOnly })]);
    if (run.rollout?.seconds > 1) lines.push(["clock", "quiet", t("check.lasts", { time: time.duration(run.rollout.seconds) })]);
    const sentences = [...new Set([...run.problems, ...credentials.flatMap((one) => one.problems)])];
    put(this.checkBox, h("ul.check-list", lines.map(([symbol, kind, text]) => h("li", h("span", { class: kind }, icon(String(symbol))), h("span", text))),
      sentences.map((text) => h("li", h("span.warn", icon("warn")), h("span.quote", { lang: "en" }, text)))),
    h("p.quiet.small.number", t("check.at", { time: time.clock(Date.now()) })));
    if (run.audience) this.showCount(run.audience);
    this.count = run.targeted ?? this.count;

  }

  /** @param {any} run */
  showLooks(run) {
    const { view } = this;
    const { t, n } = view;
    const parts = Object.entries(run.platforms).filter(([, part]) => part.payloads.length > 0);
    put(this.preview, parts.length === 0 ? h("p.quiet", t("looks.none")) : parts.map(([platform, part]) => {
      const payload = part.payloads[0];
      const own = this.draft.platforms[platform];
      return h("div.stack.tight", look(view, payload.appearance, { app: this.hub, name: serviceName(platform), size: n.bytes(payload.size ?? 0) }),
        h("div.row.small", h("button.link", { type: "button", on: { click: () => this.editPayload(platform, payload) } }, own ? t("json.byHand") : t("json")),
          own && h("button.link", { type: "button", on: { click: () => { delete this.draft.platforms[platform]; this.changed(); } } }, t("json.back"))));
    }), parts.length > 0 && h("p.quiet.small.wide-note", t("looks.note")));
  }

  /**
   * @param {string} platform
   * @param {any} payload
   */
  editPayload(platform, payload) {
    const { t } = this.view;
    const id = freshId();
    let text = payload.body ?? "";
    try {
      text = JSON.stringify(JSON.parse(text), null, 2);
    } catch { /* It is not JSON: shown as it is. */ }
    const area = h("textarea.mono", { id, rows: 12, spellcheck: "false", value: text });
    const problem = h("p.bad.small", { role: "alert" });
    const take = () => {
      try {
        this.draft.platforms[platform] = { payload: JSON.parse(area.value) };
        dialog.close();
        this.changed();
      } catch {
        put(problem, t("json.bad"));
      }
    };
    const dialog = openDialog(t("json.title", { service: serviceName(platform) }), [h("div.field", h("label", { for: id }, t("json.label")), area, problem),
      h("div.actions", h("button", { type: "button", on: { click: () => dialog.close() } }, t("cancel")), h("button.primary", { type: "button", on: { click: take } }, t("json.take")))], "wide-dialog");
  }

  get isReady() {
    return this.check !== null && this.check.of === JSON.stringify(this.draft) && this.check.run.isAccepted && (this.count ?? 0) > 0;
  }

  showActions() {
    const { view } = this;
    const { t } = view;
    if (!this.actions || this.pending) return;
    const isLater = this.draft.when === "at";
    const text = this.count === null || this.count === 0 ? t("send.nobody") : isLater ? t("send.later", { n: this.count }) : t("send.now", { n: this.count });
    if (!this.sendButton?.isConnected) {
      this.sendButton = h("button.primary.big", { type: "button", "aria-keyshortcuts": "Control+Enter", on: { click: () => this.send() } });
      this.sendNote = h("span.quiet.small", { role: "status" });
      put(this.actions, h("div.row", h("button.big", { type: "button", on: { click: () => this.test() } }, t("test")), h("span.grow"), this.sendNote, this.sendButton),
        h("div.row.between", h("span", commandButton(view, null, "post", { path: { hub: this.hub }, query: API, fields: this.fields(), body: message(this.draft) })),
          h("button.plain", { type: "button", on: { click: () => this.discard() } }, t("discard"))));
    }
    say(this.sendButton, text);
    this.sendButton.disabled = !this.isReady;
    say(this.sendNote, this.isReady ? "" : t("send.notYet"));
  }

  async discard() {
    forget(this.hub);
    this.draft = fresh();
    this.counted = "";
    this.sendButton = null;
    this.draw();
    this.changed();
  }

  async test() {
    const { view, hub } = this;
    const { t } = view;
    const id = freshId();
    const sending = await call("sending", { path: { hub } }).catch(() => ({}));
    const testers = sending.testers ?? "";
    const input = h("input.mono", { id, value: testers, placeholder: "testers", autocomplete: "off", spellcheck: "false", required: true, autofocus: true });
    const results = h("div.stack.tight", { "aria-live": "polite" });
    const submit = async (/** @type {Event} */ event) => {
      event.preventDefault();
      put(results, h("p.quiet", t("test.running")));
      try {
        /** @type {Record<string, string>} */
        const fields = { ...this.fields(), "servicebusnotification-tags": input.value.trim() };
        delete fields["martlet-everybody"];
        delete fields["martlet-rollout"];
        const answer = await call("post", { path: { hub }, query: { ...API, test: "" }, fields, body: message(this.draft) });
        put(results, testResults(view, answer));
        if (input.value.trim() !== testers) call("saveSending", { path: { hub }, body: { ...sending, testers: input.value.trim() } }).catch(() => {});
      } catch (error) {
        put(results, failure(t, error, null));
      }
    };
    const dialog = openDialog(t("test.title"), [h("form", { on: { submit } }, h("p.quiet", t("test.text")), h("div.field", h("label", { for: id }, t("test.to")), input), results,
      h("div.actions", h("button", { type: "button", on: { click: () => dialog.close() } }, t("close")), h("button.primary", t("test.send"))))]);
  }

  async send() {
    const { view, draft } = this;
    const { t, n } = view;
    if (!this.isReady || this.pending || this.isAsking) return;
    const count = this.count ?? 0;
    this.isAsking = true;
    try {
      if (/^\s*[[{]/.test(draft.text) && isJSON(draft.text) && !(await ask(view, { title: t("isJSON"), text: t("isJSON.text"), yes: t("isJSON.yes") }))) return;
      if ((count > MANY || draft.everybody) && !(await ask(view, {
        title: t("sure", { n: count }), text: h("div.stack.tight", h("p", draft.everybody ? t("sure.everybody") : h("code", draft.to)), h("p", t("sure.text"))),
        yes: t("send.now", { n: count }), typed: String(count), typedLabel: t("sure.typed", { number: n.whole(count) }),
      }))) return;
    } finally {
      this.isAsking = false;
    }
    await this.schedule();
  }

  async schedule() {
    const { view, draft, hub } = this;
    const { t } = view;
    if (this.sendButton) this.sendButton.disabled = true;
    try {
      const { now } = await call("session");
      const at = draft.when === "at" ? this.dueAt() : new Date(Date.parse(now) + UNDO * 1000);
      const answer = await call("schedule", { path: { hub }, query: API, body: message(draft), fields: { ...this.fields(), "servicebusnotification-scheduletime": at.toISOString(), "idempotency-key": draft.id } });
      const id = /\/(?:schedulednotifications|messages)\/([^/?]+)/.exec(answer?.location ?? "")?.[1] ?? "";
      if (draft.when === "at") {
        forget(hub);
        view.toast(t("scheduled", { time: view.time.full(at) }));
        return view.go(id ? to.send(hub, id) : `${to.sends(hub)}/waiting`);
      }
      this.countDown(id, Date.now() + UNDO * 1000);
    } catch (error) {
      put(this.checkBox, failure(t, error, null));
      this.showActions();
    }
  }

  dueAt() {
    const found = instants(this.draft.at, this.view.time.zone);
    return found[Math.min(this.draft.which, found.length - 1)] ?? new Date();
  }

  /**
   * Ten seconds in which the send can be taken back.
   *
   * @param {string} id
   * @param {number} end
   */
  countDown(id, end) {
    const { view, hub } = this;
    const { t } = view;
    const line = h("span.strong.number");
    const undo = h("button.big.danger", { type: "button", on: { click: () => this.undo(id) } }, t("undo"));
    put(this.actions, h("div.notice.undo", { role: "status" }, icon("clock"), h("div.row.between.grow", h("span", h("span.unseen", t("undo.told")), h("span", { "aria-hidden": "true" }, line)), undo)));
    undo.focus();
    const tick = () => {
      const left = Math.max(0, Math.ceil((end - Date.now()) / 1000));
      say(line, t("undo.left", { n: left, devices: view.n.whole(this.count ?? 0) }));
      if (left > 0) return;
      window.clearInterval(this.pending?.timer);
      this.pending = null;
      forget(hub);
      view.go(to.send(hub, id));
    };
    this.pending = { id, timer: window.setInterval(tick, 250) };
    tick();
  }

  /** @param {string} id */
  async undo(id) {
    const { view, hub } = this;
    const { t } = view;
    window.clearInterval(this.pending?.timer);
    try {
      await call("withdraw", { path: { hub, id }, query: API });
      view.toast(t("undone"));
      this.draft.id = fresh().id;
    } catch {
      // It was too late by a moment: stop what is left of it.
      await call("cancel", { path: { hub, id }, body: {} }).catch(() => {});
      view.toast(t("undo.late"));
      view.go(to.send(hub, id));
    }
    this.pending = null;
    this.sendButton = null;
    this.changed();
  }

  leave() {
    window.clearTimeout(this.countTimer);
    window.clearTimeout(this.checkTimer);
    // Leaving the page is no undo: the send goes out, and is in the list.
    window.clearInterval(this.pending?.timer);
    if (this.pending) forget(this.hub);
    this.controller.abort();
    this.countController.abort();
  }
}

/**
 * @param {import("../../lib/screen.js").View} view
 * @param {any} answer
 */
function testResults({ t }, answer) {
  const results = answer?.results ?? resultsOf(answer?.text ?? "");
  if (!results) return h("p.good", t("test.sent"));
  if (results.length === 0) return h("p.warn", t("test.nobody"));
  return h("ul.check-list", results.map((/** @type {any} */ one) => {
    const isGood = /success/i.test(one.outcome);
    return h("li", h("span", { class: isGood ? "good" : "bad" }, icon(isGood ? "check" : "cross")), h("span", h("span.strong", serviceName(one.platform)), " ", h("code.quiet", one.registration), " ", isGood ? t("verdict.delivered") : h("span.quote", one.outcome)));
  }));
}

/**
 * The results of a test send where the answer is the original service's XML. Only text is read, nothing is parsed as markup.
 *
 * @param {string} text
 */
function resultsOf(text) {
  if (!text.includes("<NotificationOutcome")) return null;
  const part = (/** @type {string} */ one, /** @type {string} */ name) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(one)?.[1] ?? "";
  return text.split("<RegistrationResult>").slice(1).map((one) => ({
    platform: part(one, "ApplicationPlatform"), registration: part(one, "RegistrationId"),
    outcome: /successfully sent/.test(part(one, "Outcome")) ? "Success" : part(one, "Outcome"),
  }));
}

/** @param {string} text */
function isJSON(text) {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}

