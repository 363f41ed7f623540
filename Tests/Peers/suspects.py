"""What dead device tokens cost the living where APNs answers each with a stream limit of 1 for the whole connection.

    suspects.py MARTLET

Three hubs send one notification to as many living devices: one has no dead devices; one has five in a hundred that it
knows nothing of; one has as many that were called dead before and kept, which must go on a connection of their own. The
peer, which shares no code with Martlet, answers after a delay and counts. The ratios are printed; they depend on the
machine and are judged loosely.
"""

import asyncio
import json
import os
import secrets

import hub_client
import processes
from checks import Checks, eventually

checks = Checks("suspects")

LIVING, DEAD = 1000, 50
BAD = "dead"
STREAMS = 50
DELAY = 0.02
FULL = "DefaultFullSharedAccessSignature"
HUBS = ("without", "unknown", "known")


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

    async def register(self, number, prefix, *tags):
        handle = prefix + secrets.token_hex(32)[len(prefix):]
        entry = hub_client.registration_entry(handle, tags)
        await self.call("PUT", f"registrations/{number}", {"Content-Type": "application/atom+xml"}, entry)
        return handle.lower()

    async def send(self, tag):
        fields = {"ServiceBusNotification-Format": "apple", "ServiceBusNotification-Tags": tag}
        body = json.dumps({"aps": {"alert": f"{self._name} {tag}"}}).encode()
        answered, _ = await self.call("POST", "messages", fields, body, wanted=201)
        return answered["location"].rpartition("/")[2].partition("?")[0]

    async def is_over(self, message):
        _, content = await self.call("GET", f"messages/{message}")
        return b"<State>Completed</State>" in content


class Course:
    def __init__(self, binary, directory):
        self._binary, self._data = binary, os.path.join(directory, "data")
        os.mkdir(self._data, 0o700)
        self._peer = processes.APNsPeer(
            os.path.join(directory, "peer"), "--bad", BAD, "--fall", "--streams", str(STREAMS), "--delay", str(DELAY))
        self._rules = {name: (FULL, processes.create_hub(binary, self._data, name)[FULL]) for name in HUBS}
        self.server = processes.Server(binary, self._data, os.path.join(directory, "server.log"))

    async def run(self):
        await self._peer.start()
        try:
            for name in HUBS:
                arguments = ["hub", "credential", "set", name, "apns", "--data", self._data]
                processes.martlet(self._binary, *arguments, *self._peer.credential_arguments())
            await self.server.start()
            found = {name: await self._measure(name) for name in HUBS}
        finally:
            code, printed = await self._peer.stop()
        checks.equal("the peer saw no rule broken", code, 0)
        for name, (time, raised, connections) in found.items():
            print(f"suspects: {name}: {LIVING} living devices in {time:.2f} s over {connections} connections,"
                  f" {found['without'][0] / time:.2f} of the rate without dead ones;"
                  f" {raised} of them with all {STREAMS} streams", flush=True)
        print(f"suspects: {printed.strip()}", flush=True)

    async def _measure(self, name):
        """Seconds from the first to the last living device, after a first notification has opened a connection."""
        hub = Hub(self.server, name, self._rules[name])
        living = set()
        for number in range(LIVING):
            living.add(await hub.register(number, "a", "all"))
            # Among the living, because an audience comes in the order of registration.
            if name != "without" and number % (LIVING // DEAD) == 0:
                await hub.register(f"{BAD}{number}", BAD, "all", "dead")
        if name == "known":
            # All that were answered were called dead: nobody believes it, and they are kept.
            await self._finish(hub, await hub.send("dead"))
        message = await hub.send("all")
        alert = f"{name} all"
        await eventually(lambda: len(self._delivered(alert)) == LIVING, timeout=120)
        delivered = self._delivered(alert)
        checks.equal(f"{name}: every living device has it", {line["token"] for line in delivered}, living)
        checks.equal(f"{name}: and has it once", len(delivered), LIVING)
        await self._finish(hub, message)
        raised = sum(line["limit"] == STREAMS for line in delivered)
        opened = {line["opened"] for line in delivered}
        if name == "known":
            checks.that("known: the living keep their streams", LIVING - raised <= 2 * len(opened), LIVING - raised)
        times = sorted(line["time"] for line in delivered)
        return times[-1] - times[0], raised, len(opened)

    async def _finish(self, hub, message):
        for _ in range(2400):
            if await hub.is_over(message):
                return
            await asyncio.sleep(0.05)
        checks.that("a notification is over within two minutes", False)

    def _delivered(self, alert):
        with open(self._peer.ledger) as ledger:
            lines = [json.loads(line) for line in ledger if line.endswith("\n")]
        return [line for line in lines if json.loads(line["payload"])["aps"]["alert"] == alert]


if __name__ == "__main__":
    checks.finish_on_a_server(Course)
