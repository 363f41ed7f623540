/** Makes the dry run of a draft, and shows its result, the previews, and the payloads that the operator has edited. */

import { call, Refusal } from "../../../lib/api.js";
import { freshId, h, icon, put } from "../../../lib/dom.js";
import { failure, serviceName } from "../../../lib/screen.js";
import { openDialog } from "../../../parts/dialog/dialog.js";
import { loadLook, look } from "../../../parts/look/look.js";
import { limits, toGroups } from "../../../parts/expression/rules.js";
import { content, problems } from "../draft.js";
import { fields, message } from "../message.js";
import { sentBefore } from "../sending.js";

const API = { "api-version": "2020-06" };
/** The milliseconds after which a dry run that did not reach the server is repeated. */
const AGAIN = 3000;

/** Counts the audience of a draft.
 * @param {import("../compose.js").Compose} compose */
export async function countAudience(compose) {
  const { view, draft } = compose;
  const { t } = view;
  compose.countController.abort();
  compose.countController = new AbortController();
  const { signal } = compose.countController;
  if (!compose.hasAudience) {
    compose.count = null;
    compose.counted = "";
    put(compose.countLine, h("p.quiet", t("count.nobody")));
    return;
  }
  const groups = toGroups(draft.to);
  if (groups && limits(groups).count > limits(groups).limit) return;
  const key = `${draft.everybody}${draft.to}`;
  if (key === compose.counted) return;
  put(compose.countLine, h("p.quiet", t("counting")));
  try {
    const found = await call("audience", { path: { hub: compose.hub }, query: { tags: draft.everybody ? null : draft.to }, signal });
    compose.counted = key;
    showCount(compose, found);
  } catch (error) {
    if (signal.aborted) return;
    put(compose.countLine, h("p.bad.small", error instanceof Refusal && error.message ? error.message : t("failed.unreachable")));
  }
}

/** @param {import("../compose.js").Compose} compose @param {any} found */
function showCount(compose, found) {
  const { t, n } = compose.view;
  const parts = Object.entries(found.platforms).map(([name, part]) => [name, /** @type {any} */ (part).native]).filter(([, count]) => count > 0);
  compose.count = parts.reduce((all, [, count]) => all + count, 0);
  const templates = Object.values(found.platforms).reduce((all, part) => all + /** @type {any} */ (part).templates, 0);
  put(compose.countLine, h("p", h("span.count-number.number", t("devices", { n: compose.count })), " ",
    h("span.quiet.small.number", parts.sort((a, b) => b[1] - a[1]).map(([name, count]) => `${serviceName(name)} ${n.whole(count)}`).join(" · "))),
  templates > 0 && h("p.quiet.small", t("count.templates", { n: templates })));
}

/** @param {import("../compose.js").Compose} compose */
export async function runCheck(compose) {
  const { view, draft } = compose;
  const { t } = view;
  await Promise.all([loadLook(view.language), view.style("/console/parts/look/look.css")]);
  compose.controller.abort();
  compose.controller = new AbortController();
  const { signal } = compose.controller;
  const of = content(draft);
  const isEmpty = !draft.title && !draft.text && !draft.silent;
  const isPast = draft.when === "at" && compose.dueAt() <= new Date();
  if (isPast) {
    compose.check = null;
    compose.showActions();
  }
  if (!compose.hasAudience || isEmpty || isPast || Object.keys(problems(draft)).length > 0) {
    put(compose.preview, h("p.quiet", t("looks.empty")));
    put(compose.checkBox, h("p.quiet", isEmpty ? t("check.noText") : !compose.hasAudience ? t("check.nobody") : t(isPast ? "when.past" : "check.fields")));
    return;
  }
  put(compose.checkBox, h("p.quiet", { role: "status" }, t("checking")));
  try {
    const run = await call("post", { path: { hub: compose.hub }, query: { ...API, dryRun: "" }, fields: fields(compose.draft, view), body: message(draft), signal });
    if (of !== content(compose.draft)) return;
    compose.check = { of, run };
    compose.before = sentBefore(compose.hub, draft);
    // Loaded before it is needed: the server may be away when the operator sends, or wants to undo.
    compose.part("out").catch(() => {});
    if (compose.draft.campaign) compose.part("campaign").catch(() => {});
    showCheck(compose, run);
    showLooks(compose, run);
  } catch (error) {
    if (signal.aborted) return;
    const refusal = error instanceof Refusal ? error : null;
    const isRefused = refusal?.status === 400 || refusal?.status === 413;
    if (isRefused) compose.refusedOf = of;
    put(compose.checkBox, isRefused ? h("div.notice.bad-notice", icon("warn"), h("div", h("p.strong", t("check.refused")), quote(refusal.message))) : failure(t, error, () => runCheck(compose)));
    // If the server was not reached, it may be restarting, so the dry run is repeated.
    if (refusal?.status === 0) compose.checkTimer = window.setTimeout(() => runCheck(compose), AGAIN);
  }
  compose.showActions();
}

/** @param {import("../compose.js").Compose} compose @param {any} run */
function showCheck(compose, run) {
  const { t, time } = compose.view;
  const credentials = Object.entries(run.platforms).map(([name, part]) => ({ name: serviceName(name), state: part.credential.state, targeted: part.targeted, problems: part.problems }));
  compose.count = run.targeted ?? compose.count;
  const warns = run.problems.length > 0 || credentials.some((one) => ["missing", "unusable"].includes(one.state));
  const accepted = compose.first ? t("check.first", { first: compose.first, n: run.targeted }) : t(warns ? "check.warned" : "check.accepted", { n: run.targeted });
  const lines = [!run.isAccepted ? ["cross", "bad", t("check.notAccepted")] : warns ? ["warn", "warn", accepted] : ["check", "good", accepted]];
  for (const one of credentials) {
    if (one.state === "missing") lines.push(["warn", "warn", t("check.missing", { service: one.name, n: one.targeted })]);
    if (one.state === "unusable") lines.push(["cross", "bad", t("check.unusable", { service: one.name })]);
    if (one.state === "unchecked") lines.push(["info", "quiet", t("check.unchecked", { service: one.name })]);
  }
  if (run.missingLanguages?.length > 0) lines.push(["info", "quiet", t("check.languages", { names: run.missingLanguages.map((/** @type {string} */ tag) => nameOf(compose.view, tag)).join(", ") })]);
  if (run.templatesOnly > 0) lines.push(["info", "quiet", t("check.templates", { n: run.templatesOnly })]);
  if (run.rollout?.seconds > 1) lines.push(["clock", "quiet", t("check.lasts", { time: time.duration(run.rollout.seconds) })]);
  // A problem that concerns one push service is shown with the name of the service, and not again without the name.
  const named = credentials.flatMap((one) => one.problems.map((/** @type {string} */ text) => [text, `${one.name}: ${text}`]));
  const sentences = [...new Set([...[...run.problems, ...(run.cautions ?? [])].filter((text) => !named.some(([known]) => known === text)), ...named.map(([, text]) => text)])];
  put(compose.checkBox, h("ul.check-list", lines.map(([symbol, kind, text]) => h("li", h("span", { class: kind }, icon(String(symbol))), h("span", text))),
    sentences.map((text) => h("li", h("span.warn", icon("warn")), text === run.refusal?.error ? h("span", tooLarge(t, run.refusal)) : quote(text)))),
  h("p.quiet.small.number", t("check.at", { time: time.clock(Date.now()) })));
  if (run.audience) showCount(compose, run.audience);
  compose.count = run.targeted ?? compose.count;
}

/** Returns what the server says.
 * @param {string} text */
const quote = (text) => h("span.quote", { lang: "en" }, text);

/** Returns what to say of a payload that is too large, which is the only refusal of a dry run with a code.
 * @param {View["t"]} t @param {any} refusal */
export const tooLarge = (t, { platform, language, size, limit, isTruncated }) =>
  `${t("check.tooLarge", { service: serviceName(platform) + (language ? ` (${language})` : ""), size, limit })} ${t(isTruncated ? "check.tooLarge.cut" : "check.tooLarge.text", { box: t("field.truncate") })}`;

/** Returns the name of a language in the operator's language; the tag if the browser does not know the language.
 * @param {View} view @param {string} tag */
function nameOf({ language }, tag) {
  try {
    return new Intl.DisplayNames(language, { type: "language" }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}

/** @param {import("../compose.js").Compose} compose @param {any} run */
function showLooks(compose, run) {
  const { view, draft } = compose;
  const { t, n } = view;
  const parts = Object.entries(run.platforms).filter(([, part]) => part.payloads.length > 0);
  const tags = [...new Set(parts.flatMap(([, part]) => part.payloads.map((/** @type {any} */ one) => one.language)).filter(Boolean))];
  const shown = tags.includes(compose.shownLanguage) ? compose.shownLanguage : tags[0];
  const choice = tags.length > 1 && h("div.segments", { role: "group", "aria-label": t("looks.language") }, tags.map((tag) => h("button", { type: "button", "aria-pressed": String(tag === shown), click: () => {
    compose.shownLanguage = tag;
    showLooks(compose, run);
  } }, nameOf(view, tag))));
  put(compose.preview, choice, parts.length === 0 ? run.isAccepted && h("p.quiet", t("looks.none")) : h("div.looks", parts.map(([platform, part]) => {
    const payload = part.payloads.find((/** @type {any} */ one) => one.language === shown) ?? part.payloads[0];
    const isOwn = Boolean(draft.platforms[platform]);
    return h("div.stack.tight", look(view, payload.appearance, { app: compose.hub, name: serviceName(platform), size: n.bytes(payload.size ?? 0) }),
      h("div.row.small", h("button.link", { click: () => editPayload(compose, platform, payload) }, isOwn ? t("json.byHand") : t("json")),
        isOwn && h("button.link", { click: () => { delete draft.platforms[platform]; compose.changed(); } }, t("json.back"))));
  })), parts.length > 0 && h("p.quiet.small", t("looks.note")));
}

/** @param {import("../compose.js").Compose} compose @param {string} platform @param {any} payload */
function editPayload(compose, platform, payload) {
  const { t } = compose.view;
  const id = freshId();
  let text = payload.body ?? "";
  try {
    text = JSON.stringify(JSON.parse(text), null, 2);
  } catch { /* It is not JSON: shown as it is. */ }
  const area = h("textarea.mono", { id, rows: 12, spellcheck: "false", value: text });
  const problem = h("p.bad.small", { role: "alert" });
  const take = () => {
    try {
      compose.draft.platforms[platform] = { payload: JSON.parse(area.value) };
      dialog.close();
      compose.changed();
    } catch {
      put(problem, t("json.bad"));
    }
  };
  const dialog = openDialog(t("json.title", { service: serviceName(platform) }), [h("div.field", h("label", { for: id }, t("json.label")), area, problem),
    h("div.actions", h("button", { click: () => dialog.close() }, t("cancel")), h("button.primary", { click: take }, t("json.take")))], "wide-dialog");
}
