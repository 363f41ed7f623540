/// The content of the browser's site: a page that subscribes by itself, and a worker that shows the notifications that
/// it receives.
enum BrowserPage {
    static let html = """
        <!DOCTYPE html>
        <html lang="en">
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width">
        <title>Martlet</title>
        <style>
        body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem; }
        li { overflow-wrap: anywhere; }
        </style>
        <h1>Notifications from your hub</h1>
        <p id="state" role="status">Subscribing …</p>
        <ol id="shown" reversed></ol>
        <script src="/page.js"></script>
        </html>

        """

    static let script = """
        const state = document.getElementById('state');
        const bytes = text => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), c => c.charCodeAt(0));
        navigator.serviceWorker.addEventListener('message', event => {
          const item = document.createElement('li');
          item.textContent = event.data;
          document.getElementById('shown').prepend(item);
        });
        // A browser that has only just started may not answer.
        const answered = promise => Promise.race(
          [promise, new Promise((_, reject) => setTimeout(() => reject('The browser gives no answer.'), 3000))]);
        const subscribed = async (manager, options) => {
          for (let attempt = 1; ; attempt++) {
            try {
              return await answered(manager.subscribe(options));
            } catch (error) {
              // An existing subscription for another key would prevent a new one.
              await (await answered(manager.getSubscription()))?.unsubscribe();
              if (attempt === 5) throw error;
            }
          }
        };
        const subscribe = async () => {
          await navigator.serviceWorker.register('/worker.js');
          const worker = await navigator.serviceWorker.ready;
          if (await Notification.requestPermission() !== 'granted') throw 'Notifications are not allowed for this page.';
          const applicationServerKey = bytes(await (await fetch('/key')).text());
          const options = {userVisibleOnly: true, applicationServerKey};
          const subscription = await subscribed(worker.pushManager, options);
          const answer = await fetch('/subscription', {method: 'POST', body: JSON.stringify(subscription)});
          if (!answer.ok) throw await answer.text();
          return 'Registered. Send something: it is shown even when this page is closed.';
        };
        subscribe().catch(error => {
          fetch('/trouble', {method: 'POST', body: String(error)});
          return `Not registered: ${error}`;
        }).then(text => { state.textContent = text; });

        """

    static let worker = """
        self.addEventListener('install', () => self.skipWaiting());
        self.addEventListener('activate', event => event.waitUntil(self.clients.claim()));
        const post = (path, body) => fetch(path, {method: 'POST', body});
        const show = async data => {
          const text = data ? data.text() : '';
          let message = {title: text};
          try { message = Object(JSON.parse(text)); } catch (_) {}
          const title = String(message.title || message.body || text || 'A message without content');
          const body = message.title ? String(message.body || '') : '';
          const {image, actions, silent} = message;
          await self.registration.showNotification(
            title, {body, image, actions, silent: silent === true, tag: message.tag || '', data: message});
          const line = [title, body].filter(Boolean).join(': ');
          for (const page of await self.clients.matchAll({includeUncontrolled: true})) page.postMessage(line);
          await post('/shown', line);
        };
        self.addEventListener('push', event => event.waitUntil(show(event.data)));
        self.addEventListener('notificationclick', event => {
          event.notification.close();
          const data = Object(Object(event.notification.data).data);
          const link = String(Object(data.links)[event.action] || data.link || '');
          event.waitUntil(self.clients.openWindow(/^https?:/.test(link) ? link : '/'));
        });
        const subscribe = async () => {
          const text = (await (await fetch('/key')).text()).replace(/-/g, '+').replace(/_/g, '/');
          const applicationServerKey = Uint8Array.from(atob(text), c => c.charCodeAt(0));
          const options = {userVisibleOnly: true, applicationServerKey};
          const subscription = await self.registration.pushManager.subscribe(options);
          await post('/subscription', JSON.stringify(subscription));
        };
        self.addEventListener('pushsubscriptionchange', event => event.waitUntil(subscribe()));

        """
}
