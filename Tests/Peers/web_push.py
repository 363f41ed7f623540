"""Web Push between Martlet and code that shares none with it: PyPI's pywebpush against a real `martlet simulate`, and a
real `martlet serve` against a push service and browsers in Python.

    web_push.py MARTLET
"""

import asyncio
import json
import os
import re
import ssl
import sys
import tempfile
from types import SimpleNamespace
from urllib.parse import quote

import httpx
import jwt
import pywebpush
import requests
from py_vapid import Vapid

import hub_client
import processes
from checks import Checks, eventually
from web_push_peer import Peer, encode

checks = Checks("web-push")
HUB, RULE = "demo", "DefaultFullSharedAccessSignature"
SERVICES = ("mozilla", "safari", "chromium", "edge")


class Control:
    """The simulator's control interface."""

    def __init__(self, ready, ca):
        origin = re.search(r" simulator=(\S+)", ready)[1]
        self._client = httpx.Client(base_url=origin, verify=ssl.create_default_context(cafile=ca), timeout=60)

    def _call(self, method, path, body=None):
        answer = self._client.request(method, f"/simulator/{path}", json=body and {"platform": "browser"} | body)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def browser(self, service, key=None):
        """The device's handle, and what its script knows of it."""
        body = {"service": service} | ({"publicKey": key} if key else {})
        handle = self._call("POST", "devices", body)["handle"]
        return handle, SimpleNamespace(**json.loads(handle))

    def inbox(self, handle):
        return self._call("GET", f"device?handle={quote(handle, safe='')}")["inbox"]

    def remove(self, handle):
        self._call("DELETE", f"device?handle={quote(handle, safe='')}")


class Simulator(processes.Program):
    """`martlet simulate` with its control interface."""

    def __init__(self, binary, directory):
        command = [binary, "simulate", "--listen", "127.0.0.1:0", "--ca-file", os.path.join(directory, "sim.pem")]
        super().__init__(command, os.path.join(directory, "simulator.log"))

    async def start(self):
        line = await super().start()
        self.origin = re.search(r" browser=(https://[^\s]+)", line)[1]
        self.ca = re.search(r" ca-file=(\S+)", line)[1]
        self.control = Control(line, self.ca)

    def subscribe(self, service, key):
        """The device's handle, and the subscription as pywebpush wants it."""
        handle, browser = self.control.browser(service, key)
        return handle, {"endpoint": browser.endpoint, "keys": {"p256dh": browser.p256dh, "auth": browser.auth}}


def new_key():
    key = Vapid()
    key.generate_keys()
    return key, encode(key.public_key.public_numbers().x.to_bytes(32).rjust(33, b"\4")
                       + key.public_key.public_numbers().y.to_bytes(32))


class Sender:
    """pywebpush, with a key of its own."""

    def __init__(self, simulator):
        self._session = requests.Session()
        # A bundle that the environment names would come before this one.
        self._session.trust_env = False
        self._session.verify = simulator.ca
        self.vapid, self.key = new_key()

    def send(self, subscription, text, *, claims=None, ttl=60, headers=None, vapid=None, encoding="aes128gcm"):
        claims = {"sub": "mailto:push@example.com"} if claims is None else claims
        try:
            return pywebpush.webpush(
                subscription, text, vapid_private_key=vapid or self.vapid, vapid_claims=dict(claims), ttl=ttl,
                headers=dict(headers or {}), content_encoding=encoding, requests_session=self._session)
        except pywebpush.WebPushException as refusal:
            if refusal.response is None:
                raise
            return refusal.response


    def send_with(self, subscription, claims):
        """A message with claims that pywebpush's usual way would mend."""
        pusher = pywebpush.WebPusher(subscription, requests_session=self._session)
        token = jwt.encode(claims, self.vapid.private_key, algorithm="ES256")
        return pusher.send("x", {"Authorization": f"vapid t={token},k={self.key}"}, ttl=60)


def pywebpush_is_satisfied(simulator):
    sender = Sender(simulator)
    for service in SERVICES:
        handle, subscription = simulator.subscribe(service, sender.key)
        text = json.dumps({"title": f"Grüße \U0001f426 to {service}"})
        answer = sender.send(subscription, text, headers={"Urgency": "high", "Topic": "news"})
        checks.equal(f"a message to {service}", (answer.status_code, answer.headers.get("ttl")), (201, "60"))
        checks.that(f"{service} names the message", answer.headers.get("location", "").startswith(simulator.origin))
        [delivery] = simulator.control.inbox(handle)
        checks.equal(f"its text at {service}", delivery["payload"], json.loads(text))
        checks.equal(
            f"its fields at {service}", delivery["headers"], {"ttl": "60", "urgency": "high", "topic": "news"})
    refusals(simulator, sender)


def refusals(simulator, sender):
    handle, subscription = simulator.subscribe("mozilla", sender.key)

    def check(sentence, answer, status, errno):
        checks.equal(sentence, (answer.status_code, answer.json().get("errno")), (status, errno))

    check("another sender's key", sender.send(subscription, "x", vapid=new_key()[0]), 401, 109)
    subject = {"sub": "mailto:push@example.com"}
    check("another's audience", sender.send(subscription, "x", claims=subject | {"aud": "https://a.example"}), 401, 109)
    claims = subject | {"aud": simulator.origin}
    check("a proof that has ended", sender.send_with(subscription, claims | {"exp": 1_000_000_000}), 401, 109)
    check("a proof for too long", sender.send_with(subscription, claims | {"exp": 9_000_000_000}), 401, 109)
    check("an end that is no number", sender.send_with(subscription, claims | {"exp": "soon"}), 401, 109)
    check("a topic that is none", sender.send(subscription, "x", headers={"Topic": "a b"}), 400, 113)
    check("an older encryption", sender.send(subscription, "x", encoding="aesgcm"), 400, 110)
    largest = sender.send(subscription, "x" * 3993)
    checks.equal("the largest message", largest.status_code, 201)
    check("a byte more", sender.send(subscription, "x" * 3994), 413, 104)
    elsewhere = subscription | {"endpoint": subscription["endpoint"] + "x"}
    check("an endpoint that is none", sender.send(elsewhere, "x"), 404, 102)
    simulator.control.remove(handle)
    check("a subscription that was cancelled", sender.send(subscription, "x"), 410, 106)


class Hub:
    """A hub of a real server that sends to the Python peer."""

    def __init__(self, server, key):
        self._connection = hub_client.Connection(server.port)
        self._headers = {"Authorization": hub_client.signature(hub_client.hub_resource(HUB, server.port), RULE, key)}

    async def _call(self, method, path, headers=None, body=b""):
        return await self._connection.request(
            method, f"/{HUB}/{path}?{hub_client.API_VERSION}", self._headers | (headers or {}), body)

    async def register(self, name, browser, tags=None, **changes):
        keys = {"endpoint": browser.endpoint, "p256dh": browser.p256dh, "auth": browser.auth} | changes
        body = {"installationId": name, "platform": "browser", "pushChannel": keys, "tags": tags or [name]}
        headers = {"Content-Type": "application/json"}
        status, _, content = await self._call("PUT", f"installations/{name}", headers, json.dumps(body).encode())
        return status, content.decode()

    async def reaches(self, name):
        """Whether the device is one that messages go to."""
        status, _, content = await self._call("GET", f"installations/{name}")
        return status == 200 and not json.loads(content).get("pushChannelExpired")

    async def drops(self, name):
        """Waits until messages do not go to the device any more."""
        for _ in range(1500):
            if not await self.reaches(name):
                return True
            await asyncio.sleep(0.02)
        return False

    async def send(self, tag, text, **headers):
        fields = {
            "Content-Type": "application/json", "ServiceBusNotification-Format": "browser",
            "ServiceBusNotification-Tags": tag} | {name.replace("_", "-"): value for name, value in headers.items()}
        status, answered, content = await self._call("POST", "messages", fields, text.encode())
        checks.equal(f"a send to {tag} is taken", (status, content), (201, b""))
        return answered["location"].rpartition("/messages/")[2].partition("?")[0]

    async def telemetry(self, message):
        status, _, content = await self._call("GET", f"messages/{message}")
        return content.decode() if status == 200 else ""

    async def comes_to(self, message, state, outcome, count=1):
        """Waits until the message has come to a state; whether it has, with so many of that outcome."""
        wanted = [f"<State>{state}</State>", f"<Name>{outcome}</Name><Count>{count}</Count>"]
        text = ""
        for _ in range(1500):
            text = await self.telemetry(message)
            if all(part in text for part in wanted):
                return True
            await asyncio.sleep(0.02)
        print(text)
        return False


async def the_hub_satisfies_browsers(binary, directory):
    peer = Peer(directory)
    data = os.path.join(directory, "data")
    key = processes.create_hub(binary, data, HUB)[RULE]
    set_credential = ["hub", "credential", "set", HUB, "webpush", "--data", data, "--generate"]
    printed = processes.martlet(
        binary, *set_credential, "--subject", "mailto:push@example.com", "--allowed-hosts", "127.0.0.1", "--ca-file", peer.ca)
    public = re.search(r"vapid-public-key: (\S+)", printed)[1]
    checks.raises("a key in use is not replaced", processes.Failed, lambda: processes.martlet(binary, *set_credential))
    server = processes.Server(binary, data, os.path.join(directory, "server.log"))
    await server.start()
    try:
        hub = Hub(server, key)
        await registrations(hub, peer)
        await messages(hub, peer, public)
        await many(hub, peer)
        await answers(hub, peer)
        await guarded(hub, peer, binary, data)
        checks.equal("no rule was broken", peer.violations, [])
    finally:
        code, _ = await server.stop()
        checks.equal("SIGTERM ends the server with 0", code, 0)
        peer.close()


async def registrations(hub, peer):
    browser = peer.subscribe("/push/never")
    off_curve = encode(b"\4" + bytes(range(64)))
    for sentence, changes in {
        "a key that is no point of the curve": {"p256dh": off_curve}, "a short key": {"p256dh": off_curve[:20]},
        "a short secret": {"auth": "AAAA"}, "an endpoint without TLS": {"endpoint": "http://push.example/1"},
        "an endpoint that is none": {"endpoint": "push"},
    }.items():
        status, sentence_of_error = await hub.register("bad", browser, **changes)
        checks.that(f"{sentence} is refused", status == 400 and "subscription" in sentence_of_error, sentence_of_error)


async def messages(hub, peer, public):
    browser = peer.subscribe("/push/one?with=query")
    checks.equal("a subscription is registered", (await hub.register("one", browser))[0], 200)
    text = json.dumps({"title": "Grüße", "body": "\U0001f426"}, ensure_ascii=False)
    sent = await hub.send("one", text, TTL="120", Urgency="low", Topic="news")
    checks.that("it is delivered", await hub.comes_to(sent, "Completed", "Success"))
    [message] = browser.messages
    checks.equal("its text arrives", message["text"], text)
    shown = {name: message[name] for name in ("TTL", "Urgency", "Topic")}
    checks.equal("its fields arrive", shown, {"TTL": "120", "Urgency": "low", "Topic": "news"})
    checks.equal("its sender's key is the one that was printed", message["key"], public)
    checks.equal("its sender says who he is", message["claims"]["sub"], "mailto:push@example.com")
    sent = await hub.send("one", "x" * 3993)
    checks.that("the largest message is delivered", await hub.comes_to(sent, "Completed", "Success"))
    checks.equal("all of it arrives", browser.messages[-1]["text"], "x" * 3993)
    checks.that("a lifetime is always stated", int(browser.messages[-1]["TTL"]) > 3600, browser.messages[-1]["TTL"])


async def many(hub, peer):
    browsers = [peer.subscribe(f"/push/many{number}") for number in range(100)]
    for number, browser in enumerate(browsers):
        await hub.register(f"many{number}", browser, tags=["many"])
    for text in ("first", "second"):
        sent = await hub.send("many", text)
        checks.that(f"the {text} is delivered to all", await hub.comes_to(sent, "Completed", "Success", len(browsers)))
    found = {tuple(message["text"] for message in browser.messages) for browser in browsers}
    checks.equal("each gets both, encrypted for it alone", found, {("first", "second")})
    checks.equal("one proof is enough for all", len(peer.tokens), 1)


async def answers(hub, peer):
    for name, path, outcome, is_kept, attempts in [
        ("gone", "/status/410/a", "ExpiredChannel", False, 1), ("missing", "/status/404/b", "ExpiredChannel", False, 1),
        ("redirected", "/status/307/c", "PnsInterfaceError", True, 1),
        ("malformed", "/status/400/d", "InvalidNotificationFormat", True, 1),
        ("large", "/status/413/e", "InvalidNotificationSize", True, 1),
        ("busy", "/once/429/1/f", "Success", True, 2), ("ill", "/once/503/1/g", "Success", True, 2),
    ]:
        browser = peer.subscribe(path)
        await hub.register(name, browser)
        sent = await hub.send(name, "hi")
        checks.that(f"who is {name} comes to {outcome}", await hub.comes_to(sent, "Completed", outcome))
        if is_kept:
            checks.that(f"who is {name} is kept", await hub.reaches(name))
        else:
            checks.that(f"who is {name} is dropped", await hub.drops(name))
        checks.equal(f"how often who is {name} is tried", browser.attempts, attempts)
    for status in (401, 403):
        browser = peer.subscribe(f"/status/{status}/x")
        await hub.register(f"refusing{status}", browser)
        await hub.send(f"refusing{status}", "hi")
        await eventually(lambda: browser.attempts)
    good = peer.subscribe("/push/afterwards")
    await hub.register("afterwards", good)
    sent = await hub.send("afterwards", "hi")
    checks.that("one who refuses the sender stops nobody else", await hub.comes_to(sent, "Completed", "Success"))
    for status in (401, 403):
        checks.that(f"{status} removes nobody", await hub.reaches(f"refusing{status}"))


async def guarded(hub, peer, binary, data):
    """Without a list, an address of this machine is nobody's push service."""
    processes.martlet(binary, "hub", "credential", "remove", HUB, "webpush", "--data", data)
    processes.martlet(binary, "hub", "credential", "set", HUB, "webpush", "--generate", "--ca-file", peer.ca, "--data", data)
    for name, host in {"loopback": "127.0.0.1", "named": "localhost"}.items():
        browser = peer.subscribe(f"/push/{name}")
        endpoint = browser.endpoint.replace("127.0.0.1", host)
        await hub.register(name, browser, endpoint=endpoint)
        sent = await hub.send(name, "hi")
        checks.that(f"nothing is sent to {host}", await hub.comes_to(sent, "Completed", "BadChannel"))
        checks.equal(f"nothing arrives at {host}", browser.attempts, 0)


async def the_hub_satisfies_the_simulator(binary, directory):
    """`serve --simulator`: a hub without a credential of its own sends with the simulator's."""
    data = os.path.join(directory, "simulated")
    key = processes.create_hub(binary, data, HUB)[RULE]
    options = ["--simulator", "--simulator-listen", "127.0.0.1:0"]
    server = processes.Server(binary, data, os.path.join(directory, "simulated.log"), *options)
    line = await server.start()
    try:
        hub, simulator = Hub(server, key), Control(line, os.path.join(data, "simulator-ca.pem"))
        for service in SERVICES:
            handle, browser = simulator.browser(service)
            await hub.register(service, browser)
            sent = await hub.send(service, '{"title": "hi"}')
            checks.that(f"a message to {service} is taken", await hub.comes_to(sent, "Completed", "Success"))
            checks.equal(f"it is read at {service}", [one["payload"] for one in simulator.inbox(handle)], [{"title": "hi"}])
            simulator.remove(handle)
            sent = await hub.send(service, '{"title": "hi"}')
            checks.that(f"what left {service} is gone", await hub.comes_to(sent, "Completed", "ExpiredChannel"))
            checks.that(f"what left {service} is dropped", await hub.drops(service))
    finally:
        await server.stop()


async def course(binary, directory):
    simulator = Simulator(binary, directory)
    await simulator.start()
    try:
        pywebpush_is_satisfied(simulator)
    finally:
        code, _ = await simulator.stop()
        checks.equal("SIGTERM ends the simulator with 0", code, 0)
    await the_hub_satisfies_browsers(binary, directory)
    await the_hub_satisfies_the_simulator(binary, directory)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as directory:
        checks.finish(course(os.path.abspath(sys.argv[1]), os.path.realpath(directory)))


if __name__ == "__main__":
    main()
