/** What an outcome of a push means: in the reader's words, and where only the server knows the cause, in the server's. */

import { h } from "../../lib/dom.js";
import { path } from "../../lib/screen.js";

/** Outcomes that the hub itself decides too, for causes of which only its own sentence tells. */
const MIXED = ["BadChannel", "InvalidCredentials", "InvalidNotificationFormat"];

/** Outcomes that a person mends at the hub's push services: more attempts do not help before. */
const AT_SERVICES = ["InvalidCredentials", "WrongToken", "TokenProviderInterfaceError"];
/** Outcomes that end by themselves. */
const PASSING = ["PnsUnavailable", "PnsUnreachable", "PnsServerError", "Throttled", "TokenProviderUnreachable"];
/** Reasons of push services that say more than their outcome. */
const REASONS = /** @type {Record<string, string>} */ ({ ExpiredProviderToken: "ExpiredProviderToken", THIRD_PARTY_AUTH_ERROR: "THIRD_PARTY_AUTH_ERROR", APNS_AUTH_ERROR: "THIRD_PARTY_AUTH_ERROR" });
/** It is mended at the push service. */
const ELSEWHERE = "THIRD_PARTY_AUTH_ERROR";

/** Whether a person must do something before more attempts help.
 * @param {string} outcome */
export const needsPerson = (outcome) => AT_SERVICES.includes(outcome);

/** Whether only a recorded cause says what happened.
 * @param {string} outcome */
export const needsCause = (outcome) => MIXED.includes(outcome);

/** @param {View} view */
export async function loadOutcomes(view) {
  view.t.add((await import(`./text.${view.language}.js`)).default);
}

/** The link to where credentials are mended.
 * @param {View} view */
export const servicesLink = ({ t, hub }) => h("a", { href: path("hubs", hub) }, t("outcome.services"));

/**
 * What happened and what to do; `quote` is the cause in the server's words, which then says it all.
 *
 * @param {View["t"]} t
 * @param {string} outcome
 * @param {string} reason What the push service said, or a sentence of the hub, which ends with a full stop.
 * @returns {{text: string, todo: string, quote: string, isAtServices: boolean}}
 */
export function told(t, outcome, reason) {
  const named = REASONS[reason];
  const isAtServices = needsPerson(outcome) && named !== ELSEWHERE;
  if (MIXED.includes(outcome) && / .*\.$/.test(reason)) return { text: t("outcome.own"), todo: isAtServices ? t(`outcome.${outcome}.do`) : "", quote: reason, isAtServices };
  const key = named ? `reason.${named}` : `outcome.${outcome}`;
  return { text: t.has(key) ? t(key) : "", todo: PASSING.includes(outcome) ? t("outcome.again") : t.has(`${key}.do`) ? t(`${key}.do`) : "", quote: "", isAtServices };
}
