"""Short sends while a backlog of broadcasts is under way, in the same hub and in another, and while the push service of a
third takes everything and answers nothing: how long each takes from its 201 to its arrival at a strict APNs peer, by
that peer's clock, and how much of the broadcasts arrives in between.

    overtaking.py MARTLET [--devices N] [--broadcasts N] [--sends N]
"""

import argparse
import asyncio
import json
import math
import os
import re
import signal
import tempfile
import time

import hub_client
import mass_jobs
import processes
from checks import Checks
from growing_file import GrowingFile

checks = Checks("overtaking")

FULL = "DefaultFullSharedAccessSignature"
# The job of mass_jobs.py goes to a hub of this name.
CROWD, QUIET, SICK = "mass", "quiet", "sick"
WAIT = 200
SICK_SENDS = 200
# What a delivery sends before it stands in line again.
FIRST_PAGE = 50
# Tokens of single devices, beside those of the crowd, which are numbers.
SINGLE = {CROWD: "a" * 64, QUIET: "b" * 64, SICK: "c" * 64}


class Ledger:
    """What arrives at a peer, read as it is written."""

    def __init__(self, path):
        self._file = GrowingFile(path)
        self.broadcast = 0
        self.singles = {}  # mark -> (when it arrived, pushes of broadcasts before it)
        self.connections = {}  # mark -> (how old its connection was, how many had brought anything by then)
        self._opened = set()

    def read(self):
        for line in self._file.lines():
            push = json.loads(line)
            self._opened.add(push["opened"])
            if push["token"] in SINGLE.values() and (mark := re.search(r"mark-\w+", push["payload"])):
                self.singles.setdefault(mark[0], (push["time"], self.broadcast))
                self.connections.setdefault(mark[0], (push["steady"] - push["opened"], len(self._opened)))
            else:
                self.broadcast += 1

    async def arrival(self, mark):
        """When it came, and after how many of the broadcasts' pushes; None where it does not come."""
        deadline = time.monotonic() + WAIT
        while time.monotonic() < deadline:
            self.read()
            if mark in self.singles:
                return self.singles[mark]
            await asyncio.sleep(0.002)
        return None


class Hub:
    def __init__(self, server, name, key):
        self.name = name
        self._connection = hub_client.Connection(server.port, timeout=WAIT)
        self._token = hub_client.signature(hub_client.namespace_resource(server.port), FULL, key)

    async def call(self, method, path, fields, body):
        target = f"/{self.name}/{path}?{hub_client.API_VERSION}"
        fields = {"Authorization": self._token} | fields
        status, _, content = await self._connection.request(method, target, fields, body)
        if status not in (200, 201):
            raise processes.Failed(f"{method} {target} is answered {status}: {content}")

    async def register(self, token, tags):
        await self.call("POST", "registrations", {}, hub_client.registration_entry(token, tags))

    async def send(self, mark, tags=None):
        """When it was answered."""
        fields = {"ServiceBusNotification-Format": "apple", "Content-Type": "application/json;charset=utf-8"}
        if tags:
            fields["ServiceBusNotification-Tags"] = tags
        await self.call("POST", "messages", fields, json.dumps({"aps": {"alert": mark}}).encode())
        return time.time()


class Course:
    def __init__(self, binary, directory, options):
        self._binary, self._directory, self._options = binary, directory, options
        self._data = os.path.join(directory, "data")
        self._keys = {name: processes.create_hub(binary, self._data, name)[FULL] for name in SINGLE}
        # A fast service of many devices takes more at a time than Python answers in a tenth of a second.
        self._peers = {
            name: processes.APNsPeer(os.path.join(directory, name), "--streams", "50") for name in SINGLE}
        self._server = processes.Server(binary, self._data, os.path.join(directory, "server.log"))

    async def run(self):
        try:
            await self._prepare()
            await self._overtake()
            await self._stay_unhindered()
        finally:
            for program in [self._server, *self._peers.values()]:
                if program.process and program.process.returncode is None:
                    await program.kill()

    async def _prepare(self):
        for name, peer in self._peers.items():
            await peer.start()
            processes.martlet(self._binary, "hub", "credential", "set", name, "apns", *peer.credential_arguments(),
                              "--data", self._data)
        await self._server.start()
        self._ledgers = {name: Ledger(peer.ledger) for name, peer in self._peers.items()}
        self._hubs = {name: Hub(self._server, name, key) for name, key in self._keys.items()}
        await asyncio.to_thread(self._import)
        for name, hub in self._hubs.items():
            await hub.register(SINGLE[name], ["user:single"])
            # The first needs a connection and a token.
            await hub.send(f"mark-first{name}", "user:single")
            checks.that(f"a send in {name} arrives", await self._ledgers[name].arrival(f"mark-first{name}"))

    def _import(self):
        port = self._server.port
        url = processes.martlet(self._binary, "container", "create", CROWD, "--data", self._data).strip()
        container = re.sub(r"//[^/]+/", f"//127.0.0.1:{port}/", url)
        blob = container.replace("?", "/in.txt?", 1)
        path = os.path.join(self._directory, "in.txt")
        mass_jobs.write_lines(path, self._options.devices)
        checks.equal("the file is uploaded", mass_jobs.transfer(port, "PUT", blob, path), 201)
        mass_jobs.Hub(port, self._keys[CROWD]).run_job("ImportCreateRegistrations", container, blob)

    async def _overtake(self):
        for number in range(self._options.broadcasts):
            await self._hubs[CROWD].send(f"broadcast {number}", "first")
        # Until a send's first page is through, nobody knows whether it is a long one (Docs/Decisions/0009): so many
        # broadcasts at once are at first as many sends of a page, and whoever comes next stands behind these.
        await self._broadcasts_arrive(6 * FIRST_PAGE * self._options.broadcasts)
        await self._measure(QUIET, "short sends in another hub than the broadcasts", "other")
        await self._measure(CROWD, "short sends in the hub of the broadcasts", "same")

    async def _broadcasts_arrive(self, count):
        ledger = self._ledgers[CROWD]
        before, deadline = ledger.broadcast, time.monotonic() + WAIT
        while ledger.broadcast < before + count and time.monotonic() < deadline:
            ledger.read()
            await asyncio.sleep(0.01)
        checks.that("broadcasts are under way", ledger.broadcast >= before + count)

    async def _measure(self, name, what, word):
        took, overtaken, crowd = [], [], self._ledgers[CROWD]
        for number in range(self._options.sends):
            crowd.read()
            before = crowd.broadcast
            answered = await self._hubs[name].send(f"mark-{word}{number}", "user:single")
            found = await self._ledgers[name].arrival(f"mark-{word}{number}")
            checks.that(f"send {number} of the {what} arrives", found)
            if found is None:
                continue
            crowd.read()
            took.append(max(0, found[0] - answered))
            overtaken.append((found[1] if name == CROWD else crowd.broadcast) - before)
            await asyncio.sleep(0.05)
        rest = self._options.devices * self._options.broadcasts - crowd.broadcast
        checks.that("the broadcasts are far from their end", rest > self._options.devices, rest)
        # The machine may be busy, so what is judged is what went before, not how long it took.
        is_quick = max(overtaken, default=0) <= self._options.devices / 5
        checks.that(f"{what} wait for little of a broadcast", is_quick, overtaken)
        if not is_quick:
            self._explain(name, word)
        self._say(what, took, overtaken)

    def _explain(self, name, word):
        """What a wait that should not be may have come from: a connection that is new, or a pause that the server tells of."""
        for mark, (age, count) in self._ledgers[name].connections.items():
            if mark.startswith(f"mark-{word}"):
                print(f"overtaking: {mark} came on a connection of {age:.1f} s, one of {count}")
        print(self._server.log_tail(), flush=True)

    @staticmethod
    def _say(what, took, overtaken):
        if not took:
            return
        took = sorted(1000 * each for each in took)
        late = took[math.ceil(0.99 * len(took)) - 1]
        print(
            f"overtaking: {what}: {len(took)}, from 201 to arrival median {took[len(took) // 2]:.0f} ms, p99 {late:.0f} ms, "
            f"most {took[-1]:.0f} ms; meanwhile at most {max(overtaken)} pushes of the broadcasts", flush=True)

    async def _stay_unhindered(self):
        sick = self._peers[SICK].process
        sick.send_signal(signal.SIGSTOP)
        marks = [f"mark-sick{number}" for number in range(SICK_SENDS)]
        for mark in marks:
            await self._hubs[SICK].send(mark, "user:single")
        await self._measure(QUIET, "short sends in another hub, while a third hub's service answers nothing", "third")
        await self._measure(CROWD, "short sends among broadcasts, while another hub's service answers nothing", "both")
        ledger = self._ledgers[SICK]
        ledger.read()
        checks.equal("nothing arrived at the stopped peer", [mark for mark in marks if mark in ledger.singles], [])
        sick.send_signal(signal.SIGCONT)
        late = [mark for mark in marks if await ledger.arrival(mark) is None]
        checks.equal("everything arrives once it answers again", late, [])


async def course(options):
    with tempfile.TemporaryDirectory() as directory:
        os.mkdir(os.path.join(directory, "data"), 0o700)
        await Course(os.path.abspath(options.martlet), directory, options).run()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("martlet")
    parser.add_argument("--devices", type=int, default=50_000, help="in the hub of the broadcasts")
    parser.add_argument("--broadcasts", type=int, default=80, help="to all of them, at the same time")
    parser.add_argument("--sends", type=int, default=10, help="short ones of each kind")
    checks.finish(course(parser.parse_args()))
