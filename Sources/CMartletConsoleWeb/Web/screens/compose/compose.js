/** The screen for a new send: fields for message, audience and time, and previews. A draft must pass a dry run
 * before it can be sent. */

import { Refusal } from "../../lib/api.js";
import { freshId, h, icon, put, say } from "../../lib/dom.js";
import { draftKey, owner } from "../../lib/drafts.js";
import { failure, to } from "../../lib/screen.js";
import { expression } from "../../parts/expression/expression.js";
import { content, first, follow, forget, fresh, hold, keep, kept, others, problems } from "./draft.js";

/** @param {View} view @returns {OpenScreen} */
export function screen(view) {
  const node = h("div.stack.loose", h("h1", view.t("title")));
  const compose = new Compose(view, node);
  compose.begin();
  return { title: view.t("title"), node, leave: () => compose.leave(), back: (again) => compose.back(again), isSecret: () => compose.draft.confidential };
}

export class Compose {
  /** @param {View} view @param {HTMLElement} node */
  constructor(view, node) {
    this.view = view;
    this.node = node;
    this.hub = view.hub;
    owner.name = view.session.operator;
    this.draft = kept(view.hub) ?? fresh();
    // The last dry run, and the content of the draft at that time.
    this.check = /** @type {{of: string, run: any} | null} */ (null);
    // The content of the draft that the server has refused to check.
    this.refusedOf = "";
    /** @type {number | null} */
    this.count = null;
    this.countTimer = 0;
    this.checkTimer = 0;
    this.controller = new AbortController();
    this.countController = new AbortController();
    this.counted = "";
    // The language of the previews.
    this.shownLanguage = "";
    // The send of the draft in the form that is not over, and the timer that shows its countdown.
    this.pending = /** @type {{timer: number, going: import("./out/going.js").Going} | null} */ (null);
    // The last send of the same content from this browser, if the check has found one.
    this.before = /** @type {{id: string, at: number} | null} */ (null);
    // What became of the last send, and the content of the draft then.
    this.told = h("div.stack.tight");
    this.toldOf = "";
    // What `fill` has found out about a campaign, for when the form is drawn.
    this.note = /** @type {HTMLElement | null} */ (null);
    this.isLeft = false;
    this.follow = (/** @type {StorageEvent} */ event) => this.followed(event);
    this.campaignLine = h("p.quiet", { role: "status" });
    this.others = h("div");
    this.othersTimer = 0;
    // The drafts beside the form that were being sent, by id, and whether they were sent.
    this.sent = /** @type {Map<string, {name: string, going: any, isSent: boolean}>} */ (new Map());
    // Draws the fields for other languages again, when buttons were added or removed. `languages.js` sets the function.
    this.drawLanguages = () => {};
    // Returns the time of a send that goes out later. `when.js` sets the function.
    this.dueAt = () => new Date(NaN);
    this.checkBox = h("div.stack.tight");
    this.actions = h("div.stack.tight");
    this.preview = h("div.stack.tight.previews");
    this.saved = h("span.quiet.small", { role: "status" });
    this.countLine = h("div.count", { role: "status" });
    this.keepButton = h("button.plain", { click: () => this.save() });
    /** @type {any} */
    this.sendButton = null;
    this.sendNote = h("span.quiet.small", { role: "status" });
  }

  async begin() {
    const { view } = this;
    if (!this.maySend()) return;
    try {
      await this.fill();
    } catch (error) {
      put(this.node, h("h1", view.t("title")), failure(view.t, error, () => this.begin()));
      return;
    }
    window.addEventListener("storage", this.follow);
    this.draw();
    this.changed();
    this.tell(this.note);
    this.showSending();
  }

  /** Puts another draft into the form. The send of the former one goes on.
   * @param {import("./draft.js").Draft} draft */
  take(draft) {
    this.release();
    this.draft = draft;
    this.counted = "";
    this.count = null;
    this.sendButton = null;
    this.tell(null);
    this.draw();
    this.changed();
    this.showSending();
  }

  async showSending() {
    if (!this.draft.sending) return;
    const { show } = await this.part("out");
    if (!this.isLeft) show(this);
  }

  /** Handles a change of the stored drafts in another tab.
   * @param {StorageEvent} event */
  followed({ key, newValue }) {
    if (key !== draftKey(this.hub, this.draft.id) || newValue === null) return;
    follow(this.hub, this.draft);
    if (this.draft.sending) this.showSending();
    else this.pending?.going.turn();
  }

  /** Returns whether the operator may send in this hub. If not, shows a message. */
  maySend() {
    const { view } = this;
    const may = !["viewer", null].includes(view.role(this.hub));
    if (may) return true;
    put(this.node, h("h1", view.t("title")), failure(view.t, new Refusal(403, { code: "forbidden", needs: "sender" }), null));
    if (this.draft.sending) this.part("out").then(({ goesOn }) => this.node.append(goesOn(this)));
    return false;
  }

  /** Continues after another sign-in. The draft is still there if the operator is the same and may still send.
   * @param {View} view */
  async back(view) {
    const isSame = view.session.operator === this.view.session.operator;
    // The send may end before its texts are there.
    if (this.pending) await this.part("out", view);
    this.view = view;
    if (!isSame) return view.go(location.pathname, true);
    if (!this.maySend()) {
      if (this.pending) this.pending.going.listen = null;
      return this.detach();
    }
    if (!this.pending) return this.changed();
    this.pending.going.resume(view);
  }

  /** Makes the draft from what the query of the address names: a send to copy or change, an audience, or a campaign. */
  async fill() {
    const { query } = this.view;
    if (["copy", "change", "to", "campaign"].some((name) => query.has(name))) await (await this.part("drafts")).take(this);
  }

  draw() {
    const { t } = this.view;
    this.problemLines = /** @type {Record<string, any>} */ ({});
    const form = h("form.compose-form", { on: { submit: (event) => event.preventDefault(), input: () => this.changed(), keydown: (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.send();
    } } },
    h("section.card.stack", h("h2", t("message")), this.text("title", { maxlength: 1024 }), this.text("text", { area: true }), this.text("link", { type: "url", placeholder: "https://" }), this.later("languages", this.draft.languages.length > 0), this.more()),
    h("section.card.stack", h("h2", t("to")), this.audience(), this.countLine),
    h("section.card.stack", h("h2", t("when")), this.time(), this.rolloutFields()));
    put(this.node, h("div.head", h("div", h("h1", t("title")), this.campaignLine), this.saved), this.others,
      h("div.compose", form, h("aside.compose-side", { "aria-label": t("looks") }, h("section.stack", h("h2", t("looks")), this.preview), h("section.card.stack.tight", h("h2", t("check")), this.checkBox))),
      h("div.compose-end", this.told, this.actions));
    this.showActions();
    this.showOthers();
  }

  showOthers() {
    if (others(this.hub, this.draft.id).length > 0) this.part("drafts").then(({ show }) => show(this));
  }

  /** @param {"title" | "text" | "link" | "picture" | "collapse" | "badge"} name @param {Record<string, any>} options */
  text(name, { area = false, ...attributes }) {
    const { t } = this.view;
    const id = freshId();
    const problem = h("p.problem", { id: `${id}p` });
    if (this.problemLines) this.problemLines[name] = problem;
    const input = h(area ? "textarea" : "input", { id, name, rows: area ? 3 : null, value: this.draft[name], "aria-describedby": `${id}p`, autocomplete: "off", ...attributes, on: { input: () => { this.draft[name] = input.value; } } });
    return h("div.field", h("label", { for: id }, t(`field.${name}`)), input, t.has(`help.${name}`) && h("p.help", t(`help.${name}`)), problem);
  }

  more() {
    const { draft } = this;
    const isUsed = draft.picture || draft.collapse || draft.badge || draft.data.length || draft.variables.length || draft.actions.length || draft.confidential || draft.silent || draft.truncate || draft.sound !== "default" || draft.priority !== "normal";
    return this.later("more", Boolean(isUsed));
  }

  /** Returns a section whose fields are loaded when it is opened.
   * @param {"more" | "languages"} name @param {boolean} isOpen */
  later(name, isOpen) {
    const box = h("div.stack");
    const fill = async () => {
      if (!details.open || box.firstChild) return;
      put(box, (await this.part(name)).fields(this));
      this.showProblems();
    };
    const details = h("details", { open: isOpen, on: { toggle: fill } }, h("summary", this.view.t(name)), box);
    return details;
  }

  /** Loads the code and the texts of a part of this screen.
   * @param {"more" | "languages" | "check" | "out" | "campaign" | "drafts"} name @returns {Promise<any>} */
  async part(name, view = this.view) {
    const [code, texts] = await Promise.all([import(`./${name}/${name}.js`), import(`./${name}/text.${view.language}.js`)]);
    view.t.add(texts.default);
    return code;
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
    const { t } = this.view;
    const { draft } = this;
    const name = freshId();
    const box = h("div.stack.tight");
    const radio = (/** @type {string} */ kind) => h("label.choice", h("input", { type: "radio", name, checked: draft.when === kind, on: { change: () => choose(kind) } }), t(`when.${kind}`));
    const choose = async (/** @type {string} */ kind) => {
      draft.when = kind;
      box.hidden = kind === "now";
      if (kind === "at" && !box.firstChild) {
        const { timeFields } = await import("./when.js");
        put(box, timeFields(this));
      }
      this.changed();
    };
    if (draft.when === "at") choose("at");
    return h("div.stack.tight", { role: "radiogroup", "aria-label": t("when") }, h("div.row.choices", radio("now"), radio("at")), box);
  }

  rolloutFields() {
    const { t } = this.view;
    const hasCanary = this.view.session.features?.includes("canary");
    const line = (/** @type {"first" | "wait" | "rate" | "halt"} */ name) => {
      const input = h("input.short", { inputmode: "numeric", "aria-label": t(`rollout.${name}`), value: this.draft[name], on: { input: () => {
        this.draft[name] = input.value;
        wait.hidden = !this.draft.first.trim();
      } } });
      return h("span.row", t.nodes(`rollout.${name}.line`, { field: input }));
    };
    const problem = h("p.problem");
    if (this.problemLines) this.problemLines.wait = problem;
    const wait = h("div", { hidden: !this.draft.first.trim() }, line("wait"), problem);
    return h("fieldset.stack.tight.rollout", h("legend.label", t("rollout")), hasCanary && [line("first"), wait], line("rate"), line("halt"),
      h("p.help.quiet.small", t("rollout.help")));
  }

  /** Handles a change of the draft: discards the last dry run, counts the audience soon, and makes a dry run a
   * little later. */
  changed() {
    const { draft, view } = this;
    const state = content(draft);
    if (this.check && this.check.of !== state) this.check = null;
    const { id } = draft;
    const isKept = keep(this.hub, draft);
    // Another tab has changed the draft too, and now there are two.
    if (draft.id !== id) this.showOthers();
    hold(this.hub, isKept ? draft.id : "");
    if (this.toldOf !== state) this.tell(null);
    say(this.saved, draft.confidential ? view.t("notKept") : isKept ? view.t("kept", { time: view.time.clock(Date.now()) }) : "");
    say(this.campaignLine, draft.campaign ? view.t(draft.campaign.saved === state ? "campaign" : "campaign.changed", { name: draft.campaign.name }) : "");
    this.showProblems();
    window.clearTimeout(this.countTimer);
    window.clearTimeout(this.checkTimer);
    if (draft.sending) return;
    const check = this.part("check");
    this.countTimer = window.setTimeout(async () => (await check).countAudience(this), 400);
    this.checkTimer = window.setTimeout(async () => (await check).runCheck(this), 1000);
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

  /** The number of devices that get the message before a canary waits; 0 if all devices get it at once. */
  get first() {
    const count = this.view.session.features?.includes("canary") ? first(this.draft) : 0;
    return count < (this.count ?? 0) ? count : 0;
  }

  /** Whether the check is over and has found what keeps the draft from being sent. */
  get isRefused() {
    const of = content(this.draft);
    return this.refusedOf === of || (this.check?.of === of && !this.isReady);
  }

  get isReady() {
    return this.check !== null && this.check.of === content(this.draft) && this.check.run.isAccepted && (this.count ?? 0) > 0;
  }

  showActions() {
    const { t } = this.view;
    if (this.pending) return;
    const n = this.count ?? 0;
    const text = n === 0 ? t("send.nobody") : this.draft.when === "at" ? t("send.later", { n }) : this.first ? t("send.first", { first: this.first, n }) : t("send.now", { n });
    if (!this.sendButton?.isConnected) {
      this.sendButton = h("button.primary.big", { type: "button", "aria-keyshortcuts": "Control+Enter", click: () => this.send() });
      put(this.actions, h("div.row", h("button.big", { click: async () => (await this.part("out")).test(this) }, t("test")), h("span.grow"), h("span.row.to-send", this.sendNote, this.sendButton)),
        h("div.row.between", h("button.plain", { click: () => this.showCommand() }, icon("command"), t("command")),
          h("div.row", this.keepButton, h("button.plain", { click: () => this.save(true) }, t("campaign.save")), h("button.plain", { click: () => this.discard() }, t("discard")))));
    }
    this.keepButton.hidden = !this.draft.campaign;
    if (this.draft.campaign) say(this.keepButton, t("campaign.keep", { name: this.draft.campaign.name }));
    say(this.sendButton, this.draft.replaces ? t("send.replace", { n }) : text);
    this.sendButton.disabled = !this.isReady;
    const { before } = this;
    if (!before || !this.isReady) return say(this.sendNote, this.isReady ? "" : t(this.isRefused ? "send.mend" : "send.notYet"));
    if (n > 0 && this.draft.when === "now") say(this.sendButton, t("send.again", { n }));
    put(this.sendNote, t("send.before", { time: this.view.time.brief(new Date(before.at)) }), " ", h("a", { href: to.send(this.hub, before.id) }, t("send.look")));
  }

  async showCommand() {
    (await import("./command.js")).showDraft(this);
  }

  /** Saves the draft as a campaign.
   * @param {boolean} isNew Whether to save it as a new campaign, even if it belongs to a campaign already.
   * @returns {Promise<boolean>} */
  async save(isNew = false) {
    return (await this.part("campaign")).save(this, isNew);
  }

  /** Shows what became of a send, until the draft changes.
   * @param {...any} nodes null for nothing. */
  tell(...nodes) {
    this.toldOf = content(this.draft);
    put(this.told, ...nodes);
  }

  discard() {
    forget(this.hub, this.draft);
    this.take(fresh());
  }

  async send() {
    if (!this.isReady || this.pending || this.isSending) return;
    this.isSending = true;
    try {
      await (await this.part("out")).send(this);
    } catch (error) {
      this.tell(failure(this.view.t, error, () => this.send()));
    } finally {
      this.isSending = false;
    }
  }

  leave() {
    this.isLeft = true;
    window.clearTimeout(this.countTimer);
    window.clearTimeout(this.checkTimer);
    window.clearTimeout(this.othersTimer);
    window.removeEventListener("storage", this.follow);
    this.release();
    this.controller.abort();
    this.countController.abort();
  }

  /** Ends the countdown in the form. The send goes on, and a message with the button Undo stays until it begins. */
  release() {
    const { view } = this;
    const going = this.pending?.going;
    this.detach();
    if (!going?.sending || going.outcome) return;
    going.listen = null;
    const { dues, ahead } = going.sending;
    view.toast(view.t(going.sending.id ? "undo.leaving" : "sending.unknown"), { label: view.t("undo"), act: () => going.undo() }, Math.max(5000, Date.parse(dues.at(-1) ?? "") - ahead - Date.now()));
  }

  /** Enables the fields again, and forgets the send. */
  detach() {
    if (!this.pending) return;
    window.clearInterval(this.pending.timer);
    this.pending = null;
    this.sendButton = null;
    for (const child of /** @type {any} */ (this.node.children)) child.inert = false;
  }
}
