/** Decisions about pushes to this browser and to the simulated phone. No DOM here. */

/**
 * Why a push of the hub cannot arrive at a subscription, as the end of a text's key; null where it can.
 *
 * @param {string} endpoint The address of the subscription.
 * @param {string | undefined} simulator The origin of the simulated Web Push, where a simulator runs.
 * @param {boolean} isSimulated Whether the hub's Web Push goes to the simulator.
 */
export function mismatch(endpoint, simulator, isSimulated) {
  if (!simulator) return null;
  const isOfSimulator = new URL(endpoint).origin === new URL(simulator).origin;
  if (isOfSimulator === isSimulated) return null;
  return isSimulated ? "elsewhere" : "ownKey";
}

/** The text of a notification that a simulated device tells with its title before it.
 * @param {string | null | undefined} line @param {string} title */
export function shown(line, title) {
  return (line ?? "").startsWith(`${title}: `) ? (line ?? "").slice(title.length + 2) : line ?? "";
}
