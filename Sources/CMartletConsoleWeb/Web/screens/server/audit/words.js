/** Finds the texts for entries of the audit log. No DOM here. */

/** Returns the key of the text for an action: its method, and its path without the parts that many paths have in
 * common.
 * @param {string} action The action, such as `PUT /hubs/{hub}/limits`. */
export function word(action) {
  const [method = "", path] = action.split(" /");
  const short = path?.replace(/^(hubs|rest)\/\{hub\}\/?/, "").replace(/\/?\{[\w.]+\}/g, "").replace("messages/devices", "trace");
  const name = short === undefined ? action : `${method} ${short}`.trim();
  return `did.${name}`;
}

/** Returns whether the subject of an action is a notification.
 * @param {string} action */
export function isSend(action) {
  return /^(POST|PUT|GET) \/(rest|hubs)\/\{hub\}\/(messages|schedulednotifications|sends)(\/\{id\}(\/(pause|resume|cancel|deadletters\/resend))?)?$/.test(action);
}
