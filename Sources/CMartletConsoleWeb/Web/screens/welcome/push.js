/** Rules for pushes to this browser and to the simulated phone. No DOM here. */

/**
 * Returns why a push of the hub cannot reach a subscription, as the end of a text's key; null if it can.
 *
 * @param {string} endpoint The address of the subscription.
 * @param {string | undefined} simulator The origin of the simulated Web Push service; undefined if no simulator runs.
 * @param {boolean} isSimulated Whether the hub's Web Push goes to the simulator.
 */
export function mismatch(endpoint, simulator, isSimulated) {
  if (!simulator) return null;
  const isOfSimulator = new URL(endpoint).origin === new URL(simulator).origin;
  if (isOfSimulator === isSimulated) return null;
  return isSimulated ? "elsewhere" : "ownKey";
}

/** Returns the text of a notification, without the title that a simulated device puts before it.
 * @param {string | null | undefined} line @param {string} title */
export function shown(line, title) {
  return (line ?? "").startsWith(`${title}: `) ? (line ?? "").slice(title.length + 2) : line ?? "";
}
