/** Times as clocks in a zone show them, for forms: some come twice, some never. */

/** What clocks in a zone show, as an input of type `datetime-local` writes it.
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
 * The instants at which clocks in a zone show a time: none where a change of clocks skips it, two where it comes twice.
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
  // Clocks differ from UTC by at most 14 hours, by multiples of 15 minutes.
  for (let offset = -14 * 4; offset <= 14 * 4; offset += 1) {
    const candidate = new Date(asUTC - offset * 900_000);
    if (wallClock(candidate, zone) === local.slice(0, 16)) found.push(candidate);
  }
  return found.sort((one, other) => one.getTime() - other.getTime());
}
