/** Sends that are held: what they wait for, and the buttons that let them continue or stop them. */

import { call, isUnreached } from "../../lib/api.js";
import { h, icon, say } from "../../lib/dom.js";
import { ask } from "../dialog/ask.js";

/** @param {View} view */
export async function loadHeld(view) {
  view.t.add((await import(`./text.${view.language}.js`)).default);
}

/**
 * Returns what a held send waits for: a person, a time, or enough answers for the first devices.
 *
 * @param {any} send A send of a list, or the status of a send; of a canary, it has `goesOnAt`.
 * @param {number} [now]
 * @returns {"paused" | "halted" | "approval" | "time" | "answers"}
 */
export function waitsFor(send, now = Date.now()) {
  if (send.control !== "holding") return send.control;
  if (!send.goesOnAt) return "approval";
  // A canary whose time has passed continues at once, unless too few of its first devices have a result.
  return send.waitsFor === "answers" || Date.parse(send.goesOnAt) <= now ? "answers" : "time";
}

/** @param {View} view @param {any} send @param {number} [now] */
export function sentence({ t, time }, send, now) {
  const what = waitsFor(send, now);
  const at = { paused: send.expiresAt, halted: send.controlledAt, time: send.goesOnAt }[String(what)];
  const share = send.rollout?.halt?.percent;
  return [t(`held.${what}`, { time: at ? time.full(at) : "" }), what === "halted" && share && t("held.share", { share }), what === "time" && share && t("held.unless", { share })].filter(Boolean).join(" ");
}

/** The milliseconds that the server has for its answer, and between two requests to a server that gives none. */
const PATIENCE = 4000;
const PAUSE = 2000;
/** For each send, the number of the last decision. @type {Map<string, number>} */
const decisions = new Map();

/**
 * Pauses, continues or stops a send. If the server does not answer, a pause and a stop are requested again until it
 * does, or until the operator decides otherwise: the send may still be going out.
 *
 * @param {View} view @param {{hub: string, id: string}} path @param {"resume" | "pause" | "cancel"} name
 * @param {(text: string) => void} tell Shows that there is no answer; gets "" when there is one.
 * @returns {Promise<any>} The new status; null if the operator did not confirm the question, or has decided otherwise.
 */
export async function decide(view, path, name, tell) {
  const { t } = view;
  if (name === "cancel" && !(await ask(view, { title: t("stop.title"), text: t("stop.text"), yes: t("held.stop"), isDanger: true }))) return null;
  const mine = (decisions.get(path.id) ?? 0) + 1;
  decisions.set(path.id, mine);
  for (;;) {
    try {
      const status = await call(name, { path, body: {}, timeout: PATIENCE });
      tell("");
      view.toast(t(`did.${name}`));
      return status;
    } catch (error) {
      if (decisions.get(path.id) !== mine) return null;
      if (!isUnreached(error)) {
        tell("");
        throw error;
      }
      tell(t(`unsure.${name}`));
      if (name === "resume") return null;
    }
    await new Promise((resolve) => window.setTimeout(resolve, PAUSE));
    if (decisions.get(path.id) !== mine) return null;
  }
}

/** Returns a sentence about what a held send waits for, with buttons that let the send continue now or stop it.
 * @param {View} view @param {{hub: string, id: string}} path @param {any} send @param {() => void} decided */
export function heldLine(view, path, send, decided) {
  const { t } = view;
  const line = h("p.small.warn.grow", { role: "status" }, sentence(view, send));
  const act = (/** @type {"resume" | "cancel"} */ name) => decide(view, path, name, (text) => say(line, text || sentence(view, send)))
    .then((status) => status && decided(), (error) => {
      view.toast(error.message || t("failed.refused"));
      decided();
    });
  return h("div.row.between.held", line, view.role(path.hub) !== "viewer" && h("div.row",
    h("button", { click: () => act("resume") }, icon("play"), t("held.go")), h("button.danger", { click: () => act("cancel") }, icon("stop"), t("held.stop"))));
}
