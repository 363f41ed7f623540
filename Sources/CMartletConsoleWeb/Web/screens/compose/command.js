/** Shows a draft as commands that send the same message at the same time. */

import { sendLine, show } from "../../parts/dialog/command.js";
import { fields, message } from "./message.js";

/** @param {import("./compose.js").Compose} compose */
export function showDraft(compose) {
  const { draft, hub, view } = compose;
  // A `curl` command without tags would send to all devices.
  if (!compose.hasAudience) return view.toast(view.t("count.nobody"));
  const isLater = draft.when === "at";
  const sent = { ...fields(draft, view), ...(isLater ? { "servicebusnotification-scheduletime": compose.dueAt().toISOString() } : {}) };
  const body = message(draft);
  return show(view, sendLine(hub, sent, body), isLater ? "schedule" : "post", { path: { hub }, query: { "api-version": "2020-06" }, fields: sent, body });
}
