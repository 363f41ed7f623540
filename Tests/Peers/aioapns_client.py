"""PyPI's aioapns against a real `martlet simulate`: what a public client sends and is answered.

    aioapns_client.py MARTLET
"""

import asyncio
import logging
import os
import re
import ssl
import sys
import tempfile
import uuid

import aioapns
import httpx
from aioapns.connection import APNsDevelopmentClientProtocol

import certificates
import processes
from checks import Checks

checks = Checks("aioapns-client")
logging.getLogger("aioapns").setLevel(logging.CRITICAL)
TOPIC, KEY_ID, TEAM_ID = "com.example.app", "ABC123DEFG", "DEF123GHIJ"


class Simulator(processes.Program):
    """`martlet simulate` on a port of its own choosing, with its control interface."""

    def __init__(self, binary, directory):
        command = [binary, "simulate", "--listen", "127.0.0.1:0", "--ca-file", os.path.join(directory, "ca.pem")]
        super().__init__(command, os.path.join(directory, "simulator.log"))

    async def start(self):
        line = await super().start()
        self.port = int(re.search(r" apns=https://[^:\s]+:(\d+)", line)[1])
        control = re.search(r" simulator=(\S+)", line)[1]
        self.ca = re.search(r" ca-file=(\S+)", line)[1]
        trust = ssl.create_default_context(cafile=self.ca)
        self._control = httpx.Client(base_url=control, verify=trust, timeout=60)

    def control(self, method, path, body=None):
        body = body and {"platform": "apns"} | body
        answer = self._control.request(method, f"/simulator/{path}", json=body)
        answer.raise_for_status()
        return answer.json() if answer.content else None


class Client:
    """aioapns on one connection to the simulator."""

    def __init__(self, simulator, key, alpn=False):
        class Protocol(APNsDevelopmentClientProtocol):
            APNS_SERVER = "127.0.0.1"
            APNS_PORT = simulator.port

        context = ssl.create_default_context(cafile=simulator.ca)
        if alpn:
            context.set_alpn_protocols(["h2"])
        self._client = aioapns.APNs(
            key=key, key_id=KEY_ID, team_id=TEAM_ID, topic=TOPIC, ssl_context=context, use_sandbox=True,
            max_connections=1, max_connection_attempts=1, err_func=self._ignore,
        )
        self._client.pool.protocol_class = Protocol

    async def _ignore(self, request, result):
        pass

    async def push(self, device, message=None, kind=aioapns.PushType.ALERT, **options):
        message = {"aps": {"alert": "hi"}} if message is None else message
        request = aioapns.NotificationRequest(device, message, push_type=kind, **options)
        return await self._client.send_notification(request)

    def close(self):
        self._client.pool.close()


async def expect(sentence, answer, status, reason=None):
    result = await answer
    checks.equal(sentence, (result.status, result.description), (str(status), reason))
    return result


async def alerts(client, simulator, device):
    identifier = str(uuid.uuid4())
    message = {"aps": {"alert": "Grüße \U0001f426"}, "order": 17}
    answer = client.push(device, message, notification_id=identifier, time_to_live=60, priority=10, collapse_key="one")
    await expect("an alert is accepted", answer, 200)
    [delivery] = simulator.control("GET", f"devices/{device}")["inbox"]
    checks.equal("its payload is what was sent", delivery["payload"], message)
    checks.equal("its id is the one that was sent", delivery["id"], identifier)
    checks.equal("its collapse id is kept", delivery["headers"].get("apns-collapse-id"), "one")
    silent = {"aps": {"content-available": 1}}
    background = aioapns.PushType.BACKGROUND
    await expect("a background push is accepted", client.push(device, silent, background, priority=5), 200)
    await expect("upper-case hex is the same device", client.push(device.upper()), 200)
    caller = simulator.control("POST", "devices", {"topic": TOPIC + ".voip"})["handle"]
    voip = client.push(caller, kind=aioapns.PushType.VOIP, apns_topic=TOPIC + ".voip")
    await expect("a call is accepted", voip, 200)


async def refusals(client, simulator, device, other):
    push, kinds = client.push, aioapns.PushType
    await expect("an unknown device", push("ab" * 32), 400, "BadDeviceToken")
    await expect("a device that is no hex", push("zz" * 32), 400, "BadDeviceToken")
    await expect("another app's device", push(other), 400, "DeviceTokenNotForTopic")
    await expect("a topic that does not fit", push(device, kind=kinds.VOIP), 400, "BadTopic")
    await expect("a background push in haste", push(device, kind=kinds.BACKGROUND, priority=10), 400, "BadPriority")
    await expect("a priority that is none", push(device, priority=7), 400, "BadPriority")
    await expect("a long collapse id", push(device, collapse_key="c" * 65), 400, "BadCollapseId")
    await expect("no object", push(device, [1]), 400, "PayloadEmpty")
    await expect("a long payload", push(device, {"aps": {"alert": "x" * 4096}}), 413, "PayloadTooLarge")
    await expect("a device marked as busy", push("12" * 28 + "dead0429"), 429, "TooManyRequests")
    await expect("a device marked as gone", push("12" * 28 + "dead0410"), 410, "Unregistered")
    await expect("a device marked as broken", push("12" * 28 + "dead0500"), 500, "InternalServerError")
    await expect("a device marked as closed", push("12" * 28 + "dead0503"), 503, "ServiceUnavailable")
    simulator.control("DELETE", f"devices/{device}")
    gone = await expect("an app that was removed", push(device), 410, "Unregistered")
    checks.that("the moment of the removal is told", isinstance(gone.timestamp, int), gone.timestamp)


async def course(binary, directory):
    simulator = Simulator(binary, directory)
    await simulator.start()
    try:
        keys = [os.path.join(directory, name) for name in ("known.p8", "unknown.p8")]
        public = [certificates.make_signing_key(path) for path in keys]
        known, unknown = [open(path).read() for path in keys]
        for topic in (TOPIC, "com.example.other"):
            app = {"bundleId": topic, "teamId": TEAM_ID, "keyId": KEY_ID}
            simulator.control("POST", "apps", app | {"publicKey": certificates.public_pem(public[0])})
        device, other = [
            simulator.control("POST", "devices", {"topic": topic})["handle"] for topic in (TOPIC, "com.example.other")
        ]
        for alpn in (False, True):
            client = Client(simulator, known, alpn=alpn)
            answer = client.push(other, apns_topic="com.example.other")
            await expect(f"a push {'with' if alpn else 'without'} ALPN", answer, 200)
            client.close()
        client = Client(simulator, known)
        await alerts(client, simulator, device)
        several = await asyncio.gather(*[client.push(device, {"aps": {"alert": str(n)}}) for n in range(300)])
        checks.equal("many at once are accepted", {result.status for result in several}, {"200"})
        await refusals(client, simulator, device, other)
        client.close()
        forged = Client(simulator, unknown)
        await expect("a token signed by another key", forged.push(other), 403, "InvalidProviderToken")
        forged.close()
    finally:
        code, _ = await simulator.stop()
        checks.equal("SIGTERM ends the simulator with 0", code, 0)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as directory:
        checks.finish(course(os.path.abspath(sys.argv[1]), os.path.realpath(directory)))


if __name__ == "__main__":
    main()
