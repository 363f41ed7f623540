/** The sign-in screen: sign-in by password or identity provider, and the pages that one-time links open. */

import { call, Refusal } from "../../lib/api.js";
import { freshId, h, icon, put, say } from "../../lib/dom.js";
import { keptDrafts, underWay } from "../../lib/drafts.js";
import { failure, skeleton } from "../../lib/screen.js";
import { LANGUAGES } from "../../lib/text.js";
import { finish, providerButton, takeAnswer } from "./provider.js";

/** @param {View} view @returns {OpenScreen} */
export function screen(view) {
  const { t } = view;
  const card = h("div.card.sign-in");
  const node = h("div.sign-in-page", h("div.sign-in-mark", h("img", { src: "/console/icon.svg", alt: "", width: 44, height: 44 }), h("span", "Martlet")),
    card, languages(view));
  const token = takeToken();
  const answer = takeAnswer();
  if (answer) finish(view, card, answer);
  else if (token) openLink(view, card, token);
  else if (location.pathname === "/console/enter") put(card, deadLink(view));
  else put(card, passwordForm(view));
  return { title: t("title"), node };
}

/** The key in the session storage of an invitation's token. It is stored there until a password is set, so that a
 * reload does not lose the token and other tabs do not get it. */
const INVITATION = "invitation";

/** Returns the token of a one-time link: from the address, which then no longer has it, or after a reload from the
 * session storage; "" if there is none. */
function takeToken() {
  const token = location.hash.slice(1);
  if (token) {
    history.replaceState(null, "", location.pathname);
    sessionStorage.removeItem(INVITATION);
  }
  return token || (location.pathname === "/console/enter" ? sessionStorage.getItem(INVITATION) ?? "" : "");
}

/** @param {View} view */
function languages(view) {
  return h("p.row.center.small", Object.entries(LANGUAGES).map(([tag, name]) =>
    tag === view.language ? h("span.quiet", { lang: tag }, name) : h("button.link", { type: "button", lang: tag, click: () => view.saveSettings({ language: tag }) }, name)));
}

/** @param {View} view */
function passwordForm(view) {
  const { t } = view;
  const ids = { name: freshId(), password: freshId(), problem: freshId() };
  const code = codeField(view);
  const name = h("input", { id: ids.name, name: "username", autocomplete: "username", autocapitalize: "none", spellcheck: "false", required: true, autofocus: true });
  const password = h("input", { id: ids.password, name: "password", type: "password", autocomplete: "current-password", required: true, "aria-describedby": ids.problem });
  const problem = h("p.problem", { id: ids.problem, role: "alert" });
  const button = h("button.primary.big", t("signIn"));
  // Set when the session has ended by itself, until the next sign-in.
  const ended = sessionStorage.getItem("ended");
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    button.disabled = true;
    try {
      const { operator } = await call("signIn", { body: { name: name.value.trim(), password: password.value, code: code.value() } });
      await enter(view);
      // An Undo that has waited for the sign-in goes on, on whichever page.
      for (const one of underWay.values()) if (one.operator === operator) one.turn();
    } catch (error) {
      if (code.asked(error)) return put(problem);
      put(problem, icon("warn"), sentence(view, error));
      password.setAttribute("aria-invalid", "true");
      password.focus();
      password.select();
    } finally {
      button.disabled = false;
    }
  };
  return h("form.stack", { on: { submit } }, h("h1", t("title")),
    ended !== null && h("div.notice.warn-notice", icon("clock"), h("div", h("p", t(ended === "roles" ? "ended.roles" : "ended")), keptDrafts().length > 0 && h("p", t("ended.drafts")))),
    ended !== null && pending(view),
    h("div.field", h("label", { for: ids.name }, t("name")), name),
    h("div.field", h("label", { for: ids.password }, t("password")), password, problem), code.node,
    button, providerButton(view), h("p.quiet.small", t("forgotten")));
}

/** The milliseconds for which the page says of a send that is due that it could still be stopped. */
const HOUR = 3_600_000;

/** Returns the key of the text about a send at a moment; "" if there is nothing to say. The server may not have a send that
 * it has given no id.
 * @param {{id: string | null, dues: string[], ahead: number, undo: boolean} | null} sending @param {number} now */
export function told(sending, now) {
  if (!sending) return "";
  const { id, undo } = sending;
  const begins = endOf(sending);
  if (now < begins) return undo ? (id ? "pending.undo" : "pending.undo.perhaps") : id ? "pending" : "pending.perhaps";
  return undo && now <= begins + HOUR ? "pending.begun" : "";
}

/** @param {{dues: string[], ahead: number}} sending */
const endOf = ({ dues, ahead }) => Date.parse(dues.at(-1) ?? "") - ahead;

/** Returns what goes out meanwhile: the sends that this page has asked for and whose end it does not know. Not shown after a
 * sign-out: who comes next may be somebody else.
 * @param {View} view */
function pending({ t, time }) {
  const lines = [...underWay].map(([key, one]) => ({ key, one, line: h("p") }));
  const node = lines.length > 0 && h("div.notice.warn-notice", { role: "status" }, icon("warn"), h("div", lines.map(({ line }) => line)));
  const tell = () => {
    for (const { key, one: { hub, sending }, line } of lines) {
      // A send that is over is not under way any more.
      const text = told(underWay.has(key) ? sending : null, Date.now());
      line.hidden = !text;
      if (text) say(line, t(text, { n: sending.count, hub, time: time.clock(endOf(sending)) }));
    }
    if (node) node.hidden = lines.every(({ line }) => line.hidden);
    if (node && (!shown || node.isConnected)) window.setTimeout(tell, 500);
    shown = true;
  };
  let shown = false;
  if (node) tell();
  return node;
}

/** Returns a field for the code of the second factor. The field is shown when the server asks for a code.
 * @param {View} view */
function codeField({ t }) {
  const id = freshId();
  const input = h("input.number", { id, autocomplete: "one-time-code", spellcheck: "false" });
  const node = h("div.field", { hidden: true }, h("label", { for: id }, t("code")), input, h("p.help", t("code.help")));
  return {
    node,
    value: () => input.value.trim() || null,
    /** Returns whether the server asks for a code. If so, shows the field and moves the focus to it.
     * @param {unknown} error */
    asked: (error) => {
      const isAsked = error instanceof Refusal && error.code === "needs-code";
      if (isAsked) node.hidden = false;
      if (isAsked) input.focus();
      return isAsked;
    },
  };
}

/** @param {View} view @param {unknown} error */
function sentence(view, error) {
  const refusal = error instanceof Refusal ? error : null;
  if (refusal?.code === "bad-credentials") return view.t("wrong");
  if (refusal?.code === "bad-code") return view.t("code.wrong");
  if (refusal?.status === 429) return view.t("failed.tooMany.text", { n: refusal.retryAfter || 60 });
  if (refusal?.status === 0) return refusal.message || view.t("failed.unreachable");
  if (refusal?.code === "clear-text") return view.t("clearText");
  return refusal?.message || view.t("failed.refused");
}

/** @param {View} view */
async function enter(view) {
  sessionStorage.removeItem(INVITATION);
  sessionStorage.removeItem("ended");
  if (location.pathname === "/console/enter") history.replaceState(null, "", "/console/");
  await view.refreshSession();
}

/** @param {View} view @param {Element} card @param {string} token */
async function openLink(view, card, token) {
  put(card, skeleton(view.t, 3));
  try {
    const link = await call("link", { body: { token } });
    if (link.kind === "sign-in") {
      await call("useLink", { body: { token } });
      return await enter(view);
    }
    sessionStorage.setItem(INVITATION, token);
    put(card, invitation(view, link, token));
    /** @type {HTMLElement | null} */ (card.querySelector("[autofocus]"))?.focus();
  } catch (error) {
    const isDead = error instanceof Refusal && error.status === 404;
    if (isDead) sessionStorage.removeItem(INVITATION);
    put(card, isDead ? deadLink(view) : failure(view.t, error, () => openLink(view, card, token)));
  }
}

/** @param {View} view */
function deadLink(view) {
  return h("div.stack", h("h1", view.t("link.dead")), h("p.quiet", view.t("link.dead.text")),
    h("a.button", { href: "/console/", target: "_self" }, view.t("link.toSignIn")));
}

/** @param {View} view @param {string} token @param {any} link */
function invitation(view, link, token) {
  const { t } = view;
  const ids = { password: freshId(), help: freshId(), problem: freshId() };
  const code = codeField(view);
  const password = h("input", { id: ids.password, type: "password", autocomplete: "new-password", required: true, minlength: 8, autofocus: true, "aria-describedby": `${ids.help} ${ids.problem}` });
  const shown = h("input", { type: "checkbox", on: { change: () => { password.type = shown.checked ? "text" : "password"; } } });
  const problem = h("p.problem", { id: ids.problem, role: "alert" });
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      await call("useLink", { body: { token, password: password.value, code: code.value() } });
      await enter(view);
    } catch (error) {
      if (!code.asked(error)) put(problem, icon("warn"), sentence(view, error));
    }
  };
  return h("form.stack", { on: { submit } },
    h("div", h("h1", t("invited", { name: link.name })), h("p.quiet", t("invited.text", { roles: link.roles.join(", ") }))),
    h("input", { type: "text", autocomplete: "username", value: link.name, hidden: true }),
    h("div.field", h("label", { for: ids.password }, t("choose")), password, h("p.help", { id: ids.help }, t("choose.help")), problem),
    h("label.choice", shown, t("show")), code.node,
    h("button.primary.big", t("begin")));
}
