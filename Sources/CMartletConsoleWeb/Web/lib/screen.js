/** What screens have in common: addresses, badges for states, and messages for errors. */

import { isUnreached, Refusal } from "./api.js";
import { h, icon } from "./dom.js";

/**
 * Finds the screen of an address.
 *
 * @param {readonly (readonly [string, string])[]} routes Patterns such as `/hubs/{hub}/sends`, and names of screens.
 * @param {string} path
 * @returns {{name: string, params: Record<string, string>} | null}
 */
export function match(routes, path) {
  const parts = split(path);
  for (const [pattern, name] of routes) {
    const wanted = split(pattern);
    if (wanted.length !== parts.length) continue;
    /** @type {Record<string, string>} */
    const params = {};
    const fits = wanted.every((part, index) => {
      const found = parts[index] ?? "";
      const key = /^\{(\w+)\}$/.exec(part)?.[1];
      if (key === undefined) return part === found;
      params[key] = decoded(found);
      return true;
    });
    if (fits) return { name, params };
  }
  return null;
}

/** @param {string} path */
function split(path) {
  return path.split("/").filter(Boolean);
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** @param {...string} parts The segments of a path below `/console`, not encoded. */
export function path(...parts) {
  return `/console/${parts.map(encodeURIComponent).join("/")}`;
}

/** The addresses of the sends of a hub, of one send, of one device of a send, and of a device. */
export const to = {
  /** @param {string} hub */
  sends: (hub) => path("hubs", hub, "sends"),
  /** @param {string} hub @param {string} id */
  send: (hub, id) => path("hubs", hub, "sends", id),
  /** @param {string} hub @param {string} id @param {string} device */
  why: (hub, id, device) => path("hubs", hub, "sends", id, "devices", device),
  /** @param {string} hub @param {string} id */
  device: (hub, id) => path("hubs", hub, "people", id),
};

/** @param {View["t"]} t @param {number} bars */
export function skeleton(t, bars) {
  return h("div.skeleton", { role: "status" }, h("span.unseen", t("loading")),
    Array.from({ length: bars }, () => h("div.bar", { "aria-hidden": "true" })));
}

/**
 * Returns a message about an error: first in the operator's language, then the server's English sentence.
 *
 * @param {View["t"]} t
 * @param {unknown} error
 * @param {(() => void) | null} retry
 * @param {Date | null} [since] When the data that is still shown was loaded.
 */
export function failure(t, error, retry, since) {
  const refusal = error instanceof Refusal ? error : new Refusal(0, isUnreached(error) ? null : { code: "page", error: String(error) });
  const { title, text } = reason(t, refusal);
  return h("div.notice", { class: refusal.status === 403 ? "quiet-notice" : "bad-notice", role: "alert" },
    icon(refusal.status === 403 ? "lock" : "warn"),
    h("div", h("p.strong", title), text && h("p", text),
      refusal.message && refusal.status !== 403 && refusal.code !== "between" && h("p.quote", { lang: "en" }, refusal.message),
      since && h("p.quiet", t("dataFrom", { time: since.toLocaleTimeString() })),
      retry && refusal.status !== 403 && h("button", { click: retry, type: "button" }, t("tryAgain"))));
}

/** @param {View["t"]} t @param {Refusal} refusal @returns {{title: string, text: string}} */
function reason(t, refusal) {
  if (refusal.status === 403 && refusal.needs) {
    return { title: t("forbidden"), text: t("forbiddenNeeds", { role: t(`role.${refusal.needs}`) }) };
  }
  if (refusal.status === 403) return { title: t("forbidden"), text: "" };
  if (refusal.code === "page") return { title: t("failed.page"), text: "" };
  if (refusal.code === "between") return { title: refusal.message, text: t("failed.unreachable.text") };
  if (refusal.status === 0) return { title: t("failed.unreachable"), text: t("failed.unreachable.text") };
  if (refusal.status === 404) return { title: t("failed.notFound"), text: "" };
  if (refusal.status === 429) return { title: t("failed.tooMany"), text: t("failed.tooMany.text", { n: refusal.retryAfter ?? 10 }) };
  if (refusal.status >= 500) return { title: t("failed.server"), text: "" };
  return { title: t("failed.refused"), text: "" };
}

/**
 * Returns the state of a send, as the name of its text and of its CSS class.
 *
 * @param {any} send A send of a list, or the status of a send.
 * @returns {"scheduled" | "waiting" | "running" | "paused" | "halted" | "holding" | "stopped" | "done" | "failed" | "expired"}
 */
export function sendState(send) {
  const state = String(send.state).toLowerCase();
  if (send.control === "canceled" || state.startsWith("cancel")) return "stopped";
  const isOver = ["completed", "abandoned", "nothingtosend", "notargetfound", "unknown"].some((end) => state.startsWith(end));
  if (!isOver && ["paused", "halted", "holding"].includes(send.control)) return send.control;
  if (state.startsWith("scheduled")) return "scheduled";
  if (state === "enqueued") return "waiting";
  if (state === "abandoned") return "expired";
  if (isOver) return (send.succeeded ?? 0) === 0 && (send.failed ?? 0) > 0 ? "failed" : "done";
  return "running";
}

/** Returns a state as a word with a shape, because some people cannot tell the colours apart.
 * @param {string} state @param {any} word */
export function badge(state, word) {
  return h("span.badge", { class: `state-${state}` }, h("i.dot", { "aria-hidden": "true" }), word);
}

/** @param {View["t"]} t @param {any} send */
export function stateBadge(t, send) {
  const state = sendState(send);
  return badge(state, t(state === "holding" && send.goesOnAt ? "state.timed" : `state.${state}`));
}

/** Returns the result of a send on a device, as a word with a shape.
 * @param {View["t"]} t @param {string} name The verdict of a trace. */
export function verdictBadge(t, name) {
  const state = name === "delivered" ? "done" : ["retrying", "pending", "scheduled"].includes(name) ? "running" : ["refused", "expired"].includes(name) ? "failed" : "stopped";
  return badge(state, t(`verdict.${name}`));
}

/** The names of push services as their documentation writes them, which are the same in every language. */
const SERVICES = /** @type {Record<string, string>} */ ({
  apns: "APNs", fcmv1: "FCM", gcm: "GCM", browser: "Web Push", wns: "WNS", mpns: "MPNS", adm: "ADM", baidu: "Baidu", xiaomi: "Xiaomi",
});

/** @param {string} platform */
export function serviceName(platform) {
  return SERVICES[platform] ?? platform;
}
