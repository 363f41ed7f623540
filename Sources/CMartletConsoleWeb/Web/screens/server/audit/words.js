/** How entries of the audit log are told. No DOM here. */

/** The key of the words for an action: its method, and its path without what is the same in many.
 * @param {string} action Such as `PUT /hubs/{hub}/limits`. */
export function word(action) {
  const [method = "", path] = action.split(" /");
  const short = path?.replace(/^(hubs|rest)\/\{hub\}\/?/, "").replace(/\/?\{[\w.]+\}/g, "").replace("messages/devices", "trace");
  const name = short === undefined ? action : `${method} ${short}`.trim();
  return `did.${name}`;
}

/** Whether the subject of an action is a notification.
 * @param {string} action */
export function isSend(action) {
  return /^(POST|PUT|GET) \/(rest|hubs)\/\{hub\}\/(messages|schedulednotifications|sends)(\/\{id\}(\/(pause|resume|cancel|deadletters\/resend))?)?$/.test(action);
}
