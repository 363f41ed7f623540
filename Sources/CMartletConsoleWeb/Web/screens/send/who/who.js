/** The form that finds out why a device, or the devices of a user, did not get a send. */

import { call } from "../../../lib/api.js";
import { freshId, h, icon, put } from "../../../lib/dom.js";
import { failure, skeleton, to, verdictBadge } from "../../../lib/screen.js";
import { byDevice, deviceRow, former, idOf, loadPerson, noDevice } from "../../../parts/person/person.js";

/** The maximum number of a user's devices that are shown. The user's page shows the others. */
const DEVICES = 10;

/** @param {View} view @param {{hub: string, id: string}} path */
export async function whoForm(view, path) {
  const { t } = view;
  t.add((await import(`./text.${view.language}.js`)).default);
  const id = freshId();
  const input = h("input", { id, name: "who", autocomplete: "off", autocapitalize: "none", spellcheck: "false", required: true });
  const results = h("div.stack.tight", { "aria-live": "polite" });
  async function find(/** @type {Event} */ event) {
    event.preventDefault();
    const text = input.value.trim();
    if (text === "") return;
    put(results, skeleton(t, 2));
    try {
      const trace = await traceOf(path, text);
      // The id of a device opens the page of its trace. Any other text counts as the name of a user.
      if (trace.verdict !== "unknownDevice") return view.go(to.why(path.hub, path.id, text));
      put(results, await devicesOf(view, path, text));
    } catch (error) {
      put(results, failure(t, error, null));
    }
  }
  return h("section.stack.tight", h("form.stack.tight.why-form", { on: { submit: find } },
    h("label.strong", { for: id }, t("who")), h("div.row", h("div.grow", input), h("button", t("who.go")))), results);
}

/** @param {{hub: string, id: string}} path @param {string} device */
const traceOf = (path, device) => call("trace", { path: { ...path, device } });

/** @param {View} view @param {{hub: string, id: string}} path @param {string} user */
async function devicesOf(view, path, user) {
  const { t, hub } = view;
  const [found, past] = await Promise.all([call("findDevices", { path: { hub }, body: { text: user, kind: "user", isExact: true } }), former(view, user), loadPerson(view)]);
  const own = found.devices.filter((/** @type {any} */ device) => device.user?.toLowerCase() === user.toLowerCase());
  const all = [...byDevice(own), ...past.devices];
  const traces = await Promise.all(all.slice(0, DEVICES).map((device) => traceOf(path, idOf(device))));
  return [
    own.length === 0 && noDevice(view, user, past),
    all.length > 0 && h("ul.list.person", traces.map((trace, index) => deviceRow(view, all[index], to.why(path.hub, path.id, idOf(all[index])), verdictBadge(t, trace.verdict), icon("right")))),
    all.length > DEVICES && h("p.quiet.small", t("who.more", { n: all.length - DEVICES })),
  ];
}
