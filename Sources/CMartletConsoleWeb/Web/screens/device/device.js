/** The screen of a device: its facts, and the sends that targeted it. */

import { call } from "../../lib/api.js";
import { freshId, h, icon, put } from "../../lib/dom.js";
import { failure, path, serviceName, to, verdictBadge } from "../../lib/screen.js";
import { empty, pane } from "../../parts/pane/pane.js";
import { ask } from "../../parts/dialog/ask.js";
import { commandButton } from "../../parts/dialog/dialog.js";

/** @param {View} view @returns {OpenScreen} */
export function screen(view) {
  const { t, hub } = view;
  const id = view.params.id ?? "";
  const node = h("div.stack.loose",
    h("nav.small", { "aria-label": t("back") }, h("a", { href: path("hubs", hub, "people") }, t("place.people"))),
    pane({ t, bars: 5, heading: t("title"), load: (signal) => call("device", { path: { hub, id }, signal }), render: (device) => facts(view, device, id) }),
    h("section.stack", h("h2", t("meant")), sends(view, id)));
  return { title: t("title"), node };
}

/** @param {View} view @param {string} id @param {any} device */
function facts(view, device, id) {
  const { t, time, hub } = view;
  const role = view.role(hub);
  const tags = device.tags.filter((/** @type {string} */ tag) => !/^\$(Installation|Registration)Id:/.test(tag));
  const rows = [
    [t("service"), `${serviceName(device.platform)}, ${t(`kind.${device.kind}`)}`],
    [t("handle"), [h("code", device.handle), " ", h("span.quiet.small", t("digest", { digest: device.handleDigest }))]],
    [t("tags"), tags.length === 0 ? h("span.quiet", t("tags.none")) : h("span.row", tags.map((/** @type {string} */ tag) => h("span.chip", h("span.clip", tag))))],
    device.installation && [t("installation"), h("code", device.installation)],
    [t("registration"), h("code", device.registration)],
    ...(device.encryptionKeys ?? []).map((/** @type {any} */ one) => [t(`key.${one.use}`), h("code.break", one.fingerprint)]),
    [t("made"), time.full(device.createdAt)],
    [t("expires"), device.expiresAt ? time.full(device.expiresAt) : t("expires.never")],
    device.history?.length > 0 && [t("history"), h("ul", device.history.map((/** @type {any} */ one) =>
      h("li", h("span.number.quiet", time.full(one.at)), " ", t.has(`change.${one.change}`) ? t(`change.${one.change}`) : one.change)))],
  ].filter(Boolean);
  const ending = device.history?.[0];
  const problem = h("p.bad.small.wide", { role: "alert" });
  const why = h("input", { id: freshId(), name: "send", autocomplete: "off", spellcheck: "false", placeholder: t("why.placeholder"), "aria-label": t("why.label") });
  return h("div.stack.loose",
    h("div.head", h("div", h("h1", device.user ?? device.installation ?? device.registration),
      h("p.quiet", t("subtitle", { service: serviceName(device.platform) }))),
    device.isRegistered !== false && h("div.row", role !== "viewer" && h("a.button", { href: `${to.sends(hub)}/new?to=${encodeURIComponent(tagOf(device))}` }, icon("sends"), t("send")),
      role === "admin" && h("button.danger", { click: () => remove(view, device) }, t("remove")))),
    device.isRegistered === false && h("div.notice.warn-notice", icon("info"), h("div", h("p.strong", t("gone")), ending && h("p", t("gone.last", { time: time.full(ending.at), what: t(`change.${ending.change}`) })))),
    h("dl.facts.card", rows.map((/** @type {any} */ [name, value]) => [h("dt", name), h("dd", value)])),
    h("form.row.why-form", { on: { submit: async (event) => {
      event.preventDefault();
      const send = why.value.trim();
      if (!send) return;
      const found = await call("send", { path: { hub, id: send } }).catch((error) => error.status !== 404);
      put(problem, !found && t("why.none"));
      if (found) view.go(to.why(hub, send, id));
    } } }, h("span.strong", t("why.label")), h("div.grow", why), h("button", t("why.go")), problem),
    h("div.row", commandButton(view, null, "device", { path: { hub, id } })));
}

/** Returns the tag that only this device has.
 * @param {any} device */
export function tagOf(device) {
  return device.installation ? `$InstallationId:{${device.installation}}` : `$RegistrationId:{${device.registration}}`;
}

/** @param {View} view @param {any} device */
async function remove(view, device) {
  const { t, hub } = view;
  const isSure = await ask(view, { title: t("remove.title"), text: t("remove.text"), yes: t("remove"), isDanger: true });
  if (!isSure) return;
  try {
    if (device.installation) await call("deleteInstallation", { path: { hub, id: device.installation }, query: { "api-version": "2020-06" } });
    else await call("deleteRegistration", { path: { hub, id: device.registration }, query: { "api-version": "2020-06" }, fields: { "if-match": "*" } });
    view.toast(t("remove.done"));
    view.go(path("hubs", hub, "people"));
  } catch (error) {
    view.toast(error.message || t("failed.refused"));
  }
}

/** @param {View} view @param {string} id */
function sends(view, id) {
  const { t, time, hub } = view;
  const list = h("ul.list.meant");
  const more = h("div.row.center");
  const row = (/** @type {any} */ send) => h("li", h("a", { href: to.why(hub, send.id, id) },
    h("span.whose", h("span.strong.clip", send.isConfidential ? t("confidential") : send.text ?? t("sendOf", { id: send.id.slice(-8) })),
      h("span.quiet.small.clip", send.isToOneUser ? t("oneUser") : send.expression ?? t("everybody"))),
    verdictBadge(t, send.verdict), h("time.quiet.small.number", { datetime: send.acceptedAt, title: time.full(send.acceptedAt) }, time.brief(send.acceptedAt)), icon("right")));
  const showMore = (/** @type {any} */ page) => put(more,
    page.lookedBackTo && h("span.quiet.small", t("lookedBack", { time: time.full(page.lookedBackTo) })),
    page.next && h("button", { click: () => further(page.next) }, t("further")));
  async function further(/** @type {string} */ before) {
    try {
      const page = await call("deviceSends", { path: { hub, id }, query: { before } });
      list.append(...page.sends.map(row));
      showMore(page);
    } catch (error) {
      put(more, failure(t, error, () => further(before)));
    }
  }
  return pane({
    t, bars: 4, load: (signal) => call("deviceSends", { path: { hub, id }, signal }),
    render: (page) => {
      if (page.sends.length === 0 && !page.next) return empty("sends", t("none"), t("none.text"));
      put(list, page.sends.map(row));
      showMore(page);
      return h("div.stack", list, more);
    },
  });
}
