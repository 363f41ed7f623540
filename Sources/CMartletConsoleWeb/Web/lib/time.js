/** Formats times. All pages use one time zone, which the operator chooses. */

/** @typedef {string | number | Date} Time */

/** @param {string} language @param {string} zone A name of the IANA time zone database. */
export function times(language, zone) {
  /** Returns a formatter that is created when it is first used.
   * @param {Intl.DateTimeFormatOptions} options */
  const format = (options) => {
    /** @type {Intl.DateTimeFormat | undefined} */
    let made;
    const get = () => (made ??= new Intl.DateTimeFormat(language, { timeZone: zone, hourCycle: "h23", ...options }));
    return { format: (/** @type {Date} */ time) => get().format(time), formatToParts: (/** @type {Date} */ time) => get().formatToParts(time) };
  };
  const clock = format({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
  const minute = format({ hour: "2-digit", minute: "2-digit" });
  const precise = format({ hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 });
  const day = format({ day: "numeric", month: "short" });
  const date = format({ day: "numeric", month: "short", year: "numeric" });
  const weekday = format({ weekday: "long", day: "numeric", month: "long" });
  const named = format({ hour: "2-digit", minute: "2-digit", timeZoneName: "short" });

  /** @param {Date} time */
  const dayOf = (time) => Date.parse(new Intl.DateTimeFormat("sv", { timeZone: zone }).format(time));
  /** @param {Time} time */
  const at = (time) => new Date(time);
  /** @param {Date} time @param {Date} now */
  const isSameDay = (time, now) => date.format(time) === date.format(now);

  return {
    zone,
    /** @param {Time} time */
    clock: (time) => clock.format(at(time)),
    /** @param {Time} time */
    minute: (time) => minute.format(at(time)),
    /** @param {Time} time */
    precise: (time) => precise.format(at(time)),
    /** @param {Time} time */
    date: (time) => date.format(at(time)),
    /** @param {Time} time */
    weekday: (time) => weekday.format(at(time)),
    /** @param {Time} time */
    day: (time) => day.format(at(time)),
    /** Formats the day and the time, with the zone's short name.
     * @param {Time} time */
    full: (time) => `${date.format(at(time))}, ${named.format(at(time))}`,
    /** Formats only the time for a time today, otherwise the day and the time.
     * @param {Time} time @param {Date} [now] */
    brief: (time, now = new Date()) =>
      isSameDay(at(time), now) ? minute.format(at(time)) : `${day.format(at(time))}, ${minute.format(at(time))}`,
    /** Formats how far a time is in the past or the future, in the largest unit that fits. Days are counted by the
     * calendar.
     * @param {Time} time @param {Date} [now] */
    relative: (time, now = new Date()) => {
      let [count, unit] = largestUnit((+at(time) - +now) / 1000);
      if (unit === "day") count = Math.round((dayOf(at(time)) - dayOf(now)) / 86_400_000);
      return new Intl.RelativeTimeFormat(language, { numeric: "auto" }).format(count, unit);
    },
    /** Formats a duration in its two largest units.
     * @param {number} seconds */
    duration: (seconds) => duration(language, seconds),
    /** The zone's short name, such as CET. */
    name: (time = new Date()) =>
      named.formatToParts(time).find((part) => part.type === "timeZoneName")?.value ?? zone,
  };
}

/** @typedef {ReturnType<typeof times>} Times */

/** Returns a duration as a number of the largest unit that fits, rounded to a whole number.
 * @param {number} seconds @returns {[number, Intl.RelativeTimeFormatUnit]} */
export function largestUnit(seconds) {
  const units = /** @type {[number, number, Intl.RelativeTimeFormatUnit][]} */ ([[1, 60, "second"], [60, 60, "minute"], [3600, 24, "hour"], [86_400, Infinity, "day"]]);
  const [size, , unit] = units.find(([size, limit]) => Math.round(Math.abs(seconds) / size) < limit) ?? [1, 0, "second"];
  return [Math.round(Math.abs(seconds) / size) * Math.sign(seconds), unit];
}

/** @param {string} language @param {number} seconds */
export function duration(language, seconds) {
  /** @param {number} count @param {string} unit */
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
