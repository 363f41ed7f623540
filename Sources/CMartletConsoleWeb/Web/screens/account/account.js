/** The screen of the operator's account: password, second factor and sessions. */

import { call } from "../../lib/api.js";
import { freshId, h, icon, put } from "../../lib/dom.js";
import { failure } from "../../lib/screen.js";
import { pane } from "../../parts/pane/pane.js";

/** @param {View} view @returns {OpenScreen} */
export function screen(view) {
  const { t } = view;
  const sessions = pane({ t, load: (signal) => call("sessions", { signal }), render: (list) => h("ul.list", list.map((/** @type {any} */ one) => row(view, one, () => sessions.reload()))) });
  const node = h("div.stack.loose", h("div", h("h1", t("title")), h("p.quiet", t("subtitle", { name: view.session.operator, roles: view.session.roles.join(", ") }))),
    h("section.stack.tight", h("h2", t("sessions")), h("p.quiet", t("sessions.text")), sessions),
    view.session.hasPassword && h("section.stack.tight", h("h2", t("factor")), h("div.card.narrow-form", factor(view))),
    view.session.hasPassword && h("section.stack.tight", h("h2", t("password")), passwordForm(view)));
  return { title: t("title"), node };
}

/** @param {View} view @param {() => void} reload @param {any} one */
function row(view, one, reload) {
  const { t, time } = view;
  const end = async () => {
    await call("endSession", { path: { id: one.id } }).catch(() => {});
    reload();
  };
  return h("li", h("div.item.session", h("span.grow", h("span.strong", browser(one.agent)), one.isCurrent && h("span.good.small", " · ", t("this")),
    h("span.quiet.small.number.block", t("used", { time: time.brief(one.usedAt), address: one.address, since: time.full(one.createdAt) }))),
  !one.isCurrent && h("button", { click: end }, t("end"))));
}

/** Returns a short name of the browser and the system in a `User-Agent`.
 * @param {string} agent */
export function browser(agent) {
  const name = /(Firefox|Edg|OPR|Chrome|Safari)\/[\d.]+/.exec(agent ?? "")?.[1] ?? "";
  const system = /(Windows|iPhone|iPad|Android|Mac OS X|Linux)/.exec(agent ?? "")?.[1] ?? "";
  return [name === "Edg" ? "Edge" : name === "OPR" ? "Opera" : name, system].filter(Boolean).join(", ") || (agent ?? "").slice(0, 60);
}

/** @param {View} view */
function factor(view) {
  const { t } = view;
  const content = pane({
    t, bars: 2, load: (signal) => call("factor", { signal }),
    render: (state) => h("div.stack.tight",
      h("p.quiet", state.isOn ? t("factor.on", { n: state.recoveryCodes }) : t("factor.off")),
      state.isOn ? codeForm(view, "removeFactor", t("factor.remove"), () => content.reload())
        : h("div", h("button", { type: "button", click: begin }, t("factor.begin")))),
  });
  const begin = async () => {
    try {
      const made = await call("beginFactor", { body: {} });
      // If the QR code cannot be loaded, the page works without it, because the secret can be typed.
      const picture = await import("../../parts/qr/qr.js").then(({ qr }) => qr(made.uri, t("factor.qr")), () => null);
      put(content, h("div.stack.tight", h("p", t("factor.secret")), picture, h("div.code", made.secret.replace(/(.{4})/g, "$1 ").trim()), h("p.small", h("a.address", { href: made.uri }, made.uri)),
        codeForm(view, "confirmFactor", t("factor.confirm"), (answer) => put(content, h("div.stack.tight", h("p", t("factor.codes")), h("div.code", answer.recoveryCodes.map((/** @type {string} */ code) => h("div", code))))))));
    } catch (error) {
      put(content, failure(t, error, () => content.reload()));
    }
  };
  return content;
}

/**
 * @param {View} view
 * @param {"confirmFactor" | "removeFactor"} name
 * @param {string} text
 * @param {(answer: any) => void} done
 */
function codeForm({ t }, name, text, done) {
  const isPrimary = name === "confirmFactor";
  const id = freshId();
  const input = h("input.number", { id, autocomplete: "one-time-code", spellcheck: "false", required: true });
  const result = h("div", { "aria-live": "polite" });
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      done(await call(name, { body: { code: input.value } }));
    } catch (error) {
      put(result, failure(t, error, null));
    }
  };
  return h("form.stack.tight", { on: { submit } }, h("div.field", h("label", { for: id }, t("factor.code")), input), result, h("div", h("button", { class: isPrimary ? "primary" : "" }, text)));
}

/** @param {View} view */
function passwordForm(view) {
  const { t } = view;
  const ids = [freshId(), freshId()];
  const old = h("input", { id: ids[0], type: "password", autocomplete: "current-password", required: true });
  const fresh = h("input", { id: ids[1], type: "password", autocomplete: "new-password", required: true, minlength: 8 });
  const result = h("div", { "aria-live": "polite" });
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      await call("changePassword", { body: { password: old.value, new: fresh.value } });
      old.value = "";
      fresh.value = "";
      put(result, h("p.good", icon("check"), " ", t("password.done")));
    } catch (error) {
      put(result, failure(t, error, null));
    }
  };
  return h("form.card.stack.narrow-form", { on: { submit } }, h("div.field", h("label", { for: ids[0] }, t("password.old")), old),
    h("div.field", h("label", { for: ids[1] }, t("password.new")), fresh, h("p.help", t("password.help"))), result, h("div", h("button.primary", t("password.change"))));
}
