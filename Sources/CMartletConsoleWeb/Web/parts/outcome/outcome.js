/** What an outcome of a push means: in the reader's words, and where only the server knows the cause, in the server's. */

/** Outcomes that the hub itself decides too, for causes of which only its own sentence tells. */
const MIXED = ["BadChannel", "InvalidCredentials", "InvalidNotificationFormat"];

/** Whether only a recorded cause says what happened.
 * @param {string} outcome */
export const needsCause = (outcome) => MIXED.includes(outcome);

/** @param {View} view */
export async function loadOutcomes(view) {
  view.t.add((await import(`./text.${view.language}.js`)).default);
}

/**
 * What happened and what to do; `quote` is the cause in the server's words, which then says it all.
 *
 * @param {View["t"]} t
 * @param {string} outcome
 * @param {string} reason What the push service said, or a sentence of the hub, which ends with a full stop.
 * @returns {{text: string, todo: string, quote: string}}
 */
export function told(t, outcome, reason) {
  if (MIXED.includes(outcome) && / .*\.$/.test(reason)) return { text: t("outcome.own"), todo: "", quote: reason };
  return { text: t.has(`outcome.${outcome}`) ? t(`outcome.${outcome}`) : "", todo: t.has(`outcome.${outcome}.do`) ? t(`outcome.${outcome}.do`) : "", quote: "" };
}
