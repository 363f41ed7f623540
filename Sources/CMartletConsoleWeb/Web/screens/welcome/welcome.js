/** The first hour: a hub, a device, a push on a screen of one's own. What is done is read from facts. */

import { address, call } from "../../lib/api.js";
import { freshId, h, icon, put, say } from "../../lib/dom.js";
import { failure, path, to } from "../../lib/screen.js";
import { commandButton } from "../../parts/dialog/dialog.js";
import { loadLook, look } from "../../parts/look/look.js";

const API = { "api-version": "2020-06" };
/** Seconds after which a browser's push service counts as out of reach. */
const PATIENCE = 5;

/** @param {View} view @returns {OpenScreen} */
export function screen(view) {
  const { t } = view;
  const node = h("div.stack.loose");
  const guide = new Guide(view, node);
  loadLook(view.language).then(() => guide.draw());
  return { title: t("title"), node, leave: () => guide.leave() };
}

class Guide {
  /** @param {View} view @param {HTMLElement} node */
  constructor(view, node) {
    this.view = view;
    this.node = node;
    this.tag = `console:${view.session.operator.replace(/[^\w.@-]/g, "_").slice(0, 60)}`;
    /** @type {{kind: string, installation: string, handle?: string} | null} */
    this.device = view.hub ? kept(view.hub) : null;
    /** @type {EventSource | null} */
    this.events = null;
    this.sent = /** @type {{id: string, at: number} | null} */ (null);
    this.channel = new BroadcastChannel("martlet-push");
    this.channel.addEventListener("message", (event) => this.arrived(event.data));
  }

  leave() {
    this.events?.close();
    this.channel.close();
  }

  draw() {
    const { view } = this;
    const { t, hub } = view;
    const isAdmin = view.role(hub || undefined) === "admin";
    this.problem = h("div");
    this.screenBox = h("div.welcome-screen");
    this.arrival = h("p.strong", { role: "status" });
    put(this.node, h("div", h("h1.display", t("title")), h("p.quiet", t("subtitle"))),
      !isAdmin && hub && h("div.notice", icon("lock"), h("div", h("p", t("notAdmin")))),
      h("div.welcome", h("ol.steps", this.hubStep(), this.deviceStep(), this.pushStep()), h("div.stack", this.screenBox, this.arrival)),
      this.problem,
      h("section.stack.tight", h("h2", t("then")), h("ul.list.then", this.then())));
    this.showScreen(null);
    this.listen();
  }

  /** @param {string} key @param {number} number @param {"done" | "here" | "later"} state @param {...any} children */
  step(key, number, state, ...children) {
    const { t } = this.view;
    return h("li.step", { class: `is-${state}`, "aria-current": state === "here" ? "step" : null },
      h("span.step-mark", state === "done" ? [icon("check"), h("span.unseen", t("done"))] : number),
      h("div.stack.tight.grow", h("h2", t(key)), children));
  }

  hubStep() {
    const { view } = this;
    const { t, hub } = view;
    if (hub) return this.step("step.hub", 1, "done", h("p.quiet", hub));
    const id = freshId();
    const input = h("input", { id, value: "shop", pattern: "[A-Za-z][A-Za-z0-9.-]{0,49}", required: true, autocomplete: "off", spellcheck: "false" });
    return this.step("step.hub", 1, "here", h("p.quiet", t("step.hub.text")), h("form.row", { on: { submit: async (event) => {
      event.preventDefault();
      await this.run(async () => {
        await call("makeHub", { path: { hub: input.value.trim() }, body: {} });
        localStorage.setItem("hub", input.value.trim());
        await view.refreshSession();
      });
    } } }, h("label.unseen", { for: id }, t("hub.name")), h("div.short-field", input), h("button.primary", t("hub.make"))));
  }

  deviceStep() {
    const { view } = this;
    const { t, hub } = view;
    if (!hub) return this.step("step.device", 2, "later", h("p.quiet", t("step.device.text")));
    if (this.device) {
      return this.step("step.device", 2, "done", h("p.quiet", t(this.device.kind === "phone" ? "device.phone" : "device.browser")),
        h("button.link", { click: () => { this.events?.close(); this.device = null; this.draw(); } }, t("device.other")));
    }
    return this.step("step.device", 2, "here", h("p.quiet", t("step.device.text")), h("div.row",
      view.session.simulator && h("button.primary", { click: () => this.run(() => this.makePhone()) }, icon("phone"), t("device.makePhone")),
      h("button", { type: "button", class: view.session.simulator ? "" : "primary", click: () => this.run(() => this.notifyBrowser()) }, icon("globe"), t("device.useBrowser"))),
    h("p.quiet.small", t("device.note")));
  }

  pushStep() {
    const { t } = this.view;
    if (!this.device) return this.step("step.push", 3, "later", h("p.quiet", t("step.push.text")));
    const id = freshId();
    const input = h("input", { id, value: t("push.hello"), maxlength: 200, required: true });
    const button = h("button.primary", t("push.send"));
    return this.step("step.push", 3, this.sent ? "done" : "here", h("p.quiet", t("step.push.text")), h("form.row", { on: { submit: async (event) => {
      event.preventDefault();
      button.disabled = true;
      await this.run(() => this.push(input.value));
      button.disabled = false;
    } } }, h("label.unseen", { for: id }, t("push.label")), h("div.grow", input), button),
    h("div.row", this.sent && h("a", { href: to.why(this.view.hub, this.sent.id, this.device.installation) }, t("push.why")),
      commandButton(this.view, `martlet send ${this.view.hub} --platform message --tags '${this.tag}' --title Martlet --text 'Hello'`, "post", { path: { hub: this.view.hub }, query: API, fields: this.fields(), body: { title: "Martlet", text: "Hello" } })));
  }

  then() {
    const { t, hub } = this.view;
    const list = /** @type {[string, string, string][]} */ ([
      ["key", "credentials", hub ? path("hubs", hub) : "/console/welcome"], ["command", "app", hub ? path("hubs", hub, "keys") : "/console/welcome"],
      ["user", "invite", "/console/server/operators"], ["sends", "campaign", hub ? `${to.sends(hub)}/new` : "/console/welcome"],
    ]);
    return list.map(([symbol, key, href]) => h("li", h("a", { href }, icon(symbol), h("span", h("span.strong", t(`then.${key}`)), h("span.quiet.small.block", t(`then.${key}.text`))), icon("right"))));
  }

  /** @param {() => Promise<void>} work */
  async run(work) {
    if (this.problem) put(this.problem);
    try {
      await work();
    } catch (error) {
      if (this.problem) put(this.problem, failure(this.view.t, error, null));
    }
  }

  async makePhone() {
    const { view } = this;
    const { handle } = await call("makeSimulatorDevice", { body: { platform: "apns", topic: "com.example.app" } });
    const installation = `console-${view.session.operator}-phone`.replace(/[^\w.@:-]/g, "_");
    await call("putInstallation", { path: { hub: view.hub, id: installation }, query: API, body: { installationId: installation, platform: "apns", pushChannel: handle, tags: [this.tag] } });
    this.keep({ kind: "phone", installation, handle });
  }

  async notifyBrowser() {
    const { view } = this;
    const { t } = view;
    if (!("serviceWorker" in navigator) || !("PushManager" in window)) throw new Error(t("browser.cannot"));
    if ((await Notification.requestPermission()) !== "granted") throw new Error(t("browser.denied"));
    const key = await publicKey(view.hub);
    if (!key) throw new Error(t("browser.noKey"));
    const worker = await navigator.serviceWorker.register(/** @type {any} */ (workerAddress()), { scope: "/console/push/" });
    await activated(worker);
    const subscribing = worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(key) });
    const late = new Promise((_, reject) => window.setTimeout(() => reject(new Error(t("browser.unreachable"))), PATIENCE * 1000));
    const subscription = /** @type {PushSubscription} */ (await Promise.race([subscribing, late]));
    const { endpoint, keys } = subscription.toJSON();
    const installation = `console-${view.session.operator}-browser`.replace(/[^\w.@:-]/g, "_");
    await call("putInstallation", { path: { hub: view.hub, id: installation }, query: API, body: { installationId: installation, platform: "browser", pushChannel: { endpoint, p256dh: keys?.p256dh, auth: keys?.auth }, tags: [this.tag] } });
    this.keep({ kind: "browser", installation });
  }

  /** @param {{kind: string, installation: string, handle?: string}} device */
  keep(device) {
    this.device = device;
    sessionStorage.setItem(`welcome:${this.view.hub}`, JSON.stringify(device));
    this.draw();
  }

  /** Follows the made-up phone. */
  listen() {
    this.events?.close();
    if (!this.device?.handle) return;
    const source = new EventSource(address("simulatorDevice", { query: { handle: this.device.handle } }).replace("/device?", "/device/events?"));
    source.addEventListener("notification", (event) => this.arrived(JSON.parse(/** @type {MessageEvent} */ (event).data)));
    // A server that was restarted has forgotten its made-up phones.
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED) {
        sessionStorage.removeItem(`welcome:${this.view.hub}`);
        this.device = null;
        this.draw();
      }
    });
    this.events = source;
  }

  fields() {
    return { "servicebusnotification-format": "message", "servicebusnotification-tags": this.tag };
  }

  /** @param {string} text */
  async push(text) {
    const { view } = this;
    this.text = text;
    this.beganAt = performance.now();
    if (this.arrival) say(this.arrival, view.t("push.underWay"));
    const answer = await call("post", { path: { hub: view.hub }, query: API, fields: this.fields(), body: { title: "Martlet", text, sound: "default" } });
    const id = /\/messages\/([^/?]+)/.exec(answer?.location ?? "")?.[1] ?? "";
    this.sent = { id, at: Date.now() };
    if (this.hasArrived) this.celebrate();
  }

  /** @param {any} delivery */
  arrived(delivery) {
    this.hasArrived = true;
    this.tookMs = this.beganAt === undefined ? null : performance.now() - this.beganAt;
    this.shownText = delivery.text ?? this.text ?? "";
    this.celebrate();
  }

  celebrate() {
    const { t, time } = this.view;
    if (this.sent) {
      const list = this.node.querySelector(".steps");
      const focused = document.activeElement?.closest("form") !== null;
      if (list) list.replaceChildren(this.hubStep(), this.deviceStep(), this.pushStep());
      if (focused) /** @type {HTMLElement | null} */ (list?.querySelector("form input"))?.focus();
    }
    this.showScreen({ look: this.device?.kind === "browser" ? "browser" : "phone-a", title: "Martlet", text: this.shownText, isSilent: false, cautions: [], actions: [], lines: { text: 4 } });
    if (this.arrival) say(this.arrival, this.tookMs === null || this.tookMs === undefined ? t("push.arrived") : t("push.arrivedIn", { time: time.duration(this.tookMs / 1000) }));
  }

  /** @param {any} appearance */
  showScreen(appearance) {
    const { view } = this;
    if (!this.screenBox) return;
    put(this.screenBox, h("div.phone", h("div.phone-time.number", { "aria-hidden": "true" }, view.time.minute(Date.now())),
      appearance ? look(view, appearance, { app: view.hub || "Martlet", name: view.t(this.device?.kind === "browser" ? "device.browser" : "device.phone") })
        : h("p.phone-empty", this.device ? view.t("phone.ready") : view.t("phone.none"))));
  }
}

/** The device that this tab has made. A made-up phone lives as long as the simulator.
 * @param {string} hub */
function kept(hub) {
  try {
    return JSON.parse(sessionStorage.getItem(`welcome:${hub}`) ?? "null");
  } catch {
    return null;
  }
}

/** The public key that a browser subscribes with; made where the hub has none.
 * @param {string} hub */
async function publicKey(hub) {
  const { platforms } = await call("services", { path: { hub } });
  const service = platforms.find((/** @type {any} */ one) => one.platform === "browser");
  const known = Object.values(service?.shown ?? {})[0];
  if (known || !service?.canGenerate) return known ?? null;
  const made = await call("generateCredential", { path: { hub, platform: "browser" }, body: {} });
  return Object.values(made?.shown ?? {})[0] ?? null;
}

/** The service worker's address: under Trusted Types it must come from a policy, and this is the one that there is. */
function workerAddress() {
  const constant = "/console/push/worker.js";
  const types = /** @type {any} */ (window).trustedTypes;
  workerPolicy ??= types?.createPolicy("worker", { createScriptURL: () => constant });
  return workerPolicy ? workerPolicy.createScriptURL("") : constant;
}

let workerPolicy = null;

/** @param {ServiceWorkerRegistration} registration */
function activated(registration) {
  const worker = registration.active ?? registration.waiting ?? registration.installing;
  return new Promise((resolve) => {
    if (!worker || worker.state === "activated") return resolve(undefined);
    worker.addEventListener("statechange", () => worker.state === "activated" && resolve(undefined));
  });
}

/** @param {string} text Base64 for addresses. */
function bytes(text) {
  return Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (one) => one.charCodeAt(0));
}
