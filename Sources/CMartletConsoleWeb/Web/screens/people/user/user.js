/** A user: the devices that it had, and what was meant for all of its devices, with a verdict for each. */

import { call } from "../../../lib/api.js";
import { h, put } from "../../../lib/dom.js";
import { failure, serviceName, skeleton, to, verdictBadge } from "../../../lib/screen.js";
import { byDevice, deviceRow, former, idOf, loadPerson, noDevice } from "../../../parts/person/person.js";

/** Devices whose sends are looked up; the rest have pages of their own. */
const DEVICES = 6;

/**
 * @param {View} view
 * @param {string} name
 * @param {any[]} registrations The registrations of the user's present devices.
 * @param {boolean} isKnown Whether there is such a user.
 * @param {AbortSignal} signal
 * @returns {Promise<any>} Nothing if no user has this name, as far as is known.
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

/** The sends that were meant for some devices, newest first, each once.
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
 * Sends of several devices in one list, as far back as all of the devices' lists go.
 *
 * @param {{device: any, page: any}[]} pages
 * @returns {{send: any, results: {device: any, name: string}[]}[]}
 */
export function merged(pages) {
  /** @type {Map<string, {send: any, results: {device: any, name: string}[]}>} */
  const sends = new Map();
  // Where a list goes on, older sends may be missing for its device.
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
