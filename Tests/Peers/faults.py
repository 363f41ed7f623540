"""What becomes of messages and devices when a push service misbehaves: a real `martlet serve` with its simulator.

For every case a hub of its own gets devices, the simulator a fault, and the hub a message. Then the judge looks at what
each device received, at telemetry, and at which devices are still registered: nothing may be lost that should arrive,
and nothing forgotten that should be kept.

    faults.py MARTLET
"""

import asyncio
import collections
import json
import os
import re
import ssl
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field

import httpx

import hub_client
import processes
from checks import Checks

checks = Checks("faults")

FULL = "DefaultFullSharedAccessSignature"
WAIT = 120


@dataclass
class Case:
    """A fault, and how a hub with so many devices must stand once its message has gone as far as it gets."""

    name: str
    fault: dict | list
    devices: int = 1
    outcomes: dict = field(default_factory=lambda: {"Success": 1})
    # How many messages each device has received.
    received: int = 1
    # Whether the devices are still registered.
    kept: bool = True
    # Whether the fault is for the devices of the case alone, or for whatever connection comes.
    is_scoped: bool = False
    # Devices beside them that are well.
    living: int = 0


def burst(name, count=60, **fault):
    return Case(name, fault, devices=count, outcomes={"Success": count})


def refused(name, outcome, devices=1, kept=True, received=0, **fault):
    outcomes = {outcome: devices} if outcome else {}
    return Case(name, fault, devices, outcomes, received, kept, is_scoped=True)


def unreachable(name, fault):
    """The connection that there is goes, and the next one fails."""
    return Case(name, [{"fault": fault, "next": 1}, {"fault": "goAway", "none": True, "next": 1}])


CASES = [
    # Before there is any connection.
    Case("a goodbye before the first request", {"fault": "goAway", "at": "connect", "next": 1}),
    burst("a goodbye in a burst", fault="goAway", skip=20, next=1),
    burst("a goodbye that gives requests up", fault="goAway", before=5, skip=20, next=1),
    burst("two goodbyes", fault="goAway", twice=True, skip=20, next=1),
    burst("a goodbye in plain words", fault="goAway", debug="text", skip=20, next=1),
    burst("a goodbye without words", fault="goAway", debug="empty", skip=20, next=1),
    burst("a session left half open", fault="goAway", then="stay", skip=20, next=1),
    burst("refused streams", fault="resetStream", code="REFUSED_STREAM", every=7),
    burst("a stream limit that falls and rises", 200, fault="streamLimit", limits=[1, 1000, 1, 0, 100], interval=50,
          skip=20, next=1),
    burst("slow answers", 60, fault="slow", delay=300),
    Case("a connection that is reset before the service has read the request", {"fault": "reset", "next": 1}),
    Case("a reset behind what was delivered", {"fault": "reset", "at": "stored", "next": 1}, received=2),
    unreachable("a certificate for another name", "tlsWrongName"),
    unreachable("a certificate that has expired", "tlsExpired"),
    unreachable("a certificate of an unknown authority", "tlsUntrusted"),
    Case("a token that is too old", {"fault": "expiredToken", "next": 1}, is_scoped=True),
    refused("a device that is gone", "ExpiredChannel", fault="unregistered", kept=False),
    refused("a token that has expired", "ExpiredChannel", fault="ExpiredToken", kept=False),
    refused("a device that was gone before it registered", "ExpiredChannel", fault="unregistered", age=86_400),
    Case("a dead token among living ones", {"fault": "unknownHandle"}, outcomes={"BadChannel": 1, "Success": 2},
         received=0, kept=False, is_scoped=True, living=2),
    refused("a dead token and nothing else", "BadChannel", fault="unknownHandle"),
    refused("dead tokens and nothing else", "BadChannel", 40, fault="unknownHandle"),
    refused("another app's tokens and nothing else", "WrongToken", 40, fault="wrongSender"),
    refused("a message that the service cannot use", "InvalidNotificationFormat", fault="BadTopic"),
    refused("a message that is too large", "InvalidNotificationSize", fault="PayloadTooLarge"),
    refused("an unknown reason", "PnsInterfaceError", fault="unknownReason"),
    refused("one device too often", None, fault="deviceRateLimit"),
    refused("a service that is down", None, fault="unavailable"),
    refused("a service that fails", None, fault="internalError"),
    refused("a service that delivers and fails", None, received=1, fault="unavailable", delivered=True),
    refused("a credential that is not accepted", None, fault="credentialRefused"),
    refused("a key of the other environment", None, fault="BadEnvironmentKeyInToken"),
    refused("the same in the documented spelling", None, fault="BadEnvironmentKeyIdInToken"),
    refused("a topic that is not allowed", None, fault="TopicDisallowed"),
    refused("a clock that is two hours ahead", None, fault="clockSkew", offset=7200),
    refused("a clock that is ten minutes behind", None, fault="clockSkew", offset=-600),
]

# Each takes as long as a request is waited for, so they go on at the same time.
SLOW_CASES = [
    Case("a request that is not answered", {"fault": "unanswered", "next": 1}, is_scoped=True),
    Case("a message that is delivered and not answered", {"fault": "unanswered", "stored": True, "next": 1}, received=2,
         is_scoped=True),
    Case("a connection that falls silent", {"fault": "blackHole", "next": 1}, is_scoped=True),
]


class Simulator:
    """The control interface."""

    def __init__(self, origin, authority):
        self._client = httpx.Client(base_url=origin, verify=ssl.create_default_context(cafile=authority), timeout=60)

    def call(self, method, path, body=None):
        answer = self._client.request(method, f"/simulator/{path}", json=body)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def devices(self, count):
        return [self.call("POST", "devices", {"platform": "apns"})["handle"] for _ in range(count)]

    def inbox(self, handle):
        return self.call("GET", f"devices/{handle}")["inbox"]


class Hub:
    def __init__(self, server, name, rule):
        self._connection = hub_client.Connection(server.port)
        self._token = hub_client.signature(hub_client.namespace_resource(server.port), *rule)
        self._name = name

    async def request(self, method, path, fields=None, body=b""):
        fields = {"Authorization": self._token} | (fields or {})
        target = f"/{self._name}/{path}?{hub_client.API_VERSION}"
        return await self._connection.request(method, target, fields, body)

    async def register(self, handle):
        entry = hub_client.registration_entry(handle, ["all"])
        status, _, body = await self.request("POST", "registrations", {"Content-Type": "application/atom+xml"}, entry)
        if status != 200:
            raise processes.Failed(f"a registration is answered {status}")
        return hub_client.read_entry(body)[0]

    async def is_registered(self, identifier):
        status, _, _ = await self.request("GET", f"registrations/{identifier}")
        return status == 200

    async def send(self, text, **headers):
        fields = {"ServiceBusNotification-Format": "apple", "ServiceBusNotification-Tags": "all"} | headers
        body = json.dumps({"aps": {"alert": text}}).encode()
        status, answered, _ = await self.request("POST", "messages", fields, body)
        if status != 201:
            raise processes.Failed(f"a message is answered {status}")
        return answered["location"].rpartition("/")[2].partition("?")[0]

    async def outcomes(self, message):
        """How many devices came to which outcome."""
        _, _, body = await self.request("GET", f"messages/{message}")
        counts = collections.Counter()
        for outcome in ElementTree.fromstring(body).iter(f"{{{hub_client.SERVICE}}}Outcome"):
            name = outcome.findtext(f"{{{hub_client.SERVICE}}}Name")
            counts[name] += int(outcome.findtext(f"{{{hub_client.SERVICE}}}Count"))
        return dict(counts)

    def close(self):
        self._connection.close()


@dataclass
class Trial:
    """A case with its devices."""

    case: Case
    hub: Hub
    simulator: Simulator
    handles: list
    identifiers: list

    @classmethod
    async def prepare(cls, case, hub, simulator):
        handles = simulator.devices(case.devices)
        for handle in simulator.devices(case.living):
            await hub.register(handle)
        return cls(case, hub, simulator, handles, [await hub.register(handle) for handle in handles])

    @property
    def faults(self):
        faults = self.case.fault if isinstance(self.case.fault, list) else [self.case.fault]
        if not self.case.is_scoped:
            return faults
        # A rule for each device leaves those of other cases alone, whose messages may come again meanwhile.
        return [fault | {"handle": handle} for fault in faults for handle in self.handles]

    async def registered(self):
        return {await self.hub.is_registered(identifier) for identifier in self.identifiers}

    async def judge(self):
        name, message = self.case.name, await self.hub.send(self.case.name)

        async def state():
            happened = all(
                rule["happened"] for rule in self.simulator.call("GET", "faults")["faults"]
                if not self.case.is_scoped or rule["handle"] in self.handles)
            received = {len(self.simulator.inbox(handle)) for handle in self.handles}
            return happened, await self.hub.outcomes(message), received

        expected = (True, self.case.outcomes, {self.case.received})
        deadline = time.monotonic() + WAIT
        while (found := await state()) != expected and time.monotonic() < deadline:
            await asyncio.sleep(0.1)
        checks.equal(f"{name}: the fault, the outcomes and what each device received", found, expected)
        ids = [{delivery["id"] for delivery in self.simulator.inbox(handle)} for handle in self.handles]
        checks.that(f"{name}: a message that comes twice has one id", all(len(each) <= 1 for each in ids))
        if self.case.kept and "Success" not in self.case.outcomes:
            # Nothing tells that the hub has done all that it does about the answer.
            await asyncio.sleep(0.5)
        while (kept := await self.registered()) != {self.case.kept} and time.monotonic() < deadline:
            await asyncio.sleep(0.1)
        checks.equal(f"{name}: the devices are registered", kept, {self.case.kept})
        self.hub.close()


@dataclass
class Succession:
    """Two messages with one collapse key, the older of which gets no answer for one of two devices in time: the newer one
    waits for it, and what is left of the older is not tried again."""

    hub: Hub
    simulator: Simulator
    handles: list

    name = "a message whose place is taken while it is tried"

    @classmethod
    async def prepare(cls, hub, simulator):
        handles = simulator.devices(2)
        for handle in handles:
            await hub.register(handle)
        return cls(hub, simulator, handles)

    @property
    def faults(self):
        return [{"fault": "unanswered", "next": 1, "handle": self.handles[0]}]

    def received(self):
        return [
            [delivery["payload"]["aps"]["alert"] for delivery in self.simulator.inbox(handle)]
            for handle in self.handles
        ]

    async def judge(self):
        older = await self.hub.send("older", **{"apns-collapse-id": "game"})
        deadline = time.monotonic() + WAIT
        while self.received()[1] != ["older"] and time.monotonic() < deadline:
            await asyncio.sleep(0.1)
        newer = await self.hub.send("newer", **{"apns-collapse-id": "game"})
        expected = ({"Success": 1, "Superseded": 1}, {"Success": 2})
        while time.monotonic() < deadline:
            found = await self.hub.outcomes(older), await self.hub.outcomes(newer)
            if found == expected:
                break
            await asyncio.sleep(0.1)
        checks.equal(f"{self.name}: the outcomes of both", found, expected)
        checks.equal(f"{self.name}: what each device received", self.received(), [["newer"], ["older", "newer"]])
        self.hub.close()


async def judge(trials, simulator):
    """Sets the faults of some trials and judges them at the same time."""
    faults = [fault for trial in trials for fault in trial.faults]
    simulator.call("PUT", "faults", {"seed": 1, "faults": faults})
    await asyncio.gather(*(trial.judge() for trial in trials))


async def course(binary, directory):
    data = os.path.join(directory, "data")
    os.mkdir(data, 0o700)
    cases = CASES + SLOW_CASES
    rules = [processes.create_hub(binary, data, f"case{number}")[FULL] for number in range(len(cases) + 1)]
    server = processes.Server(
        binary, data, os.path.join(directory, "server.log"), "--simulator", "--simulator-listen", "127.0.0.1:0")
    try:
        line = await server.start()
        simulator = Simulator(re.search(r" simulator=(\S+)", line)[1], os.path.join(data, "simulator-ca.pem"))
        trials = [
            await Trial.prepare(case, Hub(server, f"case{number}", (FULL, rules[number])), simulator)
            for number, case in enumerate(cases)
        ]
        last = len(cases)
        trials.append(await Succession.prepare(Hub(server, f"case{last}", (FULL, rules[last])), simulator))
        for trial in trials[:len(CASES)]:
            await judge([trial], simulator)
        await judge(trials[len(CASES):], simulator)
        simulator.call("DELETE", "faults")
        code, _ = await server.stop()
        checks.equal("SIGTERM ends the server with 0", code, 0)
    finally:
        if server.process and server.process.returncode is None:
            await server.kill()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as directory:
        checks.finish(course(os.path.abspath(sys.argv[1]), directory))


if __name__ == "__main__":
    main()
