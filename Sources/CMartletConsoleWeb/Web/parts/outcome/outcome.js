/** Explains the outcomes of pushes, in the operator's language. If only the server knows the cause, its English
 * sentence is shown too. */

import { h } from "../../lib/dom.js";
import { path } from "../../lib/screen.js";

/** Outcomes that come from a push service or from the hub itself. If the hub has decided the outcome, only its
 * sentence says why. */
const MIXED = ["BadChannel", "InvalidCredentials", "InvalidNotificationFormat"];

/** Outcomes for which a person must change something at the hub's push services before another attempt can succeed. */
const AT_SERVICES = ["InvalidCredentials", "WrongToken", "TokenProviderInterfaceError"];
/** Outcomes whose cause usually disappears by itself, so that a later attempt succeeds. */
const PASSING = ["PnsUnavailable", "PnsUnreachable", "PnsServerError", "Throttled", "TokenProviderUnreachable"];
/** Reasons of push services that have a text of their own, because they say more than the outcome; each with the key
 * of its text. */
const REASONS = /** @type {Record<string, string>} */ ({ ExpiredProviderToken: "ExpiredProviderToken", THIRD_PARTY_AUTH_ERROR: "THIRD_PARTY_AUTH_ERROR", APNS_AUTH_ERROR: "THIRD_PARTY_AUTH_ERROR" });
/** The reason whose cause must be corrected at the push service, not in the hub. */
const ELSEWHERE = "THIRD_PARTY_AUTH_ERROR";

/** Returns whether a person must do something before another attempt can succeed.
 * @param {string} outcome */
export const needsPerson = (outcome) => AT_SERVICES.includes(outcome);

/** Returns whether the outcome alone may not say what happened, so that the recorded causes are needed.
 * @param {string} outcome */
export const needsCause = (outcome) => MIXED.includes(outcome);

/** @param {View} view */
export async function loadOutcomes(view) {
  view.t.add((await import(`./text.${view.language}.js`)).default);
}

/** Returns a link to the screen on which credentials are changed.
 * @param {View} view */
export const servicesLink = ({ t, hub }) => h("a", { href: path("hubs", hub) }, t("outcome.services"));

/**
 * Returns what happened (`text`) and what to do (`todo`). If the hub has decided the outcome, `quote` is its sentence
 * about the cause.
 *
 * @param {View["t"]} t
 * @param {string} outcome
 * @param {string} reason The push service's name for the error, or a sentence of the hub, which ends with a full stop.
 * @returns {{text: string, todo: string, quote: string, isAtServices: boolean}}
 */
export function told(t, outcome, reason) {
  const named = REASONS[reason];
  const isAtServices = needsPerson(outcome) && named !== ELSEWHERE;
  if (MIXED.includes(outcome) && / .*\.$/.test(reason)) return { text: t("outcome.own"), todo: isAtServices ? t(`outcome.${outcome}.do`) : "", quote: reason, isAtServices };
  const key = named ? `reason.${named}` : `outcome.${outcome}`;
  return { text: t.has(key) ? t(key) : "", todo: PASSING.includes(outcome) ? t("outcome.again") : t.has(`${key}.do`) ? t(`${key}.do`) : "", quote: "", isAtServices };
}
