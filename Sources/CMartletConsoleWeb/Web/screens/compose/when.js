/** The fields for the time of a send that goes out later. */

import { freshId, h, put } from "../../lib/dom.js";
import { instants, wallClock } from "../../lib/zone.js";

/** @param {import("./compose.js").Compose} compose */
export function timeFields(compose) {
  const { draft } = compose;
  const { t, time } = compose.view;
  const note = h("div.stack.tight", { role: "status" });
  const soonest = wallClock(new Date(), time.zone);
  const input = h("input", { type: "datetime-local", "aria-label": t("when.time"), value: draft.at || wallClock(new Date(Date.now() + 3_600_000), time.zone), min: soonest, on: { input: () => update() } });
  const isUTC = /^(UTC|GMT|Etc\/.*)$/.test(time.zone);
  const utc = (/** @type {Date} */ at) => `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;
  compose.dueAt = () => {
    const found = instants(draft.at, time.zone);
    return found[Math.min(draft.which, found.length - 1)] ?? new Date();
  };
  const update = () => {
    draft.at = input.value;
    const found = instants(input.value, time.zone);
    const [first] = found;
    if (!first) put(note, h("p.bad.small", t("when.none")));
    else if (compose.dueAt() <= new Date()) put(note, h("p.bad.small", t("when.past")));
    else if (found.length === 1) put(note, h("p.quiet.small.number", isUTC ? time.full(first) : t("when.both", { local: time.full(first), utc: utc(first) })));
    else {
      const name = freshId();
      put(note, h("p.small", t("when.twice")), found.map((one, index) => h("label.choice",
        h("input", { type: "radio", name, checked: draft.which === index, on: { change: () => { draft.which = index; compose.changed(); } } }), utc(one))));
    }
  };
  update();
  return [h("div.row", h("div.when-field", input), h("span.quiet.small", time.name())), note];
}
