/** Converts local times of a time zone for form fields. When clocks change, some local times occur twice and some
 * never. */

/** Returns the local time of a zone, in the format of an input of type `datetime-local`.
 * @param {Date} time @param {string} zone */
export function wallClock(time, zone) {
  const parts = new Intl.DateTimeFormat("en", {
    timeZone: zone, hourCycle: "h23", year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit",
    minute: "2-digit",
  }).formatToParts(time);
  /** @param {string} type */
  const part = (type) => parts.find((one) => one.type === type)?.value ?? "";
  return `${part("year").padStart(4, "0")}-${part("month")}-${part("day")}T${part("hour")}:${part("minute")}`;
}

/**
 * Returns the instants that have a local time in a zone: none if a change of clocks skips the local time, two if it
 * occurs twice.
 *
 * @param {string} local
 * @param {string} zone
 * @returns {Date[]}
 */
export function instants(local, zone) {
  const asUTC = Date.parse(`${local.slice(0, 16)}:00Z`);
  if (Number.isNaN(asUTC)) return [];
  /** @type {Date[]} */
  const found = [];
  // Local time differs from UTC by at most 14 hours, in multiples of 15 minutes.
  for (let offset = -14 * 4; offset <= 14 * 4; offset += 1) {
    const candidate = new Date(asUTC - offset * 900_000);
    if (wallClock(candidate, zone) === local.slice(0, 16)) found.push(candidate);
  }
  return found.sort((one, other) => one.getTime() - other.getTime());
}
