"""Audience counts and dry runs against what real sends then deliver: a hub with random devices of four platforms, whose push
services share no code with Martlet. What is counted and shown before a send must be what arrives, device by device and byte
by byte; and until then nothing may arrive at all.

    dry_runs.py MARTLET
"""

import asyncio
import collections
import json
import os
import random
import subprocess
import urllib.parse

import hub_client
import processes
from checks import Checks
from service_peers import LIVE_PATH, Answer, Peer

checks = Checks("dry-runs")
HUB, RULE, SEED = "demo", "DefaultFullSharedAccessSignature", 20261121
# Devices of each platform, and how they are called in sends and in installations.
DEVICES = 12
FORMATS = {"apns": "apple", "wns": "windows", "adm": "adm", "fcmv1": "fcmv1"}
EXPRESSIONS = [None, "x", "x && !y", "(x && !y) || z", "!x", "!x && !y && !z"]
# What each platform's templates make of the property `m`.
TEMPLATES = {
    "apns": '{"aps":{"alert":"$(m)"}}',
    "wns": '<toast><visual><binding template="ToastText01"><text id="1">$(m)</text></binding></visual></toast>',
    "adm": '{"data":{"m":"$(m)"}}',
    "fcmv1": '{"message":{"data":{"m":"$(m)"}}}',
}
ALARM = {name: body.replace("$(m)", "{'alarm: ' + $(m)}") for name, body in TEMPLATES.items()}
NATIVE = {name: body.replace("$(m)", "native") for name, body in TEMPLATES.items()}
PATIENCE = 60


def as_python(expression, tags):
    """Whether an expression holds, by Python's own operators."""
    if expression is None:
        return True
    words = expression.replace("&&", " and ").replace("||", " or ").replace("!", " not ")
    return bool(eval(words, {}, {name: name in tags for name in "xyz"}))  # one of EXPRESSIONS


class Hub:
    def __init__(self, port, key):
        self._connection = hub_client.Connection(port, timeout=60)
        self._token = hub_client.signature(hub_client.hub_resource(HUB, port), RULE, key)

    async def call(self, method, path, fields=None, body=b"", wanted=200):
        target = f"/{HUB}/{path}{'&' if '?' in path else '?'}{hub_client.API_VERSION}"
        fields = {"Authorization": self._token, "Content-Type": "application/json"} | (fields or {})
        status, answered, content = await self._connection.request(method, target, fields, body)
        if status != wanted:
            raise processes.Failed(f"{method} {path} is answered {status}: {content}")
        return answered, content.decode()

    async def count(self, expression, **query):
        query |= {} if expression is None else {"tags": expression}
        _, content = await self.call("GET", f"audience?{urllib.parse.urlencode(query)}")
        return json.loads(content)

    def _fields(self, form, expression):
        fields = {"ServiceBusNotification-Format": form}
        if form == "windows":
            fields |= {"X-WNS-Type": "wns/toast", "Content-Type": "application/xml"}
        return fields | ({} if expression is None else {"ServiceBusNotification-Tags": expression})

    async def try_out(self, form, expression, body):
        _, content = await self.call("POST", "messages?dryRun", self._fields(form, expression), body.encode())
        return json.loads(content)

    async def send(self, form, expression, body):
        """Returns when the message is final."""
        answered, _ = await self.call("POST", "messages", self._fields(form, expression), body.encode(), wanted=201)
        message = answered["location"].rpartition("/")[2].partition("?")[0]
        for _ in range(PATIENCE * 20):
            _, content = await self.call("GET", f"messages/{message}")
            if "<State>Completed" in content or "<State>NoTargetFound" in content:
                return
            await asyncio.sleep(0.05)
        checks.that("a message is final", False, content)

    def close(self):
        self._connection.close()


class Course:
    def __init__(self, binary, directory):
        self._binary, self._directory = binary, directory
        self._data = os.path.join(directory, "data")
        self._key = processes.create_hub(binary, self._data, HUB)[RULE]
        self._apns = processes.APNsPeer(os.path.join(directory, "apns"))
        self._peer = Peer(directory)
        self.server = processes.Server(
            binary, self._data, os.path.join(directory, "server.log"), "--tls-listen", "127.0.0.1:0", "--tls-self-signed")
        # Platform, tags and names of templates of each device.
        self._devices = []
        self._ledger_place = 0

    # The hub

    def _set_credential(self, platform, *options):
        processes.martlet(
            self._binary, "hub", "credential", "set", HUB, platform, "--data", self._data, *options)

    def _set_adm(self, secret, endpoint=None):
        self._set_credential(
            "adm", "--client-id", self._peer.adm_tokens.client, "--client-secret", secret,
            "--token-endpoint", f"{endpoint or self._peer.origin}/auth/O2/token",
            "--send-url", self._peer.origin + "/messaging/registrations/{0}/messages", "--ca-file", self._peer.ca)

    def _set_credentials(self):
        peer = self._peer
        self._set_credential("apns", *self._apns.credential_arguments())
        self._set_credential(
            "wns", "--package-sid", peer.wns_tokens.client, "--secret-key", peer.wns_tokens.secret,
            "--token-endpoint", peer.origin + LIVE_PATH, "--ca-file", peer.ca)
        self._set_adm(peer.adm_tokens.secret)
        path = os.path.join(self._directory, "account.json")
        with open(path, "w") as file:
            json.dump(peer.fcm_tokens.file(), file)
        self._set_credential(
            "fcmv1", "--service-account-file", path, "--endpoint", peer.origin, "--ca-file", peer.ca)

    def _handle(self, platform, number):
        if platform == "apns":
            return f"{number + 1:064x}"
        return getattr(self._peer, platform)(f"{platform}{number}").handle

    async def _register(self, hub):
        dice = random.Random(SEED)
        for platform in FORMATS:
            for number in range(DEVICES):
                tags = [tag for tag, odds in (("x", 0.6), ("y", 0.4), ("z", 0.2)) if dice.random() < odds]
                templates = {"note": TEMPLATES[platform]} if dice.random() < 0.7 else {}
                templates |= {"alarm": ALARM[platform]} if dice.random() < 0.3 else {}
                self._devices.append((platform, tags, sorted(templates)))
                headers = {"headers": {"X-WNS-Type": "wns/toast"}} if platform == "wns" else {}
                body = {
                    "installationId": f"{platform}-{number}", "platform": platform,
                    "pushChannel": self._handle(platform, number), "tags": tags,
                    "templates": {name: {"body": text, "tags": tags} | headers for name, text in templates.items()}}
                await hub.call("PUT", f"installations/{platform}-{number}", body=json.dumps(body).encode())

    # What came

    def _arrived(self):
        """The payloads that came since the last time, by platform."""
        found = collections.defaultdict(list)
        for key, device in self._peer.devices.items():
            platform = {"f": "fcmv1", "a": "adm", "/": "wns"}[key[0]]
            found[platform] += [message["body"] for message in device.messages]
            device.messages.clear()
        if os.path.exists(self._apns.ledger):
            with open(self._apns.ledger, encoding="utf-8") as lines:
                deliveries = [json.loads(line) for line in lines]
            found["apns"] = [delivery["payload"] for delivery in deliveries[self._ledger_place:]]
            self._ledger_place = len(deliveries)
        return {platform: sorted(map(self._plain, payloads)) for platform, payloads in found.items() if payloads}

    @staticmethod
    def _plain(payload):
        """A payload in the one form in which it is compared."""
        if isinstance(payload, dict):
            return json.dumps(payload.get("message", payload), sort_keys=True)
        text = payload.decode() if isinstance(payload, bytes) else payload
        return text if text.startswith("<") else json.dumps(json.loads(text), sort_keys=True)

    def _shown(self, run):
        """The payloads that a dry run shows, each as often as it would be pushed, by platform."""
        found = {}
        for platform in FORMATS:
            payloads = run["platforms"].get(platform, {}).get("payloads", [])
            texts = []
            for payload in payloads:
                text = payload["body"]
                checks.equal("a payload's size is that of its bytes", payload["size"], len(text.encode()))
                if not text.startswith("<"):
                    text = json.loads(text)
                    text = json.dumps(text.get("message", text), sort_keys=True)
                texts += [text] * payload["pushes"]
            if texts:
                found[platform] = sorted(texts)
        return found

    # Judging

    def _wanted(self, expression):
        """By platform: how many pushes of a native send, of a template send, and how many devices there ought to be."""
        found = {}
        for platform in FORMATS:
            matching = [names for where, tags, names in self._devices
                        if where == platform and as_python(expression, tags)]
            templates = sum(map(len, matching))
            if matching:
                found[platform] = {"native": len(matching), "templates": templates, "devices": len(matching),
                               "registrations": len(matching) + templates}
        return found

    def _audience(self, expression, *options):
        return processes.martlet(self._binary, "audience", HUB, expression or "*", "--data", self._data, *options)

    async def _judge_counts(self, hub, expression):
        wanted = self._wanted(expression)
        count = await hub.count(expression)
        checks.equal(f"{expression}: the numbers by platform", count["platforms"], wanted)
        checks.that(f"{expression}: they are of one moment", count["isOfOneMoment"])
        checks.equal(f"{expression}: all devices", count["devices"], sum(each["devices"] for each in wanted.values()))
        checks.equal(f"{expression}: the command says the same", json.loads(self._audience(expression, "--json")), count)
        only = await hub.count(expression, format="windows")
        checks.equal(f"{expression}: native sends of one platform", only["registrations"],
                     wanted.get("wns", {}).get("native", 0))

    async def _judge_send(self, hub, expression, form, body, kind):
        wanted = self._wanted(expression)
        run = await hub.try_out(form, expression, body)
        checks.equal(f"{expression} as {form}: nothing is wrong", (run["isAccepted"], run["problems"]), (True, []))
        numbers = {name: part["targeted"] for name, part in run["platforms"].items()}
        checks.equal(f"{expression} as {form}: the numbers", numbers,
                     {name: each[kind] for name, each in wanted.items() if each[kind] and form in ("template", FORMATS[name])})
        states = {part["credential"]["state"] for part in run["platforms"].values()}
        checks.equal(f"{expression} as {form}: the credentials", states, {"usable"})
        checks.equal(f"{expression} as {form}: nothing has come", self._arrived(), {})
        await hub.send(form, expression, body)
        checks.equal(f"{expression} as {form}: what came is what was shown", self._arrived(), self._shown(run))

    async def _judge_problems(self, hub):
        """What is wrong is said in sentences, and each is what a real send comes to."""
        long = json.dumps({"m": "x" * 4200})
        run = await hub.try_out("template", None, long)
        said = [problem for problem in run["problems"] if "The template 'note' on apns" in problem]
        checks.that("a template that becomes too large is named", len(said) == 1 and "4096" in said[0], run["problems"])
        run = await hub.try_out("apple", None, '{"aps":{"alert":"' + "x" * 4200 + '"}}')
        checks.that("a payload that is too large is refused in a sentence",
                    not run["isAccepted"] and "4096" in run["problems"][0], run)
        checks.equal("the audience is counted all the same", run["platforms"]["apns"]["targeted"], DEVICES)
        run = await hub.try_out("apple", "x && nobody", NATIVE["apns"])
        checks.that("nobody is a problem", "audience is empty" in run["problems"][0], run)

    async def _judge_credentials(self, hub):
        async def state():
            return (await hub.try_out("adm", None, NATIVE["adm"]))["platforms"]["adm"]

        self._set_adm("another")
        self._peer.adm_tokens.answers = [Answer(401, b'{"error":"invalid_client"}', Content_Type="application/json")]
        found = await state()
        checks.that("a credential that the token endpoint refuses is told",
                    found["credential"]["state"] == "unusable" and "adm" in found["problems"][0], found)
        self._set_adm(self._peer.adm_tokens.secret, "https://127.0.0.1:9")
        found = await state()
        checks.that("where it cannot be asked, that is told", found["credential"]["state"] == "unchecked"
                    and "could not be checked" in found["problems"][0], found)
        processes.martlet(self._binary, "hub", "credential", "remove", HUB, "adm", "--data", self._data)
        found = await state()
        checks.equal("a missing credential is told", found["credential"]["state"], "missing")

    def _judge_command(self):
        """As people use it."""
        words = [
            self._binary, "send", HUB, "--connection-string",
            f"Endpoint=sb://127.0.0.1:{self.server.ports['https']}/;SharedAccessKeyName={RULE};SharedAccessKey={self._key}",
            "--ca-file", os.path.join(self._data, "tls", "ca.pem"), "--dry-run"]

        def run(*more):
            return subprocess.run([*words, *more], capture_output=True, text=True, timeout=60)

        good = run("--platform", "template", "--tags", "x", "--body", '{"m":"Hi"}')
        print("--- martlet send --dry-run", good.stdout, sep="\n", flush=True)
        wanted = sum(each["templates"] for each in self._wanted("x").values())
        checks.equal("the command succeeds", (good.returncode, good.stderr), (0, ""))
        checks.that("it begins with the number", good.stdout.startswith(f"Nothing was sent. A send would be {wanted} pushes."))
        checks.that("it shows a payload with its size", '22 bytes: {"aps":{"alert":"Hi"}}' in good.stdout, good.stdout)
        slow = run("--platform", "template", "--everybody", "--body", '{"m":"Hi"}', "--rollout", "rate=1", "--expires", "PT2S")
        checks.that("a roll-out that takes longer than the send lives is a problem",
                    slow.returncode == 1 and "would be abandoned" in slow.stdout, slow.stdout)
        checks.that("it says when it starts, expires and how fast it goes",
                    all(f"\n{name}: " in slow.stdout for name in ("Starts", "Expires", "Roll-out")), slow.stdout)
        late = run("--platform", "apple", "--everybody", "--body", NATIVE["apns"], "--at", "2026-01-01T00:00:00")
        checks.equal("a time that is past is refused", (late.returncode, "is in the past" in late.stderr), (64, True))
        bad = run("--platform", "apple", "--everybody", "--body", "no JSON")
        checks.equal("with a problem its exit code is 1", bad.returncode, 1)
        checks.that("and says which", "Problem: " in bad.stdout, bad.stdout)
        lines = self._audience("x").splitlines()
        checks.equal("the audience has a line for all and one each", len(lines), 1 + len(self._wanted("x")))

    async def run(self):
        await self._apns.start()
        try:
            self._set_credentials()
            await self.server.start()
            hub = Hub(self.server.port, self._key)
            await self._register(hub)
            for expression in EXPRESSIONS:
                await self._judge_counts(hub, expression)
                await self._judge_send(hub, expression, "template", '{"m":"Hello"}', "templates")
            for platform, form in FORMATS.items():
                await self._judge_send(hub, "x && !y", form, NATIVE[platform], "native")
            self._judge_command()
            await self._judge_problems(hub)
            await self._judge_credentials(hub)
            checks.equal("no dry run was stored or sent", self._arrived(), {})
            checks.equal("no rule was broken", self._peer.violations, [])
            hub.close()
            code, _ = await self.server.stop()
            checks.equal("SIGTERM ends the server with 0", code, 0)
        finally:
            code, _ = await self._apns.stop()
            checks.equal("the APNs peer has nothing to complain of", code, 0)
            self._peer.close()


if __name__ == "__main__":
    checks.finish_on_a_server(Course)
