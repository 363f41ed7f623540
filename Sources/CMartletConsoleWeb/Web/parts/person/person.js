/** The devices of a user: those that are registered, and former ones with the reason why they no longer are. */

import { call } from "../../lib/api.js";
import { h, icon } from "../../lib/dom.js";
import { serviceName } from "../../lib/screen.js";

/** @param {View} view */
export async function loadPerson(view) {
  const [texts] = await Promise.all([import(`./text.${view.language}.js`), view.style("/console/parts/person/person.css")]);
  view.t.add(texts.default);
}

/**
 * Returns devices that the user no longer has, newest first.
 *
 * @param {View} view @param {string} user @param {string | null} [before] The `next` of the previous page.
 * @param {AbortSignal} [signal]
 * @returns {Promise<{devices: any[], lookedBackTo: string | null, next: string | null}>}
 */
export async function former(view, user, before = null, signal) {
  try {
    const found = await call("formerDevices", { path: { hub: view.hub }, body: { user, before }, signal });
    return { ...found, devices: byDevice(found.devices) };
  } catch (error) {
    // The server refuses a text that is not a valid user name. No user with that name has devices.
    if (error.status === 400) return { devices: [], lookedBackTo: null, next: null };
    throw error;
  }
}

/** Returns one registration for each device: all registrations of an installation are one device.
 * @param {any[]} registrations @returns {any[]} */
export function byDevice(registrations) {
  const seen = new Set();
  return registrations.filter((one) => {
    const id = idOf(one);
    return !seen.has(id) && seen.add(id);
  });
}

/** @param {any} device @returns {string} */
export const idOf = (device) => device.installation ?? device.registration;

/** Returns a sentence that says why and when the user's registration of the device ended.
 * @param {View} view @param {any} device */
export function ended({ t, time }, device) {
  return t(`ended.${device.change}`, { service: serviceName(device.platform), time: time.full(device.endedAt) });
}

/** Shows that a user has no device, and why the registration of the last one ended.
 * @param {View} view @param {string} name @param {{devices: any[], lookedBackTo: string | null, next: string | null}} found */
export function noDevice(view, name, { devices: [last], lookedBackTo, next }) {
  const { t, time } = view;
  return h("div.notice.warn-notice", icon("info"), h("div", h("p.strong", t(last ? "noDevice.now" : "noDevice", { name })),
    last ? h("p", t("noDevice.last", { what: ended(view, last) })) : h("p", next && lookedBackTo ? t("noDevice.searched", { time: time.full(lookedBackTo) }) : t("noDevice.never")),
    h("p.quiet", t(last ? "noDevice.do" : "noDevice.check"))));
}

/** Returns a list row for a device, which is a link.
 * @param {View} view @param {any} device @param {string} address
 * @param {...any} rest The content after the device's name. */
export function deviceRow(view, device, address, ...rest) {
  return h("li", h("a", { href: address },
    h("span.device-icon", icon(device.platform === "browser" ? "globe" : "phone")),
    h("span.device-name", h("span.strong.clip", idOf(device)), h("span.quiet.small", [device.change !== "unregistered" && serviceName(device.platform), device.endedAt && ended(view, device)].filter(Boolean).join(" · "))),
    rest));
}
