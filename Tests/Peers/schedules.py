"""Scheduled notifications outlive SIGKILL: what was accepted goes out once its time has come, whoever runs then.

A real `martlet serve` takes schedules and is killed before any is due. Some fall due while nothing runs, some after the
next start; a withdrawn one must not go out, one that was replaced goes out as what replaced it, one that has expired by then
not at all, and one for next year must still wait.

    schedules.py MARTLET
"""

import asyncio
import collections
import json
import os
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

import hub_client
import processes
from checks import Checks, eventually

checks = Checks("schedules")

HUB = "calendar"
TOKEN = "0C" * 32
CROWD = 120  # due at the same moment, more than the server begins at a time
WAIT = 60


class Calendar:
    """The hub, its one device and what was scheduled for it."""

    def __init__(self, server, rule, ledger):
        self._server, self._rule, self._ledger = server, rule, ledger

    def connect(self):
        self._connection = hub_client.Connection(self._server.port)
        self._token = hub_client.signature(hub_client.namespace_resource(self._server.port), *self._rule)

    async def request(self, method, path, fields=None, body=b""):
        fields = {"Authorization": self._token} | (fields or {})
        return await self._connection.request(method, f"/{HUB}/{path}?{hub_client.API_VERSION}", fields, body)

    async def register(self):
        entry = hub_client.registration_entry(TOKEN, ["all"])
        status, _, _ = await self.request("POST", "registrations", {"Content-Type": "application/atom+xml"}, entry)
        checks.equal("the device registers", status, 200)

    async def schedule(self, name, due, replaced=None, expires=None):
        """Schedules a notification of this name, perhaps in the place of another; its id."""
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(due)) + f".{int(due % 1 * 1000):03d}Z"
        fields = {"ServiceBusNotification-Format": "apple", "ServiceBusNotification-ScheduleTime": moment}
        if expires:
            fields["Martlet-Expires"] = expires
        body = json.dumps({"aps": {"alert": name}}).encode()
        method, path, expected = ("PUT", f"/{replaced}", 200) if replaced else ("POST", "", 201)
        status, answered, _ = await self.request(method, f"schedulednotifications{path}", fields, body)
        if status != expected:
            checks.equal(f"{name} is accepted", status, expected)
        return answered.get("location", "").rpartition("/")[2].partition("?")[0]

    async def state(self, identifier):
        status, _, body = await self.request("GET", f"messages/{identifier}")
        checks.equal("telemetry is there", status, 200)
        return ElementTree.fromstring(body).findtext(f"{{{hub_client.SERVICE}}}State")

    def arrived(self):
        """When the device got the notification of each name."""
        times = collections.defaultdict(list)
        if os.path.exists(self._ledger):
            with open(self._ledger, encoding="utf-8") as lines:
                for delivery in (json.loads(line) for line in lines if line.endswith("\n")):
                    times[json.loads(delivery["payload"])["aps"]["alert"]].append(delivery["time"])
        return times


async def course(binary, directory):
    peer = processes.APNsPeer(os.path.join(directory, "apns"))
    data = os.path.join(directory, "data")
    server = processes.Server(binary, data, os.path.join(directory, "server.log"))
    os.mkdir(data, 0o700)
    await peer.start()
    try:
        rules = processes.create_hub(binary, data, HUB)
        credential = ["hub", "credential", "set", HUB, "apns", *peer.credential_arguments(), "--data", data]
        processes.martlet(binary, *credential)
        await server.start()
        full = "DefaultFullSharedAccessSignature"
        await outlive(server, Calendar(server, (full, rules[full]), peer.ledger))
        code, _ = await server.stop()
        checks.equal("SIGTERM ends the server with 0", code, 0)
    finally:
        if server.process and server.process.returncode is None:
            await server.kill()
        code, counts = await peer.stop()
        checks.equal("the APNs peer has nothing to complain of", code, 0)
        print(f"schedules: {counts.strip()}")


async def outlive(server, calendar):
    calendar.connect()
    await calendar.register()
    early = int(time.time()) + 9
    crowd = [f"crowd {number}" for number in range(CROWD)]
    for name in crowd:
        await calendar.schedule(name, early)
    withdrawn = await calendar.schedule("withdrawn", early)
    status, _, _ = await calendar.request("DELETE", f"schedulednotifications/{withdrawn}")
    checks.equal("a schedule is withdrawn", status, 200)
    expired = await calendar.schedule("expired by then", early, expires="PT1S")
    distant = await calendar.schedule("next year", time.time() + 365 * 86_400)
    late = early + 4
    await calendar.schedule("after the start", late)
    old = await calendar.schedule("replaced", early)
    replacement = await calendar.schedule("in its place", late, replaced=old)
    checks.equal("what replaces a schedule has its id", replacement, old)
    is_untouched = time.time() < early
    await server.kill()

    await asyncio.sleep(max(0, early + 1.5 - time.time()))
    if is_untouched:
        checks.equal("nothing goes out before its time or without a server", dict(calendar.arrived()), {})
    else:
        print("schedules: this machine was too slow to kill the server before the first time")
    await server.start()
    started = time.time()
    calendar.connect()
    names = {*crowd, "after the start", "in its place"}
    await eventually(lambda: names <= set(calendar.arrived()), WAIT)
    arrived = calendar.arrived()
    if is_untouched:
        checks.equal("all went out but what was withdrawn, replaced or expired", set(arrived), names)
        while (state := await calendar.state(expired)) in ("Scheduled", "Enqueued", "Processing"):
            await asyncio.sleep(0.1)
        checks.equal("what expired while nothing ran is abandoned", state, "Abandoned")
        checks.that("each went out once", all(len(times) == 1 for times in arrived.values()))
    checks.that("none came early", all(times[0] >= early for times in arrived.values()))
    if arrived["after the start"]:
        first = arrived["after the start"][0]
        checks.that("the last one did not come early either", first >= late, first - late)
        print(f"schedules: {CROWD} overdue ones took {max(arrived[name][0] for name in crowd if arrived[name]) - started:.3f} s"
              f" from the start, one with its time ahead came {first - max(late, started):.3f} s after it")
    checks.equal("one for next year still waits", await calendar.state(distant), "Scheduled")
    checks.equal("the withdrawn one is known as such", await calendar.state(withdrawn), "Canceled")
    status, _, _ = await calendar.request(
        "PUT", f"schedulednotifications/{old}", {"ServiceBusNotification-Format": "apple",
        "ServiceBusNotification-ScheduleTime": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime())}, b'{"aps":{}}')
    checks.equal("what has gone out is not replaced", status, 409)
    status, _, _ = await calendar.request("DELETE", f"schedulednotifications/{distant}")
    checks.equal("it can be withdrawn", status, 200)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as directory:
        checks.finish(course(os.path.abspath(sys.argv[1]), os.path.realpath(directory)))


if __name__ == "__main__":
    main()
