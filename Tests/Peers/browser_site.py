"""A web app with a page that subscribes and a service worker that shows what comes and reports it here."""

import json
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Push page</title><h1>Push page</h1>
<script>
const bytes = text => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), c => c.charCodeAt(0));
const ready = () => navigator.serviceWorker.ready;
window.subscribe = async key => {
  await navigator.serviceWorker.register('/worker.js');
  const permission = await Notification.requestPermission();
  const subscription = await (await ready()).pushManager.subscribe(
    {userVisibleOnly: true, applicationServerKey: bytes(key)});
  return {permission, ...subscription.toJSON()};
};
window.subscription = async () => (await ready()).pushManager.getSubscription();
window.shown = async () => (await (await ready()).getNotifications()).map(n => ({
  title: n.title, body: n.body, actions: (n.actions || []).map(action => action.title), data: n.data}));
</script></html>
"""
WORKER = """
self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', event => event.waitUntil(self.clients.claim()));
const report = what => fetch('/report', {method: 'POST', body: JSON.stringify(what)});
const rich = async message => {
  const answer = await fetch('/api/notifications/' + message.richId);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await answer.arrayBuffer()));
  const sha256 = Array.from(digest, byte => byte.toString(16).padStart(2, '0')).join('');
  return {title: message.richMessage, status: answer.status, type: answer.headers.get('content-type'), sha256};
};
const receive = async data => {
  const text = data ? data.text() : null;
  let message = {};
  try { message = JSON.parse(text) || {}; } catch (_) {}
  if (message.silent) return report({event: 'push', text, shown: []});
  if (message.richType) Object.assign(message, await rich(message));
  else if (message.richId) Object.assign(message, await (await fetch('/rich/' + message.richId)).json());
  // A message for all platforms is shown as it is: its members are the options.
  const options = message.notificationId && message.data ? message
    : {body: message.body || text || '', tag: message.tag || '', data: message};
  await self.registration.showNotification(message.title || 'no title', options);
  const shown = (await self.registration.getNotifications()).map(notification => notification.title);
  await report({event: 'push', text, shown});
};
self.addEventListener('push', event => event.waitUntil(
  receive(event.data).catch(error => report({event: 'error', text: String(error)}))));
self.addEventListener('notificationclick', event => event.waitUntil(
  report({event: 'click', title: event.notification.title})));
self.addEventListener('pushsubscriptionchange', event => event.waitUntil(report({event: 'change'})));
"""


class Site:
    """Serves until it is closed; `reports` is what its worker said, oldest first."""

    def __init__(self):
        site, self.reports = self, []
        # The app backend and what its user shows there; whoever uses the page is that user.
        self.backend = self.authorization = None

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                if self.path == "/":
                    self._answer(200, "text/html; charset=utf-8", PAGE)
                elif self.path == "/worker.js":
                    self._answer(200, "text/javascript", WORKER)
                elif self.path.startswith("/rich/"):
                    content = {"title": f"Rich {self.path.rpartition('/')[2]}", "fetched": True}
                    self._answer(200, "application/json", json.dumps(content))
                elif site.backend and self.path.startswith("/api/"):
                    self._pass_on()
                else:
                    self._answer(404, "text/plain", "")

            def _pass_on(self):
                asked = urllib.request.Request(site.backend + self.path, headers={"Authorization": site.authorization})
                try:
                    answer = urllib.request.urlopen(asked, timeout=30)
                except urllib.error.HTTPError as refusal:
                    answer = refusal
                with answer:
                    self._answer(answer.status, answer.headers["Content-Type"], answer.read())

            def do_POST(self):
                site.reports.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self._answer(200, "text/plain", "")

            def _answer(self, status, kind, content):
                body = content.encode() if isinstance(content, str) else content
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Cache-Control", "no-store")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.origin = f"http://localhost:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def heard(self, event="push"):
        return [report for report in list(self.reports) if report["event"] == event]

    def close(self):
        self._server.shutdown()
        self._server.server_close()
