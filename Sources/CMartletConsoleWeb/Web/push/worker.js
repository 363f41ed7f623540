/** The service worker that shows the test notifications of "Notify this browser". Its scope, /console/push/,
 * contains no page, so it handles no requests of the console. */

const worker = /** @type {any} */ (self);

worker.addEventListener("install", () => worker.skipWaiting());
worker.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(worker.clients.claim()));
worker.addEventListener("push", (/** @type {any} */ event) => event.waitUntil(show(event.data)));
worker.addEventListener("notificationclick", (/** @type {any} */ event) => event.notification.close());

/** @param {any} data */
async function show(data) {
  const text = data ? data.text() : "";
  let message = /** @type {any} */ ({});
  try {
    message = JSON.parse(text) ?? {};
  } catch { /* A text that is no JSON is shown as it is. */ }
  const shown = message.notification ?? message;
  await worker.registration.showNotification(shown.title ?? "Martlet", { body: shown.body ?? shown.text ?? text });
  new BroadcastChannel("martlet-push").postMessage({ title: shown.title ?? "", text: shown.body ?? shown.text ?? text });
}
