/** The frame of the console's pages: it reads the session, draws the header, opens the screen that the address
 * names, and handles keys. */

import { call, gate, isUnreached, live, Refusal } from "./lib/api.js";
import { append, h, icon, put } from "./lib/dom.js";
import { failure, match, path, skeleton, to } from "./lib/screen.js";
import { chooseLanguage, numbers, translator } from "./lib/text.js";
import { times } from "./lib/time.js";

const ROUTES = /** @type {const} */ ([
  ["/console", "now"],
  ["/console/welcome", "welcome"],
  ["/console/enter", "signin"],
  ["/console/account", "account"],
  ["/console/server", "server"],
  ["/console/server/{tab}", "server"],
  ["/console/hubs/{hub}/sends", "sends"],
  ["/console/hubs/{hub}/sends/campaigns", "campaigns"],
  ["/console/hubs/{hub}/sends/waiting", "waiting"],
  ["/console/hubs/{hub}/sends/failed", "failed"],
  ["/console/hubs/{hub}/sends/new", "compose"],
  ["/console/hubs/{hub}/sends/{id}", "send"],
  ["/console/hubs/{hub}/sends/{id}/devices/{device}", "why"],
  ["/console/hubs/{hub}/people", "people"],
  ["/console/hubs/{hub}/people/{id}", "device"],
  ["/console/hubs/{hub}", "hub"],
  ["/console/hubs/{hub}/{tab}", "hub"],
]);
const RANKS = /** @type {const} */ (["viewer", "sender", "admin"]);

let session = /** @type {any} */ (null);
/** @type {OpenScreen | null} */
let screen = null;
let language = "en";
/** @type {Texts} */
let common = {};
/** @type {Translate} */
let t = translator("en");
let turn = 0;
let hub = "";
let sessionTimer = 0;

const header = h("header.top");
const skip = h("a.button.skip", { href: "#main" });
const band = h("div", { role: "status" });
const main = h("main", { id: "main", tabindex: "-1" });
const toasts = h("div.toasts", { role: "status", "aria-live": "polite" });

// Settings: stored with the operator's account, and also in this browser, so that the sign-in page has them.

/** @returns {Record<string, any>} */
function settings() {
  try {
    return { ...JSON.parse(localStorage.getItem("settings") ?? "{}"), ...session?.settings };
  } catch {
    return { ...session?.settings };
  }
}

/** @param {Record<string, any>} changes */
async function saveSettings(changes) {
  const all = { ...settings(), ...changes };
  localStorage.setItem("settings", JSON.stringify(all));
  if (session) session = await call("saveSettings", { body: all });
  await start();
}

function zone() {
  return settings().zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone ?? "UTC";
}

// Roles

/** Returns the operator's highest role: in a hub, or for the whole server if no hub is given.
 * @param {string} [inHub] @returns {"viewer" | "sender" | "admin" | null} */
function role(inHub) {
  if (inHub === undefined) {
    const names = /** @type {string[]} */ (session?.roles ?? []);
    return [...RANKS].reverse().find((rank) => names.includes(rank)) ?? null;
  }
  return session?.hubs.find((/** @type {any} */ one) => one.name === inHub)?.role ?? null;
}

// Start: sets the language and the theme, then draws the header, then shows the screen.

function choose() {
  language = settings().language ?? chooseLanguage(navigator.languages);
}

async function start() {
  const chosen = settings();
  choose();
  if (chosen.theme === "light" || chosen.theme === "dark") document.documentElement.dataset.theme = chosen.theme;
  else delete document.documentElement.dataset.theme;
  document.documentElement.lang = language;
  common = (await import(`./text.${language}.js`)).default;
  t = translator(language, common);
  put(skip, t("skip"));
  chooseHub();
  drawHeader();
  await show();
}

function chooseHub() {
  const names = (session?.hubs ?? []).map((/** @type {any} */ one) => one.name);
  const inAddress = match(ROUTES, location.pathname)?.params.hub;
  // The menu leads to a hub in which the operator has a role.
  if (inAddress && names.includes(inAddress)) hub = inAddress;
  else if (!names.includes(hub)) hub = [localStorage.getItem("hub"), names[0], ""].find((name) => name === "" || names.includes(name)) ?? "";
  if (hub) localStorage.setItem("hub", hub);
}

function drawHeader() {
  header.hidden = !session || location.pathname === "/console/enter";
  if (header.hidden) return put(header);
  const names = session.hubs.map((/** @type {any} */ one) => one.name);
  const canSend = ["sender", "admin"].includes(role(hub) ?? "");
  put(header, h("div", mark(),
    names.length > 1 && h("select", { "aria-label": t("hub"), class: "hub-choice", value: hub, on: { change: changeHub } },
      names.map((/** @type {string} */ name) => h("option", { value: name }, name))),
    h("nav.places", { "aria-label": t("places") }, places()),
    h("div.end",
      canSend && h("a.button.primary", { href: `${to.sends(hub)}/new`, "aria-keyshortcuts": "c", "aria-label": t("newSend") }, icon("plus"), h("span.wide", t("newSend"))),
      hub && h("button.plain", { type: "button", "aria-label": t("search"), "aria-keyshortcuts": "/", click: openSearch }, icon("search")),
      h("button.plain.who", { type: "button", "aria-haspopup": "dialog", "aria-label": t("menuOf", { name: session.operator }), click: openMenu },
        h("span.wide.clip", session.operator), icon("user", "narrow"), icon("down", "wide")))));
}

function mark() {
  return h("a.mark", { href: "/console/", "aria-label": "Martlet" },
    h("img", { src: "/console/icon.svg", alt: "", width: 28, height: 28 }), h("span", "Martlet"));
}

/** Shows the frame, and that the server is waited for, as long as it has not answered who is signed in. */
async function showWaiting() {
  const texts = (await import(`./text.${language}.js`)).default;
  if (turn > 0) return;
  put(header, h("div", mark()));
  put(main, h("div.screen", h("p.quiet", { role: "status" }, texts.waiting)));
}

function places() {
  const here = location.pathname;
  const list = [
    ["now", "/console/", here === "/console/" || here === "/console" || here === "/console/welcome"],
    ["sends", hub && to.sends(hub), here.startsWith(to.sends(hub))],
    ["people", hub && path("hubs", hub, "people"), here.startsWith(path("hubs", hub, "people"))],
    ["hub", hub && path("hubs", hub), hub && here.startsWith(path("hubs", hub)) && !/\/(sends|people)(\/|$)/.test(here)],
    ["server", "/console/server", here.startsWith("/console/server")],
  ];
  // Links that lead to a hub are left out if there is no hub.
  return list.filter(([, address]) => address).map(([name, address, isHere]) =>
    h("a", { href: address, "aria-current": isHere ? "page" : null, on: { pointerenter: () => preload(String(address)) } },
      icon(String(name)), h("span", t(`place.${name}`))));
}

/** @param {Event} event */
function changeHub(event) {
  const name = /** @type {HTMLSelectElement} */ (event.target).value;
  const rest = /^\/console\/hubs\/[^/]+\/(sends|people)/.exec(location.pathname)?.[1];
  hub = name;
  localStorage.setItem("hub", hub);
  if (location.pathname.startsWith("/console/hubs/")) go(rest ? path("hubs", hub, rest) : path("hubs", hub));
  else drawHeader();
}

// Screens

/** @param {string} address */
function preload(address) {
  const name = match(ROUTES, address)?.name;
  if (!name) return;
  for (const file of [name, `text.${language}`]) import(`./screens/${name}/${file}.js`).catch(() => {});
  style(`/console/screens/${name}/${name}.css`);
}

// What a click needs may not be there any more. Without this, such a click would do nothing.
window.addEventListener("unhandledrejection", (event) => {
  if (!isUnreached(event.reason)) return;
  event.preventDefault();
  toast(t("failed.unreachable"));
});

/** @param {string} address @param {boolean} [replace] */
function go(address, replace = false) {
  if (replace) history.replaceState(null, "", address);
  else if (address !== location.pathname + location.search) history.pushState(null, "", address);
  chooseHub();
  drawHeader();
  show();
}

async function show() {
  turn += 1;
  const mine = turn;
  const found = match(ROUTES, location.pathname);
  const name = found?.name === "signin" ? "signin" : session ? found?.name : "signin";
  const timers = [
    window.setTimeout(() => put(main, h("div.screen", skeleton(t, 4))), 300),
    // A server that is stopped gives no answer and no error.
    window.setTimeout(() => put(main, failure(t, new Refusal(0, null), () => location.reload())), 6000),
  ];
  try {
    if (!name) return put(main, nowhere());
    const [code, texts] = await Promise.all([
      import(`./screens/${name}/${name}.js`), import(`./screens/${name}/text.${language}.js`), style(`/console/screens/${name}/${name}.css`),
    ]);
    if (mine !== turn) return;
    const seen = view(found?.params ?? {}, texts.default);
    if (held && session && held.operator === session.operator && held.address === location.href) {
      screen = held.screen;
      put(main, held.node);
      held = null;
      screen.back?.(seen);
      document.title = `${screen.title} · Martlet`;
      return;
    }
    screen?.leave?.();
    screen = /** @type {OpenScreen} */ (code.screen(seen));
    if (name !== "signin") held = null;
    document.title = `${screen.title} · Martlet`;
    put(main, h("div.screen", { class: `screen-${name}` }, screen.node));
    window.scrollTo(0, 0);
    // The heading gets the focus, so that a screen reader announces the new screen.
    const heading = main.querySelector("h1");
    heading?.setAttribute("tabindex", "-1");
    /** @type {any} */ (main.querySelector("[autofocus]") ?? heading)?.focus({ preventScroll: true });
  } catch (error) {
    if (mine !== turn) return;
    put(main, failure(t, error, () => location.reload()));
    if (isUnreached(error)) live.whenBack(() => mine === turn && show());
  } finally {
    timers.forEach((timer) => window.clearTimeout(timer));
  }
}

/** @param {Record<string, string>} params @param {Texts} texts @returns {View} */
function view(params, texts) {
  return {
    params, query: new URLSearchParams(location.search), hub: params.hub ?? hub, t: translator(language, texts, common),
    n: numbers(language), time: times(language, zone()), language, session, role, go, left, refreshSession, saveSettings, style, toast,
  };
}

function nowhere() {
  document.title = `${t("failed.notFound")} · Martlet`;
  return h("div.empty", h("h1", t("failed.notFound")), h("p", t("nowhere")), h("a.button", { href: "/console/" }, t("place.now")));
}

/** @type {Map<string, Promise<any>>} */
const styles = new Map();

/** @param {string} address */
function style(address) {
  const known = styles.get(address);
  if (known) return known;
  const loaded = new Promise((resolve) => {
    document.head.append(h("link", { rel: "stylesheet", href: address, on: { load: resolve, error: resolve } }));
  });
  styles.set(address, loaded);
  return loaded;
}

/** Shows a message that disappears after a time.
 * @param {string} text @param {{label: string, act: () => any}} [action] @param {number} [length] Milliseconds. */
function toast(text, action, length = 5000) {
  const line = h("p", text, action && [" ", h("button", { click: () => {
    line.remove();
    action.act();
  } }, action.label)]);
  toasts.append(line);
  window.setTimeout(() => line.remove(), length);
}

// The session

async function refreshSession() {
  try {
    session = await call("session");
    watchSession();
  } catch (error) {
    if (!(error instanceof Refusal) || error.status === 0) throw error;
    session = null;
  }
  try {
    await start();
  } finally {
    live.attend(session !== null);
  }
}

/** Shows a notice two minutes before the session ends. */
function watchSession() {
  window.clearTimeout(sessionTimer);
  put(band);
  band.className = "";
  const end = Math.min(Date.parse(session.idleUntil), Date.parse(session.endsAt));
  if (!Number.isNaN(end)) sessionTimer = window.setTimeout(tellEnd, Math.min(Math.max(end - Date.now() - 120_000, 0), 2 ** 31 - 1), end);
}

/** @param {number} end */
async function tellEnd(end) {
  (await import("./parts/shell/ending.js")).tellEnd(view({}, {}), band, end, (renewed) => {
    session = renewed;
    watchSession();
  });
}

/**
 * The screen that was open when the session ended, with what was typed in it. It is shown again if the same operator
 * signs in again; null if there is none.
 * @type {{screen: OpenScreen, node: any, operator: string, address: string} | null}
 */
let held = null;

gate.signedOut = (reason = "") => {
  if (!session) return;
  if (screen?.back && !screen.isSecret?.()) {
    held = { screen, node: main.firstElementChild, operator: session.operator, address: location.href };
    screen = null;
  }
  sessionStorage.setItem("ended", reason);
  end();
};

/** Forgets a session that was signed out of, in this tab or in another one: who comes next may be somebody else. */
function left() {
  (screen ?? held?.screen)?.leave?.();
  screen = held = null;
  for (const one of document.querySelectorAll("dialog, [popover]")) one.remove();
  put(main);
  put(toasts);
  sessionStorage.clear();
  history.replaceState(null, "", "/console/");
  return end();
}

// Another tab of the browser has signed out. A tab that shows neither a session nor its end has nothing to forget; it may
// show an invitation.
window.addEventListener("storage", ({ key }) => key === "left" && (session || sessionStorage.getItem("ended") !== null) && left());

/** Shows the sign-in page. */
function end() {
  session = null;
  window.clearTimeout(sessionTimer);
  live.attend(false);
  live.close();
  return start();
}
gate.between = (status) => t("failed.between", { status });
gate.confirm = async () => (await import("./parts/dialog/confirm.js")).confirmPassword(view({}, {}));

// While the event stream is lost, the page says so, so that old figures do not look current: what is green turns grey at
// once.

let lostTimer = 0;
live.listeners.add(() => {
  window.clearTimeout(lostTimer);
  if (live.state === "connecting") return;
  if (live.state !== "lost") return hideLost();
  document.body.classList.add("stale");
  // The notice waits, because a restart of the server takes only a second or two. After a silence it has waited.
  lostTimer = window.setTimeout(showLost, live.isSilent ? 0 : 2500);
});

function showLost() {
  band.className = "band";
  put(band, live.heardAt ? t("lostSince", { time: times(language, zone()).clock(live.heardAt) }) : t("lost"));
}

function hideLost() {
  if (!document.body.classList.contains("stale")) return;
  document.body.classList.remove("stale");
  band.className = "";
  put(band);
  // The notice that the session is about to end, if it was there.
  if (session) watchSession();
}

// The code of the header's dialogs is loaded when a dialog is opened.

/** @param {Event} event */
async function openMenu(event) {
  const opener = /** @type {HTMLElement} */ (event.currentTarget);
  (await import("./parts/shell/menu.js")).openMenu(view({}, {}), opener, settings(), zone());
}

async function openSearch() {
  if (hub) (await import("./parts/shell/search.js")).openSearch(view({}, {}));
}

// Addresses and keys

document.addEventListener("click", (event) => {
  const link = /** @type {Element} */ (event.target).closest?.("a[href]");
  if (!(link instanceof HTMLAnchorElement) || link.target || link.hasAttribute("download")) return;
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const url = new URL(link.href);
  if (url.origin !== location.origin || !url.pathname.startsWith("/console/") || url.hash) return;
  event.preventDefault();
  go(url.pathname + url.search);
});
window.addEventListener("popstate", () => go(location.pathname + location.search, true));

// The code that handles keys is loaded when the first key is pressed.
let pressed = Promise.resolve();
document.addEventListener("keydown", (event) => {
  if (!session || event.ctrlKey || event.metaKey || event.altKey || settings().keys === false) return;
  if (/** @type {Element} */ (event.target).closest("input, textarea, select, dialog, table[role=grid], [contenteditable]")) return;
  if (event.key === "/") event.preventDefault();
  const page = { header, main, openSearch, go, own: (/** @type {string} */ key) => screen?.key?.(key), view: () => view({}, {}) };
  pressed = pressed.then(() => import("./parts/shell/keyboard.js")).then(({ press }) => press(event.key, page), () => toast(t("failed.unreachable")));
});

// The files of the screen that the address names are loaded while the server is asked for the session.
choose();
import(`./text.${language}.js`);
preload(location.pathname);
if (match(ROUTES, location.pathname)?.name === "now") live.begin();
append(document.body, [skip, h("div.frame", header, band), main, toasts]);
window.setTimeout(showWaiting, 1000);
// A one-time link is opened without asking for the session, because nobody is signed in yet.
(location.pathname === "/console/enter" ? start() : refreshSession()).catch((error) => {
  start().finally(() => put(main, failure(t, error, () => location.reload())));
  // There is no stream yet that would tell when the server is back.
  const again = () => call("session", { timeout: 4000 }).then(() => location.reload(), (found) => isUnreached(found) ? window.setTimeout(again, 2000) : location.reload());
  if (isUnreached(error)) window.setTimeout(again, 2000);
});
