/** The screen for the first steps: create a hub, register a device, and send a push to it. */

import { address, call } from "../../lib/api.js";
import { freshId, h, icon, put, say } from "../../lib/dom.js";
import { HUB_NAME } from "../../lib/names.js";
import { failure, path, to } from "../../lib/screen.js";
import { commandButton } from "../../parts/dialog/dialog.js";
import { loadLook, look } from "../../parts/look/look.js";
import { mismatch, shown } from "./push.js";

const API = { "api-version": "2020-06" };
const TITLE = "Martlet";
/** The seconds after which the browser's push service counts as unreachable. */
const PATIENCE = 5;
/** The seconds for which the trace of a push that has not arrived is requested. */
const LOOKING = 60;
/** The verdicts of a push that is not finished yet. */
const OPEN = ["pending", "retrying", "scheduled"];

/** An error that the operator can correct. Its message says how. */
class Advice extends Error {}

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
    this.hasLeft = true;
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
      h("div.welcome", h("div.stack", h("ol.steps", this.hubStep(), this.deviceStep(), this.pushStep()), this.problem), h("div.stack", this.screenBox, this.arrival)),
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
    const input = h("input", { id, value: "shop", pattern: HUB_NAME, title: t("hub.name.help"), required: true, autocomplete: "off", spellcheck: "false" });
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
    h("p.quiet.small", view.session.simulator ? t.nodes("device.note.simulator", { command: h("code", `martlet browser ${hub}`) }) : t("device.note")));
  }

  pushStep() {
    const { t } = this.view;
    if (!this.device) return this.step("step.push", 3, "later", h("p.quiet", t("step.push.text")));
    const id = freshId();
    const input = h("input", { id, value: this.text ?? t("push.hello"), maxlength: 200, required: true });
    const button = h("button.primary", t("push.send"));
    return this.step("step.push", 3, this.sent && this.hasArrived ? "done" : "here", h("p.quiet", t("step.push.text")), h("form.row", { on: { submit: async (event) => {
      event.preventDefault();
      button.disabled = true;
      await this.run(() => this.push(input.value));
      button.disabled = false;
    } } }, h("label.unseen", { for: id }, t("push.label")), h("div.grow", input), button),
    h("div.row", this.sent && h("a", { href: to.why(this.view.hub, this.sent.id, this.device.installation) }, t("push.why")),
      commandButton(this.view, ({ sendLine }) => sendLine(this.view.hub, this.fields(), message(input.value)), "post", () => ({ path: { hub: this.view.hub }, query: API, fields: this.fields(), body: message(input.value) }))));
  }

  then() {
    const { t, hub } = this.view;
    const list = /** @type {[string, string, string][]} */ ([
      ["key", "credentials", path("hubs", hub)], ["command", "app", path("hubs", hub, "keys")], ["user", "invite", "/console/server/operators"], ["sends", "campaign", `${to.sends(hub)}/new`],
    ]);
    // Without a hub, the only possible next step is to invite operators.
    return list.filter(([, key]) => hub || key === "invite").map(([symbol, key, href]) => h("li", h("a", { href }, icon(symbol), h("span", h("span.strong", t(`then.${key}`)), h("span.quiet.small.block", t(`then.${key}.text`))), icon("right"))));
  }

  /** @param {() => Promise<void>} work */
  async run(work) {
    if (this.problem) put(this.problem);
    try {
      await work();
    } catch (error) {
      if (this.problem) put(this.problem, error instanceof Advice ? h("div.notice.warn-notice", { role: "alert" }, icon("warn"), h("p", error.message)) : failure(this.view.t, error, null));
    }
  }

  async makePhone() {
    const { view } = this;
    const { handle } = await call("makeSimulatorDevice", { body: { platform: "apns", topic: "com.example.app" } });
    const installation = `console-${view.session.operator}-phone`.replace(/[^\w.@:-]/g, "_");
    await call("putInstallation", { path: { hub: view.hub, id: installation }, query: API, body: { installationId: installation, platform: "apns", pushChannel: handle, tags: [this.tag] } });
    this.keep({ kind: "phone", installation, handle });
  }

  /** Registers this browser with the hub, after checking that a push can reach it. */
  async notifyBrowser() {
    const { view } = this;
    const { t, hub } = view;
    if (!("serviceWorker" in navigator) || !("PushManager" in window)) throw new Advice(t("browser.cannot"));
    if ((await Notification.requestPermission()) !== "granted") throw new Advice(t("browser.denied"));
    const [{ platforms }, services] = await Promise.all([call("services", { path: { hub } }), view.session.simulator ? call("simulatorServices") : null]);
    const service = platforms.find((/** @type {any} */ one) => one.platform === "browser");
    const key = service?.isSimulated ? services?.browser.credential.VapidPublicKey : service?.shown["vapid-public-key"] ?? await newKey(hub, service);
    if (!key) throw new Advice(t("browser.noKey"));
    const worker = await navigator.serviceWorker.register(/** @type {any} */ (workerAddress()), { scope: "/console/push/" });
    await activated(worker);
    const late = new Promise((_, reject) => window.setTimeout(() => reject(new Advice(t("browser.unreachable"))), PATIENCE * 1000));
    const subscription = /** @type {PushSubscription} */ (await Promise.race([subscribed(worker.pushManager, bytes(key)), late]));
    const wrong = mismatch(subscription.endpoint, services?.browser.origin, service.isSimulated);
    if (wrong) {
      await subscription.unsubscribe();
      throw new Advice(t(`browser.${wrong}`, { host: new URL(subscription.endpoint).host, command: `martlet browser ${hub}` }));
    }
    const { endpoint, keys } = subscription.toJSON();
    const installation = `console-${view.session.operator}-browser`.replace(/[^\w.@:-]/g, "_");
    await call("putInstallation", { path: { hub, id: installation }, query: API, body: { installationId: installation, platform: "browser", pushChannel: { endpoint, p256dh: keys?.p256dh, auth: keys?.auth }, tags: [this.tag] } });
    this.keep({ kind: "browser", installation });
  }

  /** @param {{kind: string, installation: string, handle?: string}} device */
  keep(device) {
    this.device = device;
    sessionStorage.setItem(`welcome:${this.view.hub}`, JSON.stringify(device));
    this.draw();
  }

  /** Listens to the notifications of the simulated phone. */
  listen() {
    this.events?.close();
    if (!this.device?.handle) return;
    const source = new EventSource(address("simulatorDevice", { query: { handle: this.device.handle } }).replace("/device?", "/device/events?"));
    source.addEventListener("notification", (event) => this.arrived(JSON.parse(/** @type {MessageEvent} */ (event).data)));
    // The stream ends for good if the server was restarted, because the simulator then no longer has the phone.
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
    this.hasArrived = false;
    this.beganAt = performance.now();
    // On a narrow page, the phone is below the steps, so the page scrolls to it.
    this.screenBox?.scrollIntoView({ block: "nearest" });
    if (this.arrival) say(this.arrival, view.t("push.underWay"));
    const answer = await call("post", { path: { hub: view.hub }, query: API, fields: this.fields(), body: message(text) });
    const id = /\/messages\/([^/?]+)/.exec(answer?.location ?? "")?.[1] ?? "";
    this.sent = { id, at: Date.now() };
    if (this.hasArrived) return this.celebrate();
    this.drawSteps();
    this.follow(id);
  }

  /** Shows the state of a push that has not arrived.
   * @param {string} id */
  async follow(id) {
    const { view } = this;
    const { t, hub } = view;
    const installation = this.device?.installation ?? "";
    const isOver = () => this.hasArrived || this.hasLeft || this.sent?.id !== id;
    for (let second = 1; second <= LOOKING && !isOver(); second += 1) {
      await new Promise((resolve) => window.setTimeout(resolve, 1000));
      const trace = isOver() ? null : await call("trace", { path: { hub, id, device: installation } }).catch(() => null);
      if (!trace || isOver() || OPEN.includes(trace.verdict)) continue;
      if (trace.verdict !== "delivered") return say(this.arrival, t("push.failed", { verdict: t(`verdict.${trace.verdict}`) }));
      // The push may still be on its way from the push service to the browser.
      if (second > PATIENCE) return say(this.arrival, t("push.taken"));
    }
  }

  drawSteps() {
    const list = this.node.querySelector(".steps");
    const focused = document.activeElement?.closest("form") !== null;
    list?.replaceChildren(this.hubStep(), this.deviceStep(), this.pushStep());
    if (focused) /** @type {HTMLElement | null} */ (list?.querySelector("form input"))?.focus();
  }

  /** @param {any} delivery */
  arrived(delivery) {
    this.hasArrived = true;
    this.tookMs = this.beganAt === undefined ? null : performance.now() - this.beganAt;
    this.shownText = shown(delivery.text, TITLE) || (this.text ?? "");
    this.celebrate();
  }

  celebrate() {
    const { t, time } = this.view;
    if (this.sent) this.drawSteps();
    this.showScreen({ look: this.device?.kind === "browser" ? "browser" : "phone-a", title: TITLE, text: this.shownText, isSilent: false, cautions: [], actions: [], lines: { text: 4 } });
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

/** Returns the device that this tab has registered; null if there is none.
 * @param {string} hub */
function kept(hub) {
  try {
    return JSON.parse(sessionStorage.getItem(`welcome:${hub}`) ?? "null");
  } catch {
    return null;
  }
}

/** Generates a Web Push credential for a hub that has none. Returns its public key, with which browsers subscribe; null
 * if it cannot be generated.
 * @param {string} hub @param {any} service */
async function newKey(hub, service) {
  if (!service?.canGenerate || service.fingerprint) return null;
  return (await call("generateCredential", { path: { hub, platform: "browser" }, body: {} })).shown["vapid-public-key"] ?? null;
}

/** Subscribes to pushes. If that fails because there is a subscription for another key, ends that one and tries again.
 * @param {PushManager} manager @param {Uint8Array} applicationServerKey */
async function subscribed(manager, applicationServerKey) {
  const options = { userVisibleOnly: true, applicationServerKey };
  try {
    return await manager.subscribe(options);
  } catch (error) {
    const old = await manager.getSubscription();
    if (!old) throw error;
    await old.unsubscribe();
    return manager.subscribe(options);
  }
}

/** @param {string} text */
function message(text) {
  return { title: TITLE, text };
}

/** Returns the address of the service worker. If the browser supports Trusted Types, the address must come from a
 * policy, and the content security policy allows only the policy `worker`. */
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

/** @param {string} text Bytes in base64url. */
function bytes(text) {
  return Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (one) => one.charCodeAt(0));
}
