/**
 * Times in one zone: the reader's choice holds in lists, charts, forms and exports alike, and is always named.
 */

/**
 * @param {string} language
 * @param {string} zone A name of the IANA time zone database.
 */
export function times(language, zone) {
  /** @param {Intl.DateTimeFormatOptions} options */
  const format = (options) => new Intl.DateTimeFormat(language, { timeZone: zone, hourCycle: "h23", ...options });
  const clock = format({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
  const minute = format({ hour: "2-digit", minute: "2-digit" });
  const precise = format({ hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 });
  const day = format({ day: "numeric", month: "short" });
  const date = format({ day: "numeric", month: "short", year: "numeric" });
  const weekday = format({ weekday: "long", day: "numeric", month: "long" });
  const named = format({ hour: "2-digit", minute: "2-digit", timeZoneName: "short" });
  const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "long" });

  /** @param {string | number | Date} time */
  const at = (time) => new Date(time);
  /**
   * @param {Date} time
   * @param {Date} now
   */
  const isSameDay = (time, now) => date.format(time) === date.format(now);

  return {
    zone,
    /** @param {string | number | Date} time */
    clock: (time) => clock.format(at(time)),
    /** @param {string | number | Date} time */
    minute: (time) => minute.format(at(time)),
    /** @param {string | number | Date} time */
    precise: (time) => precise.format(at(time)),
    /** @param {string | number | Date} time */
    date: (time) => date.format(at(time)),
    /** @param {string | number | Date} time */
    weekday: (time) => weekday.format(at(time)),
    /** @param {string | number | Date} time */
    day: (time) => day.format(at(time)),
    /**
     * Day and time with the zone's short name.
     * @param {string | number | Date} time
     */
    full: (time) => `${date.format(at(time))}, ${named.format(at(time))}`,
    /**
     * The time alone today, the day and the time otherwise.
     * @param {string | number | Date} time
     * @param {Date} [now]
     */
    brief: (time, now = new Date()) =>
      isSameDay(at(time), now) ? minute.format(at(time)) : `${day.format(at(time))}, ${minute.format(at(time))}`,
    /**
     * How long ago or ahead, in the largest unit that fits.
     * @param {string | number | Date} time
     * @param {Date} [now]
     */
    relative: (time, now = new Date()) => {
      const [count, unit] = largestUnit((at(time).getTime() - now.getTime()) / 1000);
      return relative.format(count, unit);
    },
    /**
     * A duration in its two largest units.
     * @param {number} seconds
     */
    duration: (seconds) => duration(language, seconds),
    /** The zone's short name, such as CET. */
    name: (time = new Date()) =>
      named.formatToParts(time).find((part) => part.type === "timeZoneName")?.value ?? zone,
    /** @param {string} local What an input of type `datetime-local` holds. */
    instants: (local) => instants(local, zone),
    /** @param {string | number | Date} time */
    local: (time) => wallClock(at(time), zone),
  };
}

/** @typedef {ReturnType<typeof times>} Times */

/**
 * @param {number} seconds
 * @returns {[number, Intl.RelativeTimeFormatUnit]}
 */
export function largestUnit(seconds) {
  const size = Math.abs(seconds);
  if (size < 60) return [Math.round(seconds), "second"];
  if (size < 3600) return [Math.trunc(seconds / 60), "minute"];
  if (size < 86_400) return [Math.trunc(seconds / 3600), "hour"];
  return [Math.trunc(seconds / 86_400), "day"];
}

/**
 * @param {string} language
 * @param {number} seconds
 */
export function duration(language, seconds) {
  /**
   * @param {number} count
   * @param {string} unit
   */
  const part = (count, unit) =>
    new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "short", maximumFractionDigits: 0 }).format(count);
  if (seconds < 1) return part(Math.round(seconds * 1000), "millisecond");
  const whole = Math.round(seconds);
  const units = /** @type {[number, string][]} */ ([[86_400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]]);
  const first = units.findIndex(([size]) => whole >= size);
  const [size, unit] = units[first] ?? [1, "second"];
  const texts = [part(Math.floor(whole / size), unit)];
  const next = units[first + 1];
  const rest = next ? Math.floor((whole % size) / next[0]) : 0;
  if (next && rest > 0) texts.push(part(rest, next[1]));
  return texts.join(" ");
}

/**
 * What clocks in a zone show, as an input of type `datetime-local` writes it.
 *
 * @param {Date} time
 * @param {string} zone
 */
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
