/** Begins sign-ins at the identity provider, and remembers what each was for. */

import { call } from "../../lib/api.js";

/** The channel on which the tab of a sign-in tells the other tabs that the operator has been confirmed. */
export const channel = () => new BroadcastChannel("sign-in");

const PLACE = "sign-in";

/** Begins a sign-in. Resolves to the address at the provider to which the browser must go.
 * @param {boolean} fresh Whether the provider must authenticate the person again, for a screen that waits in another
 *   tab.
 * @returns {Promise<string>} */
export async function begin(fresh) {
  const { location: address } = await call("beginProvider", { body: { fresh } });
  localStorage.setItem(PLACE, JSON.stringify({ fresh, to: location.pathname + location.search }));
  return address;
}

/** Returns what the last sign-in of this browser was for, and forgets it: the value of `fresh`, and the address to
 * return to.
 * @returns {{fresh: boolean, to: string}} */
export function purpose() {
  const text = localStorage.getItem(PLACE);
  localStorage.removeItem(PLACE);
  const { fresh = false, to = "" } = JSON.parse(text ?? "{}");
  return { fresh, to: to.startsWith("/console/") && !to.startsWith("/console/enter") ? to : "/console/" };
}
