"""What becomes of messages and devices of FCM, WNS, MPNS, ADM and Web Push when the simulator of `martlet serve`
misbehaves. Each case has its service of a hub to itself, with one device for which the simulator has a fault.

    service_faults.py MARTLET
"""

import asyncio
import json
import os
import re
import ssl
import sys
import tempfile
from dataclasses import dataclass, field
from urllib.parse import quote

import httpx

import processes
from checks import Checks, eventually
from service_answers import MESSAGES, RULE, SETTLING, Hub, count

checks = Checks("service-faults")
SERVICES = ("wns", "mpns", "adm", "fcmv1")
# What any 200 satisfies, by its document, and whose handles nobody makes up.
ALL = (*SERVICES, "browser")
TOKEN_SERVICES = ("wns", "adm", "fcmv1")

# One of them has a quota of a minute besides, for which it never says less.
TOO_MUCH = {"wns": "rateLimit", "mpns": "rateLimit", "adm": "rateLimit", "fcmv1": "QUOTA_EXCEEDED",
            "browser": "rateLimit"}


@dataclass
class Case:
    name: str
    service: str
    fault: dict | None = None
    # What the message comes to; None where it is kept for later.
    outcome: str | None = "Success"
    received: int = 1
    kept: bool = True
    device: dict = field(default_factory=dict)
    # What a made-up handle ends with.
    marker: str = ""


def refused(name, service, fault, outcome, kept=True, device=None, **more):
    return Case(name, service, {"fault": fault} | more, outcome, 0, kept, device or {})


# Each for its own device, all at the same time.
CASES = [
    *[Case("nothing", service) for service in ALL],
    Case("a channel with a certificate", "mpns", device={"serviceName": "push.example.com"}),
    *[Case("a reset before the service has read", service, {"fault": "reset", "next": 1}) for service in ALL],
    *[Case("a reset behind what was taken", service, {"fault": "reset", "at": "stored", "next": 1}, received=2)
      for service in ALL],
    *[Case("an answer that breaks off", service, {"fault": "truncated", "next": 1}, received=2)
      for service in ALL],
    *[refused("a page for people", service, "html", None, status=502) for service in ALL],
    *[refused("a page that looks like success", service, "html", None, status=200) for service in SERVICES],
    *[refused("nothing at all", service, "empty", None, status=200) for service in SERVICES],
    *[refused("a redirection", service, "redirect", "PnsInterfaceError") for service in ALL],
    *[Case("slow answers", service, {"fault": "slow", "delay": 500}) for service in ALL],
    *[Case(f"a marked handle, {marker}", service, None, outcome, received, kept, marker=marker)
      for service in SERVICES for marker, outcome, received, kept in (
          ("~unregistered", "ExpiredChannel", 0, False), ("~reset", None, 0, True), ("~slow200", "Success", 1, True))],
    *[refused("a service that fails", service, "internalError", None) for service in ALL],
    *[refused("a reason that nobody knows", service, "unknownReason", "PnsInterfaceError") for service in ALL],
    *[refused("a device that is gone", service, "unregistered", "ExpiredChannel", False) for service in ALL],
    refused("an unknown channel", "wns", "unknownHandle", "BadChannel", False),
    refused("an unknown registration id", "adm", "unknownHandle", "BadChannel", False),
    refused("an unknown registration token", "fcmv1", "unknownHandle", "BadChannel", False),
    *[refused("another app's device", service, "wrongSender", outcome, False)
      for service, outcome in (("wns", "WrongToken"), ("mpns", "WrongToken"), ("adm", "BadChannel"), ("fcmv1", "WrongToken"))],
    refused("an unknown subscription", "browser", "unknownHandle", "ExpiredChannel", False),
    *[refused(f"a key that {maker} does not take", "browser", fault, None, device={"service": maker})
      for maker in ("mozilla", "safari", "chromium", "edge") for fault in ("credentialRefused", "wrongSender")],
    *[refused(f"too much for {maker}", "browser", "deviceRateLimit", None, device={"service": maker})
      for maker in ("mozilla", "safari", "chromium", "edge")],
    Case("a service that delivers and fails", "browser",
         {"fault": "unavailable", "delivered": True, "retryAfter": 1, "next": 1}, received=2),
    refused("a clock that is a day ahead", "browser", "clockSkew", None, offset=86_400),
    refused("thrown away", "wns", "dropped", "Dropped"), refused("thrown away", "mpns", "dropped", "Dropped"),
    refused("too much for a channel", "wns", "deviceRateLimit", None),
    refused("too much for a device", "fcmv1", "deviceRateLimit", None),
    refused("too much for a project", "fcmv1", "rateLimit", None),
    refused("a project without permission", "fcmv1", "PERMISSION_DENIED", None),
    refused("a project that there is not", "fcmv1", "NOT_FOUND", None),
    refused("another service's credential", "fcmv1", "THIRD_PARTY_AUTH_ERROR", "InvalidCredentials"),
    refused("a message that is too big", "fcmv1", "TOO_BIG", "InvalidNotificationSize"),
    refused("a full queue", "mpns", "QueueFull", None), refused("the daily limit", "mpns", "deviceRateLimit", None),
    refused("a phone that is away", "mpns", "DeviceInactive", None),
    refused("a device that is away", "wns", "DeviceUnreachable", None),
    refused("an app that is shut out", "wns", "DomainBlocked", None),
    refused("a message that is none", "adm", "InvalidData", "InvalidNotificationFormat"),
    refused("a message that is too large", "adm", "MessageTooLarge", "InvalidNotificationSize"),
    *[Case("a token that has died", service, {"fault": "expiredToken", "next": 1}) for service in TOKEN_SERVICES],
    *[refused("a token that is refused again and again", service, "expiredToken", None) for service in TOKEN_SERVICES],
    *[Case("too much, until a second is over", service, {"fault": fault, "retryAfter": 1, "next": 1})
      for service, fault in TOO_MUCH.items()],
    *[Case("too much, until a date", service, {"fault": fault, "retryAfter": 1, "form": "date", "next": 1})
      for service, fault in TOO_MUCH.items()],
    Case("a registration id that is replaced", "adm", {"fault": "replacedHandle", "next": 1}, received=0),
]

# Of connections: a certificate meets whichever comes next, and an answer is waited for half a minute.
CONNECTION_CASES = [
    *[Case("a request that is not answered", service, {"fault": "unanswered", "next": 1}) for service in ALL],
    *[Case(f"a certificate that is no good, {fault}", service, {"fault": fault, "next": 1})
      for service in ALL for fault in ("tlsWrongName", "tlsExpired", "tlsUntrusted")],
]

# Of the token endpoints, which a hub asks once: one after the other.
TOKEN_CASES = [
    Case(name, service, fault, outcome, received)
    for name, fault, outcome, received in (
        ("a lifetime as text", {"fault": "textualLifetime"}, "Success", 1),
        ("a token endpoint that is down for a second", {"fault": "unavailable", "retryAfter": 1}, "Success", 1),
        ("a token that is no JSON", {"fault": "malformedToken"}, None, 0),
        ("a client that is refused", {"fault": "tokenRefused"}, None, 0),
    ) for service in TOKEN_SERVICES
]


class Simulator:
    def __init__(self, origin, authority):
        self._client = httpx.Client(base_url=origin, verify=ssl.create_default_context(cafile=authority), timeout=60)

    def call(self, method, path, body=None):
        answer = self._client.request(method, f"/simulator/{path}", json=body)
        if answer.is_error:
            raise processes.Failed(answer.text)
        return answer.json() if answer.content else None

    def device(self, case):
        if case.marker:
            return self._made_up(case.service) + case.marker
        return self.call("POST", "devices", {"platform": case.service} | case.device)["handle"]

    def _made_up(self, service):
        origin = self.call("GET", "services")[service]["origin"]
        name = os.urandom(9).hex()
        return {"wns": f"{origin}/?token=", "mpns": f"{origin}/throttledthirdparty/01.00/", "adm": "amzn1.",
                "fcmv1": "token:"}[service] + name

    def inbox(self, handle):
        return self.call("GET", f"device?handle={quote(handle, safe='')}")["inbox"]


async def judge(case, hub, simulator, handle):
    name, device = f"{case.service}, {case.name}", case.service
    # A browser's handle is an object, which the simulator writes as a text.
    channel = json.loads(handle) if case.service == "browser" else handle
    status, sentence = await hub.register(case.service, device, channel)
    checks.that(f"{name}: the device is registered", status == 200, sentence)
    message = await hub.send(case.service, device)
    wanted = count(case.outcome) if case.outcome else ["<State>Processing</State>"]
    checks.that(f"{name}: the message comes to {case.outcome or 'wait'}", await hub.comes_to(message, *wanted))
    if case.received:
        received = await eventually(lambda: len(simulator.inbox(handle)) == case.received)
        checks.that(f"{name}: it is received {case.received} times", received)
        body = MESSAGES[case.service][2]
        forms = (body, {"data": {"m": "hi"}})
        strange = [one["payload"] for one in simulator.inbox(handle) if one["payload"] not in forms]
        checks.equal(f"{name}: it is the message", strange, [])
    elif not case.marker:
        checks.equal(f"{name}: nothing is received", simulator.inbox(handle), [])
    if not case.kept:
        await prove(name, case.service, hub, simulator)
        checks.that(f"{name}: the device is removed", await hub.drops(device))
    elif case.fault and case.fault["fault"] == "replacedHandle":
        await replaced(name, hub, simulator, handle)
    else:
        if case.outcome != "Success":
            await asyncio.sleep(SETTLING)
        checks.equal(f"{name}: the device is kept", await hub.channel(device), channel)


async def prove(name, service, hub, simulator):
    """A device that is well shows that it is not the hub that is wrong."""
    handle = simulator.call("POST", "devices", {"platform": service})["handle"]
    living = f"{service}-living"
    await hub.register(service, living, json.loads(handle) if service == "browser" else handle)
    message = await hub.send(service, living)
    checks.that(f"{name}: another device is served", await hub.comes_to(message, *count("Success")))


def rule(case, handle):
    """The fault of a case, for its own device where devices are told apart by then."""
    scope = {} if case.fault["fault"].startswith("tls") else {"handle": handle}
    return case.fault | {"service": case.service} | scope


async def replaced(name, hub, simulator, old):
    for _ in range(500):
        if (new := await hub.channel("adm")) != old:
            break
        await asyncio.sleep(0.02)
    message = await hub.send("adm", "adm")
    checks.that(f"{name}: the next arrives", await hub.comes_to(message, *count("Success")))
    checks.equal(f"{name}: both are with the new id", len(simulator.inbox(new)), 2)


async def course(binary, directory):
    data = os.path.join(directory, "data")
    os.mkdir(data, 0o700)
    cases = CASES + CONNECTION_CASES + TOKEN_CASES
    # A hub has one case of each service, which are nothing to each other.
    numbers = [sum(other.service == case.service for other in cases[:place]) for place, case in enumerate(cases)]
    keys = [processes.create_hub(binary, data, f"case{number}")[RULE] for number in range(max(numbers) + 1)]
    server = processes.Server(
        binary, data, os.path.join(directory, "server.log"), "--simulator", "--simulator-listen", "127.0.0.1:0")
    try:
        line = await server.start()
        simulator = Simulator(re.search(r" simulator=(\S+)", line)[1], os.path.join(data, "simulator-ca.pem"))
        hubs = [Hub(server.port, keys[number], f"case{number}") for number in numbers]
        handles = [simulator.device(case) for case in cases]
        trials = list(zip(cases, hubs, [simulator] * len(cases), handles))
        # The simulator takes no more than a hundred faults at a time.
        for group in (
            [trial for trial in trials[:len(CASES)] if trial[0].service != "browser"],
            [trial for trial in trials[:len(CASES)] if trial[0].service == "browser"],
            trials[len(CASES):-len(TOKEN_CASES)],
        ):
            faults = [rule(case, handle) for case, _, _, handle in group if case.fault]
            simulator.call("PUT", "faults", {"seed": 1, "faults": faults})
            await asyncio.gather(*[judge(*trial) for trial in group])
            missed = [one["fault"] for one in simulator.call("GET", "faults")["faults"] if not one["happened"]]
            checks.equal(f"every fault of {len(group)} cases has happened", missed, [])
        trials = trials[-len(TOKEN_CASES):]
        for number in range(0, len(trials), len(TOKEN_SERVICES)):
            some = trials[number:number + len(TOKEN_SERVICES)]
            faults = [case.fault | {"service": case.service, "endpoint": "token", "next": 1} for case, *_ in some]
            simulator.call("PUT", "faults", {"seed": 1, "faults": faults})
            await asyncio.gather(*[judge(*trial) for trial in some])
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
