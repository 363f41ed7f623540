/** The scheduled sends of a month, as a table with a cell for each day. Arrow keys move the focus; Page Up and Page
 * Down change the month. */

import { h, icon, put } from "../../lib/dom.js";
import { wallClock } from "../../lib/zone.js";

const DAY = 86_400_000;
/** The number of days by which each arrow key moves the focus. */
const STEPS = /** @type {Record<string, number>} */ ({ ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 });
/** The maximum number of sends that are named in a cell. */
const SHOWN = 2;

// A day is represented by its noon in UTC, so that no change of clocks can move it to another day.
const dayOf = (/** @type {string} */ text) => new Date(`${text}T12:00:00Z`);
const textOf = (/** @type {Date} */ day) => day.toISOString().slice(0, 10);

/** @param {View} view @param {any[]} waiting @param {(list: any[]) => any} rows */
export function month(view, waiting, rows) {
  const { t, n, language, time } = view;
  const format = (/** @type {Intl.DateTimeFormatOptions} */ options) => new Intl.DateTimeFormat(language, { timeZone: "UTC", ...options });
  const names = { month: format({ month: "long", year: "numeric" }), short: format({ weekday: "short" }), long: format({ weekday: "long" }), day: format({ weekday: "long", day: "numeric", month: "long" }) };
  const locale = /** @type {any} */ (new Intl.Locale(language));
  const first = (locale.getWeekInfo?.() ?? locale.weekInfo)?.firstDay ?? (language === "de" ? 1 : 7);
  /** @type {Map<string, any[]>} */
  const days = new Map();
  for (const send of waiting) {
    const day = wallClock(new Date(send.dueAt), time.zone).slice(0, 10);
    days.set(day, [...(days.get(day) ?? []), send]);
  }
  const today = wallClock(new Date(), time.zone).slice(0, 10);
  let here = [...days.keys()][0] ?? today;
  const heading = h("h2", { id: "month", "aria-live": "polite" });
  const body = h("tbody");
  const list = h("section.stack.tight");
  const weekday = (/** @type {number} */ index) => new Date(dayOf("2026-11-22").getTime() + (first + index) * DAY);
  const table = h("table.month", { role: "grid", "aria-labelledby": "month", on: { keydown: press } },
    h("thead", h("tr", { role: "row" }, Array.from({ length: 7 }, (_, index) => h("th", { scope: "col", role: "columnheader", abbr: names.long.format(weekday(index)) }, names.short.format(weekday(index)))))), body);

  /** @param {string} day @param {boolean} [isFocused] */
  function show(day, isFocused = false) {
    here = day;
    const start = dayOf(`${day.slice(0, 7)}-01`);
    put(heading, names.month.format(start));
    const before = (start.getUTCDay() - first + 7) % 7;
    const begin = start.getTime() - before * DAY;
    const length = new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 0)).getUTCDate();
    put(body, Array.from({ length: Math.ceil((before + length) / 7) }, (_, week) => h("tr", { role: "row" }, Array.from({ length: 7 }, (__, index) => cell(textOf(new Date(begin + (week * 7 + index) * DAY)))))));
    const found = days.get(day) ?? [];
    put(list, h("h2", names.day.format(dayOf(day))), found.length > 0 ? rows(found) : h("p.quiet", t("month.none")));
    if (isFocused) body.querySelector("[tabindex='0']")?.focus();
  }

  /** @param {string} day */
  function cell(day) {
    const found = days.get(day) ?? [];
    const kind = `${day.slice(0, 7) === here.slice(0, 7) ? "" : "is-outside"} ${day === today ? "is-today" : ""}`;
    return h("td", { role: "gridcell", class: kind, tabindex: day === here ? "0" : "-1", "aria-selected": String(day === here), "aria-current": day === today ? "date" : null, "data-day": day,
      "aria-label": `${names.day.format(dayOf(day))}, ${t("month.count", { n: found.length })}`, click: () => show(day, true) },
    h("span.day.number", n.whole(Number(day.slice(8)))),
    found.slice(0, SHOWN).map((send) => h("span.entry", h("span.number", time.minute(send.dueAt)), " ", h("span", send.isConfidential ? t("confidential") : send.text ?? t("sendOf", { id: send.id.slice(-8) })))),
    found.length > SHOWN && h("span.entry.quiet", `+${n.whole(found.length - SHOWN)}`), found.length > 0 && h("span.count.number", n.whole(found.length)));
  }

  /** @param {number} months @param {boolean} [isFocused] */
  function turn(months, isFocused) {
    const [year = 0, number = 1, day = 1] = here.split("-").map(Number);
    const last = new Date(Date.UTC(year, number + months, 0)).getUTCDate();
    show(textOf(new Date(Date.UTC(year, number - 1 + months, Math.min(day, last), 12))), isFocused);
  }

  /** @param {KeyboardEvent} event */
  function press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const day = dayOf(here);
    const column = (day.getUTCDay() - first + 7) % 7;
    const step = STEPS[event.key] ?? (event.key === "Home" ? -column : event.key === "End" ? 6 - column : null);
    if (event.key === "PageUp" || event.key === "PageDown") turn(event.key === "PageUp" ? -1 : 1, true);
    else if (event.key === "Enter" || event.key === " ") list.querySelector("a, button")?.focus();
    else if (step !== null) show(textOf(new Date(day.getTime() + step * DAY)), true);
    else return;
    event.preventDefault();
  }

  show(here);
  return h("div.stack.loose", h("section.card.stack", h("div.row.between", heading, h("div.row",
    h("button", { "aria-label": t("month.before"), click: () => turn(-1) }, icon("left")), h("button", { click: () => show(today) }, t("month.today")),
    h("button", { "aria-label": t("month.after"), click: () => turn(1) }, icon("right")))), table), list);
}
