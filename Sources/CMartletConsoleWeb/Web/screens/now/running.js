/** A send in progress, in a list. */

import { call } from "../../lib/api.js";
import { h, put, say } from "../../lib/dom.js";
import { sendState, stateBadge, to } from "../../lib/screen.js";

/** Returns a list row for a send. The row is updated every second instead of being replaced, so that it keeps the
 * focus.
 * @param {View} view @param {any} send */
export function runningRow(view, send) {
  const { t, n } = view;
  const name = h("span.clip.strong", t("sendOf", { id: send.id.slice(-8) }));
  const badge = h("span");
  const bar = h("progress", { max: 1, "aria-label": t("progress") });
  const count = h("span.quiet.number.small");
  const path = { hub: send.hub, id: send.id };
  const held = h("div", { hidden: true });
  call("send", { path }).then((found) => found.text && say(name, found.text), () => {});
  /** @param {any} now */
  function update(now) {
    const over = now.succeeded + now.failed;
    const state = sendState(now);
    if (badge.dataset.state !== state) {
      badge.dataset.state = state;
      put(badge, stateBadge(t, now));
      held.hidden = state !== "holding";
      if (!held.hidden) showHeld(now).catch(() => {});
    }
    if (now.targeted) bar.value = over / now.targeted;
    else bar.removeAttribute("value");
    say(count, now.targeted ? t("outOf", { done: n.whole(over), n: now.targeted }) : n.whole(over));
  }
  /** @param {any} now */
  async function showHeld(now) {
    const { heldLine, loadHeld } = await import("../../parts/held/held.js");
    await loadHeld(view);
    put(held, heldLine(view, path, now, () => {}));
  }
  return { node: h("li", h("a.running", { href: to.send(send.hub, send.id) }, name, badge, bar, count), held), update };
}
