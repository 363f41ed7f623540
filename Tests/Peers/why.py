"""Why a notification did or did not reach a device: `martlet why`, and the same over REST, for hand-made cases, asked after
the tags were changed, devices removed and the server stopped and started again. What is told must be what was true when
it was sent.

    why.py MARTLET
"""

import asyncio
import json
import os
import re
import subprocess
import ssl
import time
import urllib.request
import xml.etree.ElementTree as ElementTree

import hub_client
import processes
from checks import Checks

checks = Checks("why")

FULL = "DefaultFullSharedAccessSignature"
NEWS, TOPIC, SECRET = "news", "topic", "the secret of the house"
WAIT = 120
CROWD = 25


class Simulator:
    """The control interface."""

    def __init__(self, line, data):
        self._origin = re.search(r" simulator=(\S+)", line)[1]
        self._context = ssl.create_default_context(cafile=os.path.join(data, "simulator-ca.pem"))

    def call(self, method, path, body):
        request = urllib.request.Request(
            f"{self._origin}/simulator/{path}", method=method, data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, context=self._context, timeout=60) as answer:
            content = answer.read()
            return json.loads(content) if content else None

    def device(self):
        return self.call("POST", "devices", {"platform": "apns"})["handle"]


class Hub:
    def __init__(self, server, name, rule):
        self._connection = hub_client.Connection(server.port, timeout=60)
        self._token = hub_client.signature(hub_client.namespace_resource(server.port), *rule)
        self._name = name

    async def call(self, method, path, fields=None, body=b"", wanted=200):
        target = f"/{self._name}/{path}?{hub_client.API_VERSION}"
        fields = {"Authorization": self._token} | (fields or {})
        status, answered, content = await self._connection.request(method, target, fields, body)
        if status != wanted:
            raise processes.Failed(f"{method} {path} is answered {status}: {content}")
        return answered, content

    async def register(self, identifier, handle, *tags):
        entry = hub_client.registration_entry(handle, tags)
        await self.call("PUT", f"registrations/{identifier}", {"Content-Type": "application/atom+xml"}, entry)

    async def send(self, tags):
        fields = {"ServiceBusNotification-Format": "apple", "ServiceBusNotification-Tags": tags}
        answered, _ = await self.call("POST", "messages", fields, b'{"aps":{"alert":"Hello"}}', wanted=201)
        return answered["location"].rpartition("/")[2].partition("?")[0]

    async def comes_to(self, message, outcomes):
        deadline = time.monotonic() + WAIT
        while (found := await self._outcomes(message)) != outcomes and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
        checks.equal("the outcomes in telemetry", found, outcomes)

    async def _outcomes(self, message):
        _, content = await self.call("GET", f"messages/{message}")
        name = f"{{{hub_client.SERVICE}}}"
        return {
            outcome.findtext(name + "Name"): int(outcome.findtext(name + "Count"))
            for outcome in ElementTree.fromstring(content).iter(name + "Outcome")
        }

    async def trace(self, message, device):
        _, content = await self.call("GET", f"messages/{message}/devices/{device}")
        return json.loads(content)

    def close(self):
        self._connection.close()


class Course:
    def __init__(self, binary, directory):
        self.binary, self.data = binary, os.path.join(directory, "data")
        os.mkdir(self.data, 0o700)
        self.rules = {name: (FULL, processes.create_hub(binary, self.data, name)[FULL]) for name in (NEWS, TOPIC)}
        self.server = processes.Server(
            binary, self.data, os.path.join(directory, "server.log"), "--simulator", "--simulator-listen", "127.0.0.1:0")
        self.messages = {}

    def hub(self, name):
        return Hub(self.server, name, self.rules[name])

    async def send(self, simulator):
        hub, crowd = self.hub(NEWS), self.hub(TOPIC)
        tags = {"delivered": ["news"], "excluded": ["news", "quiet"], "dead": ["news"], "retrying": ["news", "vip"],
                "deleted": ["news"], "renewed": ["news"]}
        handles = {name: simulator.device() for name in tags}
        for name, each in tags.items():
            await hub.register(name, handles[name], *each)
        others = [simulator.device() for _ in range(CROWD)]
        for number, handle in enumerate(others):
            await crowd.register(f"other{number}", handle, "all")
        rules = [("unregistered", handles["dead"]), ("internalError", handles["retrying"])]
        rules += [("wrongSender", handle) for handle in others]
        faults = [{"fault": name, "handle": at} for name, at in rules]
        faults.append({"fault": "resetStream", "code": "INTERNAL_ERROR", "handle": handles["renewed"]})
        simulator.call("PUT", "faults", {"seed": 1, "faults": faults})
        self.messages[NEWS] = await hub.send("(news || vip) && !quiet")
        self.messages[TOPIC] = await crowd.send("all")
        self.messages["secret"] = self.send_confidentially()
        await hub.comes_to(self.messages[NEWS], {"Success": 2, "ExpiredChannel": 1})
        # Every attempt at its old handle fails: the one that succeeds has followed the registration.
        await hub.register("renewed", simulator.device(), "news")
        await hub.comes_to(self.messages[NEWS], {"Success": 3, "ExpiredChannel": 1})
        await hub.comes_to(self.messages["secret"], {"Success": 1})
        await crowd.comes_to(self.messages[TOPIC], {"WrongToken": CROWD})
        # What was true is true no more.
        await hub.register("delivered", handles["delivered"], "quiet")
        await hub.register("excluded", handles["excluded"], "news")
        # It stays in the audience: a retry of a device that has left ends within a minute or so.
        await hub.register("retrying", handles["retrying"], "vip")
        await hub.call("DELETE", "registrations/deleted", {"If-Match": "*"})
        await hub.register("late", simulator.device(), "news", "username:zoe")
        hub.close()
        crowd.close()

    def send_confidentially(self):
        printed = processes.martlet(self.binary, "hub", "connection-string", NEWS, "--data", self.data)
        words = ["send", NEWS, "--connection-string", re.search(rf"Endpoint=\S*{FULL}\S*", printed)[0], "--confidential",
                 "--platform", "apple", "--tags", "quiet", "--body", json.dumps({"aps": {"alert": SECRET}})]
        return processes.martlet(self.binary, *words).strip()

    def why(self, message, device):
        """As people read it, and as programs do."""
        hub = message if message in self.rules else NEWS
        words = ["why", hub, self.messages[message], device, "--data", self.data]
        if device == "nobody":
            return self.why_unknown(words)
        lines = processes.martlet(self.binary, *words).splitlines()
        document = processes.martlet(self.binary, *words, "--json")
        checks.that(f"{device}: nothing confidential", SECRET not in document + "".join(lines))
        trace = json.loads(document)
        checks.equal(f"{device}: the sentences are those of the document", lines[:len(trace["explanation"])],
                     trace["explanation"])
        print(f"--- martlet why {message} … {device}", *lines, sep="\n", flush=True)
        return trace

    def why_unknown(self, words):
        """Of what is no device and no user with devices: a sentence and exit code 1."""
        said = subprocess.run([self.binary, *words], capture_output=True, text=True, check=False)
        checks.equal("nobody: exit code and output", (said.returncode, said.stdout), (1, ""))
        checks.that("nobody: it is said", "Nothing is known of 'nobody'" in said.stderr, said.stderr)
        found = subprocess.run([self.binary, *words, "--json"], capture_output=True, text=True, check=False)
        checks.equal("nobody: exit code with --json", found.returncode, 1)
        return json.loads(found.stdout)

    def judge_user(self):
        """By the name of a user it is explained for each of the user's devices."""
        words = ["why", NEWS, self.messages[NEWS]]
        for by in (["zoe"], ["--user", "zoe"]):
            lines = processes.martlet(self.binary, *words, *by, "--data", self.data).splitlines()
            checks.equal(f"{by}: the device is named", lines[0], "Device late (apns) of user 'zoe':")
            checks.that(f"{by}: it is explained", lines[1].startswith("Not in the audience"), lines)
        said = subprocess.run([self.binary, *words, "--user", "yan", "--data", self.data], capture_output=True, text=True,
                              check=False)
        checks.equal("a user without devices: exit code", said.returncode, 1)

    async def judge(self, trace):
        """Each case with what it is explained with; `trace` answers for a hub and a device."""
        def push(found):
            return found["registrations"][0]

        found = await trace(NEWS, "delivered")
        checks.equal("delivered: the verdict", found["verdict"], "delivered")
        checks.equal("delivered: what decided", push(found)["decidedBy"],
                     [{"tag": "news", "isPresent": True}, {"tag": "quiet", "isPresent": False}])
        checks.equal("delivered: the payload", push(found)["payload"]["body"], '{"aps":{"alert":"Hello"}}')
        checks.equal("delivered: what came since", push(found)["since"]["what"], "changed")

        found = await trace(NEWS, "excluded")
        checks.equal("excluded: the verdict", found["verdict"], "excluded")
        checks.equal("excluded: what decided", push(found)["decidedBy"], [{"tag": "quiet", "isPresent": True}])

        found = await trace(NEWS, "dead")
        checks.equal("dead: the verdict", found["verdict"], "refused")
        [attempt] = push(found)["attempts"]
        checks.equal("dead: the answer", (attempt["status"], attempt["reason"]), (410, "Unregistered"))
        checks.equal("dead: the token", push(found)["token"], "removed")
        checks.equal("dead: what came since", push(found)["since"]["what"], "unregistered")

        found = await trace(TOPIC, "other7")
        checks.equal("wrong topic: the verdict", found["verdict"], "refused")
        [attempt] = push(found)["attempts"]
        checks.equal("wrong topic: the answer", (attempt["status"], attempt["reason"]), (400, "DeviceTokenNotForTopic"))
        checks.equal("wrong topic: the token", push(found)["token"], "quarantined")
        checks.that("wrong topic: it is registered", "since" not in push(found))

        found = await trace(NEWS, "retrying")
        checks.equal("retrying: the verdict", found["verdict"], "retrying")
        checks.that("retrying: the answers", {each["status"] for each in push(found)["attempts"]} == {500}, found)
        checks.that("retrying: the next attempt", push(found)["nextAttemptAt"] > push(found)["attempts"][-1]["at"])

        found = await trace(NEWS, "renewed")
        checks.equal("renewed: the verdict", found["verdict"], "delivered")
        statuses = [each.get("status") for each in push(found)["attempts"]]
        checks.that("renewed: the answers", len(statuses) > 1 and set(statuses[:-1]) == {None} and statuses[-1] == 200, found)
        checks.equal("renewed: what came since", push(found)["since"]["what"], "changed")

        found = await trace(NEWS, "deleted")
        checks.equal("deleted: the verdict", found["verdict"], "delivered")
        checks.equal("deleted: what came since", push(found)["since"]["what"], "deleted")

        found = await trace("secret", "excluded")
        checks.equal("confidential: the verdict", found["verdict"], "delivered")
        payload = push(found)["payload"]
        checks.equal("confidential: the payload", ("body" in payload, payload["size"] > len(SECRET)), (False, True))

        checks.equal("late: the verdict", (await trace(NEWS, "late"))["verdict"], "registeredLater")
        checks.equal("nobody: the verdict", (await trace(NEWS, "nobody"))["verdict"], "unknownDevice")

    async def run(self):
        simulator = Simulator(await self.server.start(), self.data)
        await self.send(simulator)

        async def at_once(name, device):
            return self.why(name, device)

        await self.server.stop()
        await self.judge(at_once)
        self.judge_user()
        await self.server.start()
        hubs = {name: self.hub(name) for name in (NEWS, TOPIC)}
        await self.judge(lambda name, device: hubs.get(name, hubs[NEWS]).trace(self.messages[name], device))
        for hub in hubs.values():
            hub.close()
        code, _ = await self.server.stop()
        checks.equal("SIGTERM ends the server with 0", code, 0)


if __name__ == "__main__":
    checks.finish_on_a_server(Course)
