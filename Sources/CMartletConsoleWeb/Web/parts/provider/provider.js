/** The way to the identity provider and back. */

import { call } from "../../lib/api.js";

/** Where a tab tells the others that the operator has been confirmed. */
export const channel = () => new BroadcastChannel("sign-in");

const PLACE = "sign-in";

/** Begins a sign-in; resolves to the provider's address.
 * @param {boolean} fresh Whether the provider must ask who it is, for a screen that waits in another tab.
 * @returns {Promise<string>} */
export async function begin(fresh) {
  const { location: address } = await call("beginProvider", { body: { fresh } });
  localStorage.setItem(PLACE, JSON.stringify({ fresh, to: location.pathname + location.search }));
  return address;
}

/** What the sign-in was for; it is told once.
 * @returns {{fresh: boolean, to: string}} */
export function purpose() {
  const text = localStorage.getItem(PLACE);
  localStorage.removeItem(PLACE);
  const { fresh = false, to = "" } = JSON.parse(text ?? "{}");
  return { fresh, to: to.startsWith("/console/") && !to.startsWith("/console/enter") ? to : "/console/" };
}
