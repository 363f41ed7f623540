"""Hubs on two PostgreSQL clusters: one of ten is moved while clients register devices and send, and the node that moves it is
killed at moments chosen by chance.

Two nodes serve. Clients write to all hubs through both, and a strict APNs notes what arrives. Hubs move to the second cluster
and back. Then must hold:

    every registration that was answered with success is there, with its last tags, through both nodes
    every notification that was accepted has arrived at each device that was registered before it
    only the hub that moved refused writes, for seconds, with 503 and Retry-After
    a move whose node was killed leaves the hub on one cluster, where it can be written to, and the next move succeeds
    nodes whose COMMITs have waited for a standby go on, and none is taken for dead

    clusters.py MARTLET [--moves N] [--kills N] [--hang SECONDS] [--seed N]
"""

import argparse
import asyncio
import collections
import contextlib
import json
import os
import random
import secrets
import subprocess
import tempfile
import time

import hub_client
import postgres
import processes
from checks import Checks
from growing_file import GrowingFile

checks = Checks("clusters")

RULE = "DefaultFullSharedAccessSignature"
XML = {"Content-Type": "application/atom+xml;type=entry;charset=utf-8"}
HUBS = 10
PATIENCE = 60  # seconds for what is owed to arrive, and for a hub to be writable again
SECOND = "martlet_two"


class Hub:
    def __init__(self, name, key):
        self.name, self.key = name, key
        self.devices, self.messages = {}, {}
        self.statuses = collections.Counter()
        self.longest, self.last = 0, time.monotonic()

    def succeed(self):
        now = time.monotonic()
        self.longest, self.last = max(self.longest, now - self.last), now


class Client:
    def __init__(self, hub, nodes, number, chance):
        self._hub, self._nodes, self._random = hub, nodes, random.Random(chance.getrandbits(64))
        self._devices, self._number, self._count = [], number, 0
        self._connections = {}

    async def request(self, method, path, fields, body=b""):
        node = self._random.choice(self._nodes)
        token = hub_client.signature(hub_client.namespace_resource(node.port), RULE, self._hub.key)
        known = self._connections.get(node.port)
        connection = known or self._connections.setdefault(node.port, hub_client.Connection(node.port))
        try:
            status, answered, _ = await connection.request(
                method, f"/{self._hub.name}/{path}?{hub_client.API_VERSION}", {"Authorization": token} | fields, body)
        except hub_client.Disconnected:
            return None, {}
        self._hub.statuses[status] += 1
        if status == 503:
            checks.that("a refusal says when to try again", answered.get("retry-after", "").isdigit(), answered)
        elif status < 300:
            self._hub.succeed()
        return status, answered

    async def run(self, is_over):
        while not is_over.is_set():
            if self._devices and self._random.random() < 0.3:
                await self._send()
            else:
                await self._register()
            await asyncio.sleep(self._random.uniform(0, 0.03))
        for connection in self._connections.values():
            connection.close()

    async def _register(self):
        """A new device, or other tags of an old one. Repeated until it is answered, as a device does."""
        if len(self._devices) < 8:
            digits = [f"{self._random.randrange(10**18, 10**19)}" for _ in range(2)]
            self._devices.append((f"{digits[0]}-{digits[1]}-1", f"{self._random.getrandbits(256):064x}"))
        identifier, token = self._random.choice(self._devices)
        self._count += 1
        tags = [f"user-{self._number}", f"revision-{self._count}"]
        entry = hub_client.registration_entry(token, tags)
        while (await self.request("PUT", f"registrations/{identifier}", XML, entry))[0] != 200:
            await asyncio.sleep(0.1)
        self._hub.devices[identifier] = (token, set(tags))

    async def _send(self):
        key = secrets.token_hex(8)
        owed = {token for _, token in self._devices if any(token == each for each, _ in self._hub.devices.values())}
        fields = {"ServiceBusNotification-Format": "apple", "Content-Type": "application/json;charset=utf-8",
                  "ServiceBusNotification-Tags": f"user-{self._number}", "Idempotency-Key": key}
        body = json.dumps({"aps": {"alert": "x"}, "key": key}).encode()
        status, _ = await self.request("POST", "messages", fields, body)
        if status == 201:
            self._hub.messages[key] = owed


class Course:
    def __init__(self, options, folder):
        self._options, self._folder = options, folder
        self._random = random.Random(options.seed)
        self._environment = {**os.environ, "MARTLET_SECRET_KEY": secrets.token_hex(32)}
        self._peer = processes.APNsPeer(os.path.join(folder, "apns"), "--client", "martlet")
        self._nodes, self._hubs = [], []
        self._cluster = None

    async def run(self):
        try:
            await self._prepare()
            await self._load()
            await self._settle()
        finally:
            for program in [*self._nodes, self._peer]:
                if program.process and program.process.returncode is None:
                    program.process.kill()
            if self._cluster:
                self._cluster.stop()

    def _martlet(self, *arguments, node=0, stdin=None):
        return processes.martlet(self._options.martlet, *arguments, "--data", self._nodes[node].data, stdin=stdin)

    async def _prepare(self):
        # COMMITs wait for a standby only where there can be one.
        self._cluster = postgres.ReplicatedCluster() if self._options.hang else postgres.Cluster()
        self._cluster.query(
            f"CREATE DATABASE {SECOND} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'")
        await self._peer.start()
        for number in range(2):
            data = os.path.join(self._folder, f"node-{number}")
            self._nodes.append(processes.Server(
                self._options.martlet, data, f"{data}.log", "--database", self._cluster.url, "--node", f"node-{number}",
                environment=self._environment))
            await self._nodes[number].start()
            self._nodes[number].listen_again()
        address = os.path.join(self._folder, "second.url")
        with open(address, "w") as file:
            file.write(self._cluster.url.replace("/martlet?", f"/{SECOND}?"))
        checks.that("a cluster has a number",
                    "Cluster 2" in await asyncio.to_thread(self._martlet, "cluster", "add", "--address-file", address))
        for number in range(HUBS):
            key = await asyncio.to_thread(
                processes.create_hub, self._options.martlet, self._nodes[number % 2].data, f"hub-{number}")
            await asyncio.to_thread(
                self._martlet, "hub", "credential", "set", f"hub-{number}", "apns", *self._peer.credential_arguments())
            self._hubs.append(Hub(f"hub-{number}", key[RULE]))
        await asyncio.sleep(2)

    async def _load(self):
        is_over = asyncio.Event()
        clients = [Client(hub, self._nodes, f"{hub.name}-{number}", self._random)
                   for hub in self._hubs for number in range(2)]
        for hub in self._hubs:
            hub.succeed()
        tasks = [asyncio.create_task(client.run(is_over)) for client in clients]
        try:
            await asyncio.sleep(2)
            moved = self._hubs[3]
            for number in range(self._options.moves):
                await self._move(moved, 2 if number % 2 == 0 else 1)
                await asyncio.sleep(1)
            others = {hub.name: hub.statuses[503] for hub in self._hubs if hub is not moved and hub.statuses[503]}
            checks.equal("only the hub that moved refused writes", others, {})
            checks.that("and for seconds", moved.longest < 60, moved.longest)
            print(f"clusters: {sum(sum(hub.statuses.values()) for hub in self._hubs)} requests, "
                  f"{moved.statuses[503]} of {moved.name} refused; longest time without a success {moved.longest:.1f} s; "
                  f"of others {max(hub.longest for hub in self._hubs if hub is not moved):.1f} s", flush=True)
            for number in range(self._options.kills):
                await self._kill_a_move(self._hubs[4])
            if self._options.hang:
                await self._hang()
        finally:
            is_over.set()
            await asyncio.gather(*tasks, return_exceptions=True)
        for task in tasks:
            checks.that("a client does not fail", task.exception() is None, task.exception())

    async def _move(self, hub, cluster):
        done = json.loads(await asyncio.to_thread(
            self._martlet, "hub", "move", hub.name, "--cluster", str(cluster), "--json", node=self._random.randrange(2)))
        checks.equal("a move ends", done["phase"], "done")
        print(f"clusters: {hub.name} on cluster {cluster}: {done['compared']} rows, {done['copied']} copied, writes refused "
              f"for {done['refusedMilliseconds']} ms", flush=True)

    def _place(self, hub):
        """The cluster of a hub, and whether it is being moved."""
        return self._cluster.query(
            f"SELECT cluster, move IS NOT NULL FROM martlet.hubs WHERE name = '{hub.name}'").split("|")

    async def _kill_a_move(self, hub):
        """Kills the node that moves the hub, at any moment."""
        before = int((await asyncio.to_thread(self._place, hub))[0])
        node = self._random.randrange(2)
        command = [self._options.martlet, "hub", "move", hub.name, "--cluster", str(3 - before), "--quiet", "--data",
                   self._nodes[node].data]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as move:
            await asyncio.sleep(self._random.uniform(0, 5))
            await self._nodes[node].kill()
            await asyncio.to_thread(move.wait)
        await self._nodes[node].start()
        deadline = time.monotonic() + PATIENCE
        while (await asyncio.to_thread(self._place, hub))[1] == "t" and time.monotonic() < deadline:
            await asyncio.sleep(0.2)
        began = time.monotonic()
        while hub.last < began and time.monotonic() < deadline:
            await asyncio.sleep(0.1)
        checks.that("a hub whose move was killed can be written to", hub.last >= began, await asyncio.to_thread(
            self._place, hub))
        place = int((await asyncio.to_thread(self._place, hub))[0])
        print(f"clusters: a move of {hub.name} from {before} to {3 - before} was killed: it is on {place}", flush=True)
        await self._move(hub, 3 - place)

    async def _incarnations(self):
        answer = json.loads(await asyncio.to_thread(self._martlet, "nodes", "--json"))
        return sorted(node["incarnation"] for node in answer["nodes"] if node["isAlive"])

    async def _hang(self):
        """Lets all COMMITs wait for a standby that is not there, and then go on. No node may take another for dead."""
        before = await self._incarnations()
        for setting in ("SET synchronous_standby_names = 'nobody'", "RESET synchronous_standby_names"):
            await asyncio.to_thread(self._cluster.query, f"ALTER SYSTEM {setting}")
            await asyncio.to_thread(self._cluster.query, "SELECT pg_reload_conf()")
            # After the end, a node has time to take another for dead, and to start anew.
            await asyncio.sleep(self._options.hang if "nobody" in setting else 15)
        checks.equal("the nodes are the same after COMMITs have waited", await self._incarnations(), before)

    async def _settle(self):
        ledger = GrowingFile(self._peer.ledger)
        arrived = collections.Counter()
        owed = {(key, token) for hub in self._hubs for key, tokens in hub.messages.items() for token in tokens}
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            for line in map(json.loads, ledger.lines()):
                arrived[json.loads(line["payload"])["key"], line["token"]] += 1
            if owed <= set(arrived):
                break
            await asyncio.sleep(0.5)
        missing = owed - set(arrived)
        checks.equal("everything that was accepted has arrived", len(missing), 0)
        twice = sum(count > 1 for count in arrived.values())
        wrong, count = [], 0
        for node in self._nodes:
            connection = hub_client.Connection(node.port)
            for hub in self._hubs:
                token = hub_client.signature(hub_client.namespace_resource(node.port), RULE, hub.key)
                for identifier, (_, tags) in hub.devices.items():
                    status, _, content = await connection.request(
                        "GET", f"/{hub.name}/registrations/{identifier}?{hub_client.API_VERSION}", {"Authorization": token})
                    count += 1
                    if status != 200 or hub_client.read_entry(content)[2] != tags:
                        wrong.append((hub.name, identifier, status))
            connection.close()
        checks.equal("every registration is as it was answered", wrong, [])
        print(f"clusters: {len(owed)} pushes owed, {len(missing)} lost, {twice} came twice; {count} registrations read",
              flush=True)
        with contextlib.suppress(processes.Failed):
            print(await asyncio.to_thread(self._martlet, "cluster", "list"), end="", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("martlet")
    parser.add_argument("--moves", type=int, default=2)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--hang", type=float, default=25, help="seconds for which COMMITs wait; 0 for not at all")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    options = parser.parse_args()
    options.martlet = os.path.abspath(options.martlet)
    print(f"clusters: seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        checks.finish(Course(options, folder).run())


if __name__ == "__main__":
    main()
