/** A user in the search results: the former devices, and the sends that targeted the user's devices, with their
 * verdicts. */

import { call } from "../../../lib/api.js";
import { h, put } from "../../../lib/dom.js";
import { failure, serviceName, skeleton, to, verdictBadge } from "../../../lib/screen.js";
import { byDevice, deviceRow, former, idOf, loadPerson, noDevice } from "../../../parts/person/person.js";

/** The maximum number of devices whose sends are shown. Other devices have their own pages. */
const DEVICES = 6;

/**
 * @param {View} view
 * @param {string} name
 * @param {any[]} registrations The registrations of the user's current devices.
 * @param {boolean} isKnown Whether the search has found a user with this name.
 * @param {AbortSignal} signal
 * @returns {Promise<any>} null if no user, device or former device has this name.
 */
export async function userOf(view, name, registrations, isKnown, signal) {
  const { t } = view;
  const [found] = await Promise.all([former(view, name, null, signal), loadPerson(view), texts(view)]);
  const present = byDevice(registrations);
  if (!isKnown && present.length === 0 && found.devices.length === 0) return null;
  const list = h("ul.list.person");
  const more = h("div.row");
  const section = h("section.stack.tight", h("h2", t("user.former")), list, more);
  const sends = h("div", skeleton(t, 3));
  /** @param {{devices: any[], lookedBackTo: string | null, next: string | null}} page */
  const show = (page) => {
    list.append(...page.devices.map((device) => deviceRow(view, device, to.device(view.hub, idOf(device)))));
    section.hidden = list.childElementCount === 0 && !page.next;
    put(more, page.next && page.lookedBackTo && h("span.quiet.small", t("user.lookedBack", { time: view.time.full(page.lookedBackTo) })),
      page.next && h("button", { click: () => former(view, name, page.next, signal).then(show, (error) => put(more, failure(t, error, null))) }, t("user.further")));
  };
  show(found);
  const devices = [...present, ...found.devices].slice(0, DEVICES);
  if (devices.length > 0) meant(view, devices, signal).then((rows) => put(sends, rows), (error) => !signal.aborted && put(sends, failure(t, error, null)));
  return [
    present.length === 0 && noDevice(view, name, found), section,
    devices.length > 0 && h("section.stack.tight", h("h2", t("user.sends", { name })), sends),
  ];
}

/** @param {View} view */
async function texts(view) {
  view.t.add((await import(`./text.${view.language}.js`)).default);
}

/** Returns a list of the sends that targeted some devices, newest first.
 * @param {View} view @param {any[]} devices @param {AbortSignal} signal */
async function meant(view, devices, signal) {
  const { t, hub } = view;
  const pages = await Promise.all(devices.map((device) => call("deviceSends", { path: { hub, id: idOf(device) }, signal })));
  const sends = merged(devices.map((device, index) => ({ device, page: pages[index] })));
  if (sends.length === 0) return h("p.quiet", t("user.none"));
  return h("ul.list.meant-all", sends.map(({ send, results }) => h("li", h("div.item",
    h("span.whose", h("a.strong.clip", { href: to.send(hub, send.id) }, send.isConfidential ? t("confidential") : send.text ?? t("sendOf", { id: send.id.slice(-8) })),
      h("span.quiet.small.clip", [view.time.full(send.acceptedAt), send.isToOneUser ? t("oneUser") : send.expression ?? t("everybody")].join(" · "))),
    h("ul.verdicts", results.map(({ device, name }) => h("li", h("a", { href: to.why(hub, send.id, idOf(device)) },
      verdictBadge(t, name), h("span.quiet.small.clip", serviceName(device.platform), devices.length > 1 && ` ${idOf(device)}`)))))))));
}

/**
 * Merges the lists of sends of several devices. The result goes back only as far as every list does.
 *
 * @param {{device: any, page: any}[]} pages
 * @returns {{send: any, results: {device: any, name: string}[]}[]}
 */
export function merged(pages) {
  /** @type {Map<string, {send: any, results: {device: any, name: string}[]}>} */
  const sends = new Map();
  // If a list has another page, sends older than its last one may be missing.
  const ends = pages.filter(({ page }) => page.next).map(({ page }) => page.sends[page.sends.length - 1]?.acceptedAt ?? page.lookedBackTo ?? "");
  const oldest = ends.sort().pop() ?? "";
  for (const { device, page } of pages) {
    for (const send of page.sends) {
      if (send.acceptedAt < oldest) continue;
      const known = sends.get(send.id) ?? { send, results: [] };
      known.results.push({ device, name: send.verdict ?? "unknown" });
      sends.set(send.id, known);
    }
  }
  return [...sends.values()].sort((one, other) => other.send.acceptedAt.localeCompare(one.send.acceptedAt)).slice(0, 20);
}
