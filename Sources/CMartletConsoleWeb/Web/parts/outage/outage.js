/** Sentences about a push service to which no push gets through: its answer, the waiting pushes, and advice. */

import { serviceName } from "../../lib/screen.js";

/**
 * Returns sentences about a failing push service, the most important first.
 *
 * @param {View} view
 * @param {string} platform
 * @param {any} failure From an alert or from a hub's services: `origin`, `status`, `reason` and `since`.
 * @param {any} waiting The pushes that wait for another attempt; null if none wait.
 * @returns {Promise<string[]>}
 */
export async function outage(view, platform, failure, waiting) {
  const { t, n, time } = view;
  t.add((await import(`./text.${view.language}.js`)).default);
  const count = waiting?.waiting ?? waiting?.pushes ?? 0;
  const values = {
    service: serviceName(platform), status: failure.status, time: time.brief(failure.since),
    n: waiting?.notifications ?? 0, count: `${n.whole(count)}${waiting?.isPartial ? "+" : ""}`,
  };
  const host = failure.origin.replace(/^https?:\/\//, "");
  return [
    t(failure.status ? "failing.answers" : "failing.silent", values),
    [failure.origins > 1 ? t("failing.origins", { host, n: failure.origins - 1 }) : host, failure.reason].filter(Boolean).join(" · "),
    count > 0 ? `${t("failing.waiting", values)} ${t("failing.retries", { next: time.clock(waiting.nextAt), last: time.brief(waiting.expiresAt) })}` : t("failing.none"),
    t(`failing.todo.${advice(failure.status)}`, values),
  ];
}

/** @param {number | null} status */
export function advice(status) {
  if (!status) return "network";
  if (status === 429) return "rate";
  return status < 500 ? "refused" : "service";
}
