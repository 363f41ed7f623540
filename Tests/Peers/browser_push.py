"""A real Firefox with Martlet as its push service: a hub encrypts and sends, the simulator keeps and delivers, Firefox
decrypts, and the service worker of a page shows. Twenty-five checks by number, pywebpush as the sender beside them, a rich
push of the app backend, and `martlet browser` at the end.

    browser_push.py MARTLET
"""

import asyncio
import base64
import hashlib
import json
import os
import re
import ssl
import sys
import tempfile
import time

import httpx
import pywebpush
import requests
from py_vapid import Vapid

import firefox
import hub_client
import processes
from browser_site import Site
from checks import Checks

NAME = "browser-push"
HUB, RULE = "demo", "DefaultFullSharedAccessSignature"
USER, PASSWORD = "alice", "wonderland"
PATIENCE = 40
DELIVERED, UNDECRYPTED, UNDELIVERED = 100, 101, 102
# One transparent pixel.
PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==")


async def until(what, condition, timeout=PATIENCE):
    """The first true value of the condition."""
    deadline = time.monotonic() + timeout
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"waited for {what}")
        await asyncio.sleep(0.02)
    return found


def expect(found, wanted):
    assert found == wanted, f"{found!r} is not {wanted!r}"


class Service:
    """The simulator's control interface."""

    def __init__(self, ready, ca):
        origin = re.search(r" simulator=(\S+)", ready)[1]
        self.ca, self.control = ca, origin
        self._client = httpx.Client(base_url=origin, verify=ssl.create_default_context(cafile=ca), timeout=30)
        description = self._call("GET", "services")["browser"]
        self.origin, self.sockets = description["origin"], description["sockets"]
        self.public_key = description["credential"]["VapidPublicKey"]
        self.private_key = description["credential"]["VapidPrivateKey"]

    def _call(self, method, path, body=None):
        answer = self._client.request(method, f"/simulator/{path}", json=body)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def browsers(self):
        return self._call("GET", "sockets")["browser"]

    def browser(self):
        """The one that has subscriptions, else the newest."""
        browsers = self.browsers()
        return next((browser for browser in browsers if browser["channels"]), browsers[-1])

    def is_connected(self):
        return any(browser["isConnected"] for browser in self.browsers())

    def waiting(self):
        return [version for browser in self.browsers() for version in browser["waiting"]]

    def acknowledged(self):
        return [update["code"] for browser in self.browsers() for update in browser["acknowledged"]]

    def counter(self, name):
        return self._call("GET", "counters")["browser"].get(name, 0)

    def cut(self, code=1001):
        self._call("POST", "sockets/close", {"platform": "browser", "code": code})

    def say(self, **message):
        self._call("POST", "sockets/send", {"platform": "browser", "message": message})

    def forget(self):
        self._call("POST", "reset")


class Hub:
    def __init__(self, server, key):
        self._connection = hub_client.Connection(server.port, timeout=PATIENCE)
        self._headers = {"Authorization": hub_client.signature(hub_client.hub_resource(HUB, server.port), RULE, key)}

    async def _call(self, method, path, headers=None, body=b""):
        return await self._connection.request(
            method, f"/{HUB}/{path}?{hub_client.API_VERSION}", self._headers | (headers or {}), body)

    async def register(self, subscription):
        """Says where `firefox` is from now on."""
        channel = {"endpoint": subscription["endpoint"]} | subscription["keys"]
        body = {"installationId": "firefox", "platform": "browser", "pushChannel": channel, "tags": ["firefox"]}
        status, _, content = await self._call(
            "PUT", "installations/firefox", {"Content-Type": "application/json"}, json.dumps(body).encode())
        assert status == 200, content

    async def post(self, text, tag="firefox", **headers):
        """The status, and the message's id."""
        fields = {
            "Content-Type": "application/json", "ServiceBusNotification-Format": "browser",
            "ServiceBusNotification-Tags": tag} | headers
        status, answered, _ = await self._call("POST", "messages", fields, text.encode())
        return status, answered.get("location", "").rpartition("/messages/")[2].partition("?")[0]

    async def send(self, message, **headers):
        """Sends text, or an object as JSON; the message's id."""
        text = message if isinstance(message, str) else json.dumps(message)
        status, identifier = await self.post(text, **headers)
        expect(status, 201)
        return identifier

    async def outcome(self, identifier):
        """What became of a message to one device."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            _, _, content = await self._call("GET", f"messages/{identifier}")
            if b"<State>Completed</State>" in content:
                return re.search(rb"<Name>(\w+)</Name><Count>1</Count>", content)[1].decode()
            await asyncio.sleep(0.02)
        raise AssertionError("waited for the end of a delivery")

    async def deliver(self, message, **headers):
        """Sends, and waits until the push service has taken the message."""
        expect(await self.outcome(await self.send(message, **headers)), "Success")


class Backend:
    """The app backend, as one user."""

    def __init__(self, server):
        self.origin = f"http://127.0.0.1:{server.port}"
        self.authorization = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        self._client = httpx.Client(
            base_url=self.origin, headers={"Authorization": self.authorization}, timeout=PATIENCE, trust_env=False)

    def register(self, subscription):
        """Registers the browser for the user; the registration's id."""
        identifier = self._client.post("/api/register").json()
        handle = json.dumps({"endpoint": subscription["endpoint"], "keys": subscription["keys"]})
        answer = self._client.put(f"/api/register/{identifier}", json={"Platform": "browser", "Handle": handle})
        expect(answer.status_code, 200)
        return identifier

    def unregister(self, identifier):
        expect(self._client.delete(f"/api/register/{identifier}").status_code, 200)

    def send(self, message, content):
        """Sends a picture to the user's own devices; its id."""
        answer = self._client.post(
            "/api/notifications/rich", data={"to": USER, "message": message, "type": "img"},
            files={"file": ("picture.png", content, "image/png")})
        expect(answer.status_code, 201)
        return answer.json()["id"]


class Stranger:
    """pywebpush in place of the hub, with the hub's key."""

    def __init__(self, service):
        self._session = requests.Session()
        # A bundle that the environment names would come before this one.
        self._session.trust_env = False
        self._session.verify = service.ca
        self._key = Vapid.from_raw(service.private_key.encode())

    def send(self, subscription, text, *, key=None, claims=None):
        claims = {"sub": "mailto:push@example.com"} | (claims or {})
        subscription = {name: subscription[name] for name in ("endpoint", "keys")}
        try:
            return pywebpush.webpush(
                subscription, text, vapid_private_key=key or self._key, vapid_claims=claims, ttl=60,
                requests_session=self._session).status_code
        except pywebpush.WebPushException as refusal:
            if refusal.response is None:
                raise
            return refusal.response.status_code

    def post(self, address, body, headers):
        return self._session.post(address, data=body, headers=headers).status_code


def other_key():
    key = Vapid()
    key.generate_keys()
    return key


def some_keys():
    """Keys of a subscription that Firefox has not."""
    point = other_key().public_key.public_numbers()
    point = b"\4" + point.x.to_bytes(32) + point.y.to_bytes(32)
    encode = lambda data: base64.urlsafe_b64encode(data).decode().rstrip("=")
    return {"p256dh": encode(point), "auth": encode(os.urandom(16))}


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Course:
    """The checks, in an order in which each starts from where the last one left Firefox."""

    def __init__(self, service, hub, backend, site, directory):
        self.service, self.hub, self.backend, self.directory = service, hub, backend, directory
        self.site = site
        self.stranger = Stranger(service)
        self.subscription = self.firefox = None

    def start(self):
        preferences = {
            "dom.push.serverURL": self.service.sockets, "dom.push.testing.allowInsecureServerURL": True,
            "dom.push.connection.enabled": True, "permissions.default.desktop-notification": 1,
            "alerts.useSystemBackend": False, "dom.push.retryBaseInterval": 200}
        self.firefox = firefox.Firefox(
            os.path.join(self.directory, "profile"), preferences, os.path.join(self.directory, "firefox.log"))

    async def subscribe(self):
        # A browser that has only just started may never answer.
        await until("Firefox's hello", self.service.is_connected)
        self.firefox.goto(self.site.origin + "/")
        self.subscription = self.firefox.run("return window.subscribe(arguments[0])", self.service.public_key)
        await self.hub.register(self.subscription)
        return self.subscription

    async def heard(self, count, event="push"):
        """Waits until the worker has reported so often; the newest report."""
        return (await until(f"{event} number {count}", lambda: self.heard_now(event)[count - 1:]))[-1]

    def heard_now(self, event="push"):
        return self.site.heard(event)

    async def arrives(self, sent, title=None):
        """Awaits a send, and the worker's report of it."""
        count = len(self.heard_now())
        await sent
        report = await self.heard(count + 1)
        if title:
            expect(json.loads(report["text"])["title"], title)
        return report

    async def is_acknowledged(self, since, *codes):
        """Waits for so many acknowledgements more, and compares."""
        await until("an acknowledgement", lambda: len(self.service.acknowledged()) >= since + len(codes))
        expect(self.service.acknowledged()[since:], list(codes))

    async def all_acknowledged(self):
        await until("the last acknowledgement", lambda: not self.service.waiting())

    async def is_away(self):
        await until("the connection to end", lambda: not self.service.is_connected())

    def stay_away(self, away):
        self.firefox.set("dom.push.connection.enabled", not away)

    async def refuses_stranger(self, status):
        await until(f"{status} on the endpoint", lambda: self.stranger.send(self.subscription, "x") == status)

    # The twenty-five

    async def subscribes_with_a_vapid_key(self):
        found = await self.subscribe()
        expect(found["permission"], "granted")
        assert found["endpoint"].startswith(self.service.origin + "/wpush/"), found
        expect((len(decode(found["keys"]["p256dh"])), len(decode(found["keys"]["auth"]))), (65, 16))

    async def decrypts_and_shows_what_the_hub_sends(self):
        title = "Grüße \U0001f426"
        report = await self.arrives(self.hub.deliver({"title": title, "body": "1"}), title)
        assert title in report["shown"], report

    async def acknowledges_with_100_and_nothing_waits(self):
        await until("an acknowledgement", lambda: DELIVERED in self.service.acknowledged())
        expect(self.service.waiting(), [])

    async def fetches_the_content_of_an_id(self):
        await self.arrives(self.hub.deliver({"richId": "42"}))
        shown = self.firefox.run("return window.shown()")
        assert any(one["title"] == "Rich 42" and one["data"]["fetched"] for one in shown), shown

    async def shows_a_rich_push_of_the_backend(self):
        content = base64.b64decode(PICTURE) + os.urandom(200_000)
        self.site.backend, self.site.authorization = self.backend.origin, self.backend.authorization
        registration, count = self.backend.register(self.subscription), len(self.heard_now())
        identifier = self.backend.send("Look at this", content)
        report = await self.heard(count + 1)
        expect(json.loads(report["text"]), {"richId": str(identifier), "richMessage": "Look at this", "richType": "img"})
        shown = self.firefox.run("return window.shown()")
        [data] = [one["data"] for one in shown if one["title"] == "Look at this"]
        found = (data["status"], data["type"], data["sha256"])
        expect(found, (200, "image/png", hashlib.sha256(content).hexdigest()))
        self.backend.unregister(registration)
        await self.hub.register(self.subscription)
        return f"{len(content)} bytes, of which the push service saw none"

    async def gets_null_from_a_push_without_a_body(self):
        async def send():
            expect(self.stranger.send(self.subscription, None), 201)
        expect((await self.arrives(send()))["text"], None)

    async def takes_the_largest_message(self):
        expect((await self.arrives(self.hub.deliver("x" * 3993)))["text"], "x" * 3993)

    async def never_sees_a_byte_more(self):
        expect(self.stranger.send(self.subscription, "x" * 3994), 413)
        return f"to the hub itself: {(await self.hub.post('x' * 3994))[0]}"

    async def refuses_another_vapid_key(self):
        expect(self.stranger.send(self.subscription, "x", key=other_key()), 401)

    async def refuses_another_audience(self):
        expect(self.stranger.send(self.subscription, "x", claims={"aud": "https://127.0.0.1:1"}), 401)

    async def refuses_a_sender_without_a_proof(self):
        expect(self.stranger.post(self.subscription["endpoint"], b"x", {"TTL": "1"}), 401)

    async def acknowledges_what_it_cannot_decrypt_with_101(self):
        await self.all_acknowledged()
        since, count = len(self.service.acknowledged()), len(self.heard_now())
        expect(self.stranger.send(self.subscription | {"keys": some_keys()}, "x"), 201)
        await self.is_acknowledged(since, UNDECRYPTED)
        expect(len(self.heard_now()), count)

    async def shows_the_same_version_once(self):
        since, count = len(self.service.acknowledged()), len(self.heard_now())
        [channel] = self.service.browser()["channels"]
        for _ in range(2):
            self.service.say(messageType="notification", channelID=channel, version="twice")
        await self.is_acknowledged(since, DELIVERED, UNDELIVERED)
        await self.heard(count + 1)
        expect(len(self.heard_now()), count + 1)

    async def acknowledges_an_unknown_channel_with_102(self):
        since = len(self.service.acknowledged())
        self.service.say(
            messageType="notification", channelID="00000000-0000-4000-8000-000000000000", version="nobody")
        await self.is_acknowledged(since, UNDELIVERED)

    async def gets_what_was_kept_after_a_cut(self):
        name, interval = self.service.browser()["id"], 500
        while True:
            # On a busy machine it may be back before the message: then once more, with a longer pause.
            interval *= 2
            self.firefox.set("dom.push.retryBaseInterval", interval)
            hellos, count = self.service.counter("browser.hello"), len(self.heard_now())
            self.service.cut()
            await until("the cut", lambda: not self.service.is_connected()
                        or self.service.counter("browser.hello") > hellos)
            await self.hub.deliver({"title": "late"})
            was_away = self.service.counter("browser.hello") == hellos
            expect(json.loads((await self.heard(count + 1))["text"])["title"], "late")
            if was_away or interval > 8000:
                break
        self.firefox.set("dom.push.retryBaseInterval", 200)
        assert was_away, "it was never away for long enough"
        expect(self.service.browser()["id"], name)
        return f"it came back as who it was, after {interval} ms"

    async def misses_what_was_not_to_be_kept(self):
        await self.all_acknowledged()
        count = len(self.heard_now())
        self.stay_away(True)
        await self.is_away()
        await self.hub.deliver({"title": "gone"}, TTL="0")
        await self.hub.deliver({"title": "old"}, TTL="60", Topic="scores")
        await self.hub.deliver({"title": "new"}, TTL="60", Topic="scores")
        expect(len(self.service.waiting()), 1)
        self.stay_away(False)
        await self.heard(count + 1)
        await self.all_acknowledged()
        expect([json.loads(report["text"])["title"] for report in self.heard_now()[count:]], ["new"])

    async def stays_away_after_4774(self):
        count = len(self.heard_now())
        self.service.cut(4774)
        await self.is_away()
        await asyncio.sleep(1.5)
        assert not self.service.is_connected(), "it came back by itself"
        await self.hub.deliver({"title": "kept"})
        self.stay_away(True)
        self.stay_away(False)
        expect(json.loads((await self.heard(count + 1))["text"])["title"], "kept")

    async def pings_and_is_answered(self):
        self.firefox.set("dom.push.pingInterval", 500)
        hellos = self.service.counter("browser.hello")
        # The timer is armed by the next message.
        await self.arrives(self.hub.deliver({"title": "arm"}))
        pings = self.service.counter("browser.ping")
        await until("three pings", lambda: self.service.counter("browser.ping") >= pings + 3)
        self.firefox.set("dom.push.pingInterval", None)
        expect(self.service.counter("browser.hello"), hellos)

    async def wakes_the_worker_with_no_page_open(self):
        self.firefox.goto("about:blank")
        await self.arrives(self.hub.deliver({"title": "no page"}), "no page")

    async def tells_the_worker_of_a_click(self):
        count = len(self.heard_now("click"))
        self.firefox.goto(self.site.origin + "/")
        await self.arrives(self.hub.deliver({"title": "Click me"}))
        click = """
            for (const window of Services.wm.getEnumerator('alert:alert')) {
              const label = window.document.getElementById('alertTitleLabel');
              if (!label || (label.textContent || label.value) !== 'Click me') continue;
              window.document.getElementById('alertBox').click();
              return true;
            }
            return false;"""
        await until("the notification's window", lambda: self.firefox.run_inside(click))
        expect((await self.heard(count + 1, "click"))["title"], "Click me")

    async def loses_none_of_forty(self):
        count, start = len(self.heard_now()), time.monotonic()
        for number in range(40):
            await self.hub.send({"title": f"L{number}", "tag": "same"})
        await self.heard(count + 40)
        titles = {json.loads(report["text"])["title"] for report in self.heard_now()[count:]}
        expect(titles, {f"L{number}" for number in range(40)})
        return f"all reported after {time.monotonic() - start:.2f} s"

    async def gets_what_was_kept_while_it_was_closed(self):
        try:
            return await self.gets_what_was_kept()
        except AssertionError:
            # Seen once on a busy machine: Firefox came back without the subscription that it had.
            self.firefox.goto(self.site.origin + "/")
            if not self.firefox.run("return await window.subscription() === null"):
                raise
            # Nobody will ever acknowledge what waits for the browser that it was before.
            self.service.forget()
            await self.subscribe()
            return await self.gets_what_was_kept() + ", at the second attempt: Firefox had lost its subscription"

    async def gets_what_was_kept(self):
        await self.all_acknowledged()
        count = len(self.heard_now())
        self.firefox.close()
        await self.is_away()
        await self.hub.deliver({"title": "while closed"}, TTL="600")
        start = time.monotonic()
        self.start()
        expect(json.loads((await self.heard(count + 1))["text"])["title"], "while closed")
        return f"{time.monotonic() - start:.2f} s after its start, no page opened"

    async def unsubscribes(self):
        before = self.service.counter("browser.unregister.200")
        self.firefox.goto(self.site.origin + "/")
        assert self.firefox.run("return (await window.subscription()).unsubscribe()")
        await until("200 on the wire", lambda: self.service.counter("browser.unregister.200") > before)
        await self.refuses_stranger(410)
        expect(await self.hub.outcome(await self.hub.send("x")), "ExpiredChannel")

    async def subscribes_again_when_its_service_has_forgotten_it(self):
        first = await self.subscribe()
        count = len(self.heard_now("change"))
        self.service.forget()
        await self.heard(count + 1, "change")
        assert self.firefox.run("return await window.subscription() === null")
        second = await self.subscribe()
        assert first["endpoint"] != second["endpoint"]
        await self.arrives(self.hub.deliver({"title": "again"}), "again")

    async def unregisters_who_never_shows_anything(self):
        self.firefox.set("dom.push.maxQuotaPerSubscription", 3)
        self.firefox.set("dom.push.quotaUpdateDelay", 50)
        self.firefox.run(
            "for (const one of await (await navigator.serviceWorker.ready).getNotifications()) one.close();"
            "await (await window.subscription()).unsubscribe()")
        await self.subscribe()
        self.firefox.goto("about:blank")
        sent = 0
        while not self.service.counter("browser.unregister.201") and sent < 20:
            await self.hub.send({"silent": True})
            sent += 1
            await asyncio.sleep(0.25)
        await until("201 on the wire", lambda: self.service.counter("browser.unregister.201"))
        await self.refuses_stranger(410)
        self.firefox.set("dom.push.maxQuotaPerSubscription", None)
        self.firefox.set("dom.push.quotaUpdateDelay", None)
        return f"after {sent} silent messages at a quota of 3"

    async def unregisters_who_may_not_notify_any_more(self):
        permit = """
            const site = Services.scriptSecurityManager.createContentPrincipalFromOrigin(arguments[0]);
            Services.perms.addFromPrincipal(site, 'desktop-notification', Services.perms[arguments[1]]);"""
        self.firefox.goto(self.site.origin + "/")
        self.firefox.run_inside(permit, self.site.origin, "ALLOW_ACTION")
        await self.subscribe()
        await self.arrives(self.hub.deliver({"title": "allowed"}), "allowed")
        self.firefox.run_inside(permit, self.site.origin, "DENY_ACTION")
        await until("202 on the wire", lambda: self.service.counter("browser.unregister.202"))
        await self.refuses_stranger(410)
        expect(await self.hub.outcome(await self.hub.send("x")), "ExpiredChannel")

    # And the crossed pair

    async def decrypts_what_pywebpush_sends(self):
        async def send():
            expect(self.stranger.send(self.subscription, json.dumps({"title": "from pywebpush"})), 201)
        report = await self.arrives(send(), "from pywebpush")
        assert "from pywebpush" in report["shown"], report


COURSE = [
    (1, "subscribes with the hub's VAPID key", Course.subscribes_with_a_vapid_key),
    (2, "the hub's message is decrypted in the worker and shown", Course.decrypts_and_shows_what_the_hub_sends),
    (3, "acknowledged with 100, nothing is left waiting", Course.acknowledges_with_100_and_nothing_waits),
    ("crossed", "pywebpush's message is decrypted and shown", Course.decrypts_what_pywebpush_sends),
    (4, "a message with an id alone: the worker fetches the content", Course.fetches_the_content_of_an_id),
    ("rich", "a rich push of the app backend: the worker fetches the picture", Course.shows_a_rich_push_of_the_backend),
    (5, "a push without a body has no data", Course.gets_null_from_a_push_without_a_body),
    (6, "the largest message, 3993 bytes and 4096 on the wire", Course.takes_the_largest_message),
    (7, "4097 on the wire are refused with 413", Course.never_sees_a_byte_more),
    (8, "another VAPID key is refused with 401", Course.refuses_another_vapid_key),
    (9, "another audience is refused with 401", Course.refuses_another_audience),
    (10, "no Authorization is refused with 401", Course.refuses_a_sender_without_a_proof),
    (11, "what cannot be decrypted is acknowledged with 101, no push event",
     Course.acknowledges_what_it_cannot_decrypt_with_101),
    (12, "the same version twice is one push event, acknowledged with 100 and 102", Course.shows_the_same_version_once),
    (13, "an unknown channel is acknowledged with 102", Course.acknowledges_an_unknown_channel_with_102),
    (14, "the socket cut, a message kept, reconnected by its id, delivered", Course.gets_what_was_kept_after_a_cut),
    (15, "away: TTL 0 is dropped, a Topic replaced", Course.misses_what_was_not_to_be_kept),
    (16, "close code 4774 keeps it away until it is told", Course.stays_away_after_4774),
    (17, "ping {} is answered", Course.pings_and_is_answered),
    (18, "the worker is woken with no page of the site open", Course.wakes_the_worker_with_no_page_open),
    (19, "a click on the notification reaches the worker", Course.tells_the_worker_of_a_click),
    (20, "forty messages in a row, none lost", Course.loses_none_of_forty),
    (21, "restarted on the same profile: what was kept is delivered", Course.gets_what_was_kept_while_it_was_closed),
    (22, "unsubscribed: unregister code 200, then 410, and the hub drops it", Course.unsubscribes),
    (23, "the service lost its store: pushsubscriptionchange, subscribed again",
     Course.subscribes_again_when_its_service_has_forgotten_it),
    (24, "silent messages use up the quota: unregister code 201, then 410", Course.unregisters_who_never_shows_anything),
    (25, "permission taken back: unregister code 202, then 410", Course.unregisters_who_may_not_notify_any_more),
]


async def main(binary):
    if not firefox.program():
        print(f"{NAME}: not run: there is no Firefox here (Debian's package firefox-esr)", flush=True)
        return
    with tempfile.TemporaryDirectory(prefix="martlet-browser-") as directory:
        data = os.path.join(directory, "data")
        key = processes.create_hub(binary, data, HUB)[RULE]
        processes.martlet(binary, "user", "add", USER, "--password-stdin", "--data", data, stdin=PASSWORD)
        server = processes.Server(
            binary, data, os.path.join(directory, "server.log"), "--simulator", "--simulator-listen", "127.0.0.1:0")
        ready = await server.start()
        site = Site()
        course = Course(
            Service(ready, os.path.join(data, "simulator-ca.pem")), Hub(server, key), Backend(server), site, directory)
        try:
            await run(course)
            course.firefox.close()
            await command(binary, data, course)
        finally:
            if course.firefox:
                course.firefox.close()
            site.close()
            await server.stop()


async def run(course):
    start = time.monotonic()
    course.start()
    print(f"{NAME}: Firefox {course.firefox.version}, up in {time.monotonic() - start:.2f} s", flush=True)
    for number, sentence, check in COURSE:
        start = time.monotonic()
        try:
            note = await check(course)
            checks.that(sentence, True)
        except Exception as error:
            note = f"{type(error).__name__}: {error}"
            checks.that(f"{number}: {sentence}", False)
        seconds = time.monotonic() - start
        print(f"{NAME}: {number:>7} {sentence}, {seconds:.2f} s{f' ({note})' if note else ''}", flush=True)
        # Without a subscription nothing else can be so.
        if course.subscription is None:
            break


async def command(binary, data, course):
    """`martlet browser` with its own page, from an empty profile to what is shown."""
    start, shown = time.monotonic(), processes.martlet(
        binary, "hub", "connection-string", HUB, "--data", data)
    browser = processes.Program(
        [binary, "browser", HUB, "--connection-string", re.search(r"Endpoint=\S*DefaultFull\S*", shown)[0],
         "--tags", "command", "--simulator", course.service.control, "--simulator-ca-file", course.service.ca,
         "--headless", "--page-port", "0", "--profile", os.path.join(course.directory, "own", "profile")],
        os.path.join(course.directory, "browser.log"))
    await browser.start()

    async def line():
        return (await asyncio.wait_for(browser.process.stdout.readline(), 60)).decode().strip()
    try:
        checks.equal("command: it registers", await line(), "Firefox is registered as firefox")
        await course.hub.deliver({"title": "Hello", "body": "from the hub"}, tag="command")
        checks.equal("command: it shows", await line(), "Hello: from the hub")
    finally:
        code, _ = await browser.stop()
    checks.equal("command: SIGTERM ends it with 0", code, 0)
    print(f"{NAME}: command `martlet browser` registers and shows, {time.monotonic() - start:.2f} s", flush=True)


checks = Checks(NAME)
if __name__ == "__main__":
    checks.finish(main(sys.argv[1]))
