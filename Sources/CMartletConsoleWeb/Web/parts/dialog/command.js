/** Shows a request of the console as commands for `martlet` and `curl` that do the same. Only `show` uses the DOM. */

import { address, methodOf } from "../../lib/api.js";
import { h } from "../../lib/dom.js";
import { copyable, openDialog } from "./dialog.js";

/** Requests that the hub's API answers too. For these, `curl` needs only a token of the hub, not the admin socket. */
const OF_HUB = ["status", "funnel", "failed", "failedOf", "resend", "trace", "pause", "resume", "cancel", "audience"];

/**
 * @param {View} view
 * @param {string | null} martlet
 * @param {CallName} name
 * @param {CallOptions} [options]
 */
export async function show(view, martlet, name, options) {
  view.t.add((await import(`./text.${view.language}.js`)).default);
  const line = curl(name, options, location.origin);
  const rows = [[view.t("command.martlet"), martlet], [view.t(line.includes("$TOKEN") ? "command.hub" : "command.socket"), line]];
  const dialog = openDialog(view.t("command"), [
    rows.filter(([, text]) => text).map(([caption, text]) => h("div.stack.tight", h("p.quiet", caption), copyable(view, String(text)))),
    h("div.actions", h("button", { click: () => dialog.close() }, view.t("close")))]);
}

/**
 * Returns the command line of `martlet` that sends the same message as a request.
 *
 * @param {string} hub
 * @param {Record<string, string>} fields The header fields of the request.
 * @param {Record<string, any>} body The message.
 */
export function sendLine(hub, fields, body) {
  const words = ["martlet send", quoted(hub), "--platform message"];
  const option = (/** @type {string} */ name, /** @type {string | undefined} */ value) => value && words.push(`--${name} ${quoted(value)}`);
  if (fields["martlet-everybody"]) words.push("--everybody");
  else option("tags", fields["servicebusnotification-tags"]);
  option("at", fields["servicebusnotification-scheduletime"]);
  option("rollout", fields["martlet-rollout"]);
  if (fields["martlet-confidential"]) words.push("--confidential");
  const names = Object.keys(body);
  if (names.length > 0 && names.every((name) => ["title", "text", "link", "picture"].includes(name))) names.forEach((name) => option(name, body[name]));
  else option("body", JSON.stringify(body));
  return words.join(" ");
}

/**
 * Returns the command line of `curl` that makes a request: to the hub's API if it has the route, otherwise to the admin
 * socket.
 *
 * @param {CallName} name
 * @param {CallOptions} [options]
 * @param {string} [origin]
 */
export function curl(name, options = {}, origin = "") {
  const method = methodOf(name);
  const path = address(name, options).replace("/console/api", "");
  const isOfHub = path.startsWith("/rest/") || OF_HUB.includes(name);
  const parts = ["curl"];
  if (!isOfHub) parts.push("--unix-socket admin.sock");
  if (method !== "GET") parts.push("-X", method);
  if (isOfHub) parts.push('-H "authorization: $TOKEN"');
  for (const [field, value] of Object.entries(options.fields ?? {})) {
    // Only the console needs this field. To the hub's API, a send without tags already means all devices.
    if (field !== "martlet-everybody") parts.push("-H", quoted(`${field}: ${value}`));
  }
  if (options.body !== undefined) parts.push("-H 'content-type: application/json' --data", quoted(JSON.stringify(options.body)));
  parts.push(quoted(isOfHub ? origin + path.replace(/^\/(rest|hubs)/, "") : `http://localhost${path}`));
  return parts.join(" ");
}

/** Quotes a word for a shell.
 * @param {string} word */
export function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}
