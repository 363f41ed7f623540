"""An upgrade of several nodes at one PostgreSQL, node by node, while clients register devices and send: two versions side by
side.

Three nodes of OLD serve. Each of them is stopped in order and started as NEW, on the same port and data directory. On the
way NEW is started while somebody reads all tables, and killed while it starts, and so perhaps while it changes the schema; NEW
is killed while it sends a broadcast, and nodes of OLD go on with it; OLD is started again beside NEW; and the last node of OLD
is killed while it sends a broadcast, or stands still until NEW has taken over, in turn. Clients go through all nodes: half of
them through a load balancer as in Examples/Nodes/haproxy.cfg, and half of them to any node by chance. What is not answered, or
with 503, they repeat under the same Idempotency-Key. Everything of nodes.py must hold, and

    a load balancer sees no request fail because of a node that is stopped in order, whatever its version
    no node refuses a request because of what happens to another
    a start that cannot make its step of the schema gives up, and changes nothing
    OLD is started beside NEW if the schema is not newer than it knows, and else refuses with its sentence and changes nothing
    `martlet nodes` at any node shows all nodes with their versions
    nodes of both versions say the same of a notification, a device and why it arrived

    rolling_upgrade.py OLD NEW [--rounds N] [--seed N]

OLD and NEW may be the same program. With --break the judge is judged: with `losses` the push service loses pushes that it has
said to have taken; with `fences` a node of OLD that stood still is made alive again behind the others' back; with `order` a
node is killed instead of stopped. Each must be found wrong.
"""

import argparse
import asyncio
import collections
import contextlib
import json
import os
import random
import re
import secrets
import subprocess
import time
import xml.etree.ElementTree as ElementTree

import hub_client
import node_history
import nodes
import processes
from nodes import checks

checks.judge = "rolling-upgrade"

NEWER = "The database was written by a newer version of this program"
# Of a start whose step of the schema must wait.
WAITS = "The database did not finish a statement in time"
NODES = 3
BOTH = 4             # seconds for which clients send while both versions serve
PATIENCE = 15        # seconds in which what the nodes say must agree
ASKED = 12           # notifications about which all nodes are asked
TRIES = 10           # starts of NEW, each of which its service manager would repeat
STARTS = 3           # of NEW that are killed
REPEATED = 60        # seconds for which a client repeats a request
LOST = 40            # of so many pushes, one, where the push service loses them
# Examples/Nodes/haproxy.cfg: "inter 1s fall 2 rise 1", "retries 2", "option redispatch".
CHECKED, FALL, RETRIES = 1, 2, 2
# Reads all tables, as pg_dump does, until it is ended.
DUMP = """
    DO $$ BEGIN
        EXECUTE (SELECT 'LOCK TABLE ' || string_agg(format('martlet.%I', tablename), ', ') || ' IN ACCESS SHARE MODE'
                 FROM pg_tables WHERE schemaname = 'martlet');
        PERFORM pg_sleep(60);
    END $$"""
DUMPING = "FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE '%LOCK TABLE%'"
# By what is broken: sentences of which one must be found not to hold.
BROKEN = {
    "losses": {"nothing that was accepted is lost"},
    "fences": {nodes.TWICE, nodes.LATE, nodes.FOREIGN},
    "order": {nodes.TWICE, "nothing failed behind the load balancer"},
}


class Version:
    """One of the two programs, under the name by which the push service knows its senders."""

    def __init__(self, path, folder):
        os.makedirs(folder)
        self.binary = os.path.join(folder, "martlet")
        os.symlink(os.path.abspath(path), self.binary)
        told = processes.martlet(self.binary, "--version")
        #: As `martlet nodes` calls it: with the commit, which tells two builds of one version apart.
        self.name, commit = re.match(r"martlet (\S+) \((?:([0-9a-f]{7}\S*), )?", told).groups()
        self.build = f"{self.name} ({commit})" if commit else self.name

    def is_called(self, listed):
        return listed in (self.name, self.build)


class Node(nodes.Node):
    """`version` is what runs there, or is to be started next."""

    def use(self, version):
        self.version, self.binary = version, version.binary
        self._command[0] = version.binary


class Balancer:
    """Which nodes a load balancer would send requests to."""

    def __init__(self, served):
        self._nodes, self._failures = served, collections.Counter()

    async def run(self):
        await asyncio.gather(*[self._watch(node) for node in self._nodes])

    async def _watch(self, node):
        while True:
            status = await health(node)
            self._failures[node.name] = 0 if status == 200 else self._failures[node.name] + 1
            await asyncio.sleep(CHECKED)

    def choose(self, chance, tried):
        """A node that has not been tried for this request, if there is one."""
        ready = [node for node in self._nodes if self._failures[node.name] < FALL]
        return chance.choice([node for node in ready if node not in tried] or ready or self._nodes)


async def health(node):
    connection = hub_client.Connection(node.port, timeout=2)
    try:
        return (await connection.request("GET", "/health/ready", {}))[0]
    except hub_client.Disconnected:
        return None
    finally:
        connection.close()


class Client(nodes.Client):
    """Repeats what fails until it is answered. With a balancer it is sent where that sends it."""

    def __init__(self, load, hub, number, balancer):
        super().__init__(load, hub, number)
        self._balancer = balancer

    async def request(self, method, path, fields=None, body=b"", node=None):
        if node:
            return await super().request(method, path, fields, body, node)
        fields = dict(fields or {})
        if method == "POST" and path in ("messages", "schedulednotifications"):
            fields["Idempotency-Key"] = secrets.token_hex(8)
        deadline = time.monotonic() + REPEATED
        while True:
            status, answered, content = await self._attempt(method, path, fields, body)
            if status not in (None, 503) or time.monotonic() > deadline:
                return status, answered, content
            self._load.counts["repeated"] += 1
            await asyncio.sleep(self._random.uniform(0.05, float(answered.get("retry-after", 0.3))))

    async def _attempt(self, method, path, fields, body):
        """Once, as a client sees it. A balancer goes to another node where nobody takes its connection."""
        tried = []
        while True:
            node = self._balancer and self._balancer.choose(self._random, tried)
            answer = await super().request(method, path, fields, body, node)
            if not self._balancer or not self.was_not_taken or len(tried) == RETRIES:
                return answer
            self._load.counts["went to another node"] += 1
            tried.append(node)

    def _note(self, method, path, status, name, start):
        load, end = self._load, time.time()
        is_good = status is not None and status < 500
        if not load.is_excused(name, start, end):
            load.slowest = max(load.slowest, end - start)
        load.counts["answered" if is_good else "not answered"] += 1
        text = f"{method} {path} at {name}: {status}, {end - start:.2f} s, until {end - load.began:.2f} s"
        if status is not None and status >= 400 and status not in (404, 409, 410, 503):
            load.fail("was answered wrongly", text)
        elif not is_good and not load.is_excused(name, start, end):
            load.fail("was refused by a node that was left alone", text)
        elif not is_good and self._balancer and not self.was_not_taken and not load.is_excused(name, start, end, load.kills):
            load.fail("failed behind the load balancer", text)


class Load(nodes.Load):
    def __init__(self, served, seed):
        super().__init__(served, seed)
        self.began = time.time()
        self.slowest = 0  # seconds that a request took at a node that was left alone
        #: Of the disturbances, those that no load balancer can hide.
        self.kills = []

    def is_excused(self, name, start, end, disturbances=None):
        """Whether a request from start to end was at a node that was disturbed just then."""
        return any(node == name and since < end and (until is None or until > start)
                   for node, since, until in (self.disturbances if disturbances is None else disturbances))


class Arrivals(nodes.Arrivals):
    """A push service that loses some of what it has taken."""

    def read(self):
        before = len(self.pushes)
        found = super().read()
        lost = {(push.key, push.token) for place, push in enumerate(self.pushes[before:], before) if place % LOST == 0}
        self.pushes[before:] = [push for push in self.pushes[before:] if (push.key, push.token) not in lost]
        self.seen -= lost
        return found


def agree(old, new):
    """Whether all that the old version says, the new one says as well; it may say more."""
    if isinstance(old, dict):
        return isinstance(new, dict) and all(key in new and agree(value, new[key]) for key, value in old.items())
    if isinstance(old, list):
        return isinstance(new, list) and len(old) == len(new) and all(map(agree, old, new))
    return old == new


def read_answer(status, content, port):
    """What an answer says, in the same form for XML and JSON; without the port of the node."""
    content = content.decode().replace(f":{port}/", "/")
    if content.startswith("<"):
        found = {}
        for element in ElementTree.fromstring(content).iter():
            found.setdefault(element.tag, []).append([dict(element.attrib), (element.text or "").strip()])
        return {"status": status, "content": found}
    return {"status": status, "content": json.loads(content) if content else None}


class Course(nodes.Course):
    def __init__(self, options, directory, number):
        super().__init__(options, directory)
        self._number = number
        self._old = Version(options.old, os.path.join(directory, "old"))
        self._new = Version(options.new, os.path.join(directory, "new"))
        self._balancer = self._watching = None
        self._known = self._refused = 0
        self._is_newer = False  # the schema of NEW, as seen from OLD

    # Before

    def _node(self, number, name, port):
        node = Node(self._old.binary, self._directory, name, port, self._wires.ports[number], self._environment)
        node.use(self._old)
        return node

    def _load_of(self, served):
        self._balancer = Balancer(served)
        self._watching = asyncio.create_task(self._balancer.run())
        return Load(served, self._options.seed)

    def _client(self, hub, number):
        is_balanced = isinstance(number, str) or number % 2 == 0
        return Client(self._load, hub, number, self._balancer if is_balanced else None)

    def _arrivals_of(self, ledger):
        return (Arrivals if self._options.broken == "losses" else nodes.Arrivals)(ledger)

    # The upgrade

    async def _disturb(self):
        self._supervision = asyncio.create_task(self._supervise())
        writing = [asyncio.create_task(client.run(self._options.pause)) for client in self._clients]
        await asyncio.sleep(2)
        self._known = await self._steps()
        await self._judge_list()
        if self._options.broken:
            await self._break(self._nodes[0])
        else:
            first, second, last = self._nodes
            await self._upgrade_first(first)
            await self._upgrade_second(second)
            await (self._upgrade_killed if self._number % 2 == 0 else self._upgrade_still)(last)
        await asyncio.sleep(BOTH)
        self._load.is_over = True
        await asyncio.gather(*writing)
        self._watching.cancel()

    async def _break(self, node):
        """Only what must be found wrong."""
        if self._options.broken == "losses":
            return
        await self._until_amid_broadcast(node)
        async with self._disturbed(node, "stop" if self._options.broken == "fences" else "order"):
            if self._options.broken == "fences":
                await self._stop(node)
            else:
                self._ends.append((node.name, time.time()))
                await node.kill()
                await self._start_new(node)

    @contextlib.asynccontextmanager
    async def _disturbed(self, node, kind):
        """Whatever is done to the node meanwhile; `order` is what a load balancer can hide."""
        node.is_disturbed = True
        disturbance = [node.name, time.time(), None]
        self._load.disturbances.append(disturbance)
        if kind != "order":
            self._load.kills.append(disturbance)
        self._stops[node.name, disturbance[1]] = kind
        yield
        disturbance[2] = time.time()
        node.is_disturbed = False

    async def _end_in_order(self, node):
        self._print(f"{node.name} of {node.version.build} is stopped in order")
        self._ends.append((node.name, time.time()))
        began = time.monotonic()
        code, _ = await node.stop()
        checks.equal("a node that is told to stop ends in order", code, 0)
        self._print(f"{node.name} has ended after {time.monotonic() - began:.1f} s")

    async def _start_new(self, node):
        """As a service manager does: again and again."""
        node.use(self._new)
        began = time.monotonic()
        for number in range(TRIES):
            try:
                await self._start_once(node)
                break
            except processes.Failed as error:
                self._print(f"a start that is repeated: {error}")
                await asyncio.sleep(1)
        checks.that("NEW starts", node.process and node.process.returncode is None, node.log_tail())
        checks.that("and at its first try", number == 0, f"{number + 1} tries\n{node.log_tail()}")
        await self._until_ready(node)
        self._is_newer = await self._steps() > self._known
        self._print(f"{node.name} of {node.version.build} is ready after {time.monotonic() - began:.1f} s")

    async def _start_once(self, node):
        began = time.time()
        try:
            await node.start()
        except asyncio.TimeoutError as error:
            await node.kill()
            raise processes.Failed(f"{node.name} does not become ready\n{node.log_tail()}") from error
        self._processes[node.process.pid].append((node.name, began))

    async def _until_ready(self, node):
        deadline = time.monotonic() + nodes.START
        while await health(node) != 200:
            if time.monotonic() > deadline:
                raise processes.Failed(f"{node.name} does not become ready\n{node.log_tail()}")
            await asyncio.sleep(0.2)

    async def _upgrade_first(self, node):
        """NEW is killed while it starts, and when it is the only one, while it sends: nodes of OLD go on."""
        await self._until_amid_broadcast(node)
        async with self._disturbed(node, "order"):
            await self._end_in_order(node)
        async with self._disturbed(node, "kill"):
            await self._start_beside_dump(node)
            for _ in range(STARTS):
                await self._kill_start(node)
            await self._start_new(node)
        await self._serve_both()
        await self._until_amid_broadcast(node)
        async with self._disturbed(node, "kill"):
            self._print(f"{node.name} of {node.version.build} is killed, and others take over")
            await self._end(node)
            await asyncio.sleep(node_history.LEASE + node_history.MARGIN + 3)
            await self._start_new(node)
        await self._serve_both()

    async def _start_beside_dump(self, node):
        """Where a table is read for long, no step of the schema can be made: a start gives up, before it keeps those who wait
        behind it from being answered."""
        dump = asyncio.create_task(self._query(DUMP))
        while not int(await self._query(f"SELECT count(*) {DUMPING}") or 0):
            await asyncio.sleep(0.1)
        node.use(self._new)
        before = time.monotonic()
        try:
            await self._start_once(node)
        except processes.Failed as error:
            sentence = node.log_tail().splitlines()[-1]
            checks.that("a start that cannot make its step gives up with its sentence", WAITS in sentence, error)
            self._print(f"a start beside a dump gave up after {time.monotonic() - before:.1f} s")
        else:
            self._print("a start beside a dump had no step to make")
            await node.kill()
        checks.equal("and the schema is as it was", await self._steps(), self._known)
        await self._query(f"SELECT pg_terminate_backend(pid) {DUMPING}")
        await dump

    async def _kill_start(self, node):
        node.use(self._new)
        moment = self._random.uniform(0, 0.3)
        starting = asyncio.create_task(self._start_once(node))
        await asyncio.sleep(moment)
        if node.process and node.process.returncode is None:
            node.process.kill()
        with contextlib.suppress(processes.Failed):
            await starting
        if node.process.returncode is None:
            await node.kill()
        self._print(f"a start of {node.version.build} was killed after {moment:.2f} s:"
                    f" {await self._steps()} steps of the schema")

    async def _upgrade_second(self, node):
        """OLD is started again before NEW."""
        await self._until_amid_broadcast(node)
        async with self._disturbed(node, "order"):
            await self._end_in_order(node)
            is_back = await self._start_old(node)
            if is_back:
                await self._until_ready(node)
        if is_back:
            await self._serve_both()
            await self._until_amid_broadcast(node)
        async with self._disturbed(node, "order"):
            if is_back:
                await self._end_in_order(node)
            await self._start_new(node)
        await self._serve_both()

    async def _start_old(self, node):
        """Whether it serves, which it may only if it knows the schema."""
        before = await self._steps(), sorted(os.listdir(node.data))
        for _ in range(TRIES):
            try:
                await self._start_once(node)
                break
            except processes.Failed:
                sentence = node.log_tail().splitlines()[-1]
                if NEWER in sentence:
                    break
                # On a busy machine the database may not answer in time.
                await asyncio.sleep(1)
        if node.process.returncode is not None:
            self._refused += 1
            checks.that("OLD refuses a newer schema with its sentence", self._is_newer and NEWER in sentence, sentence)
            checks.equal("and ends", node.process.returncode, 1)
            checks.equal("and changes nothing", (await self._steps(), sorted(os.listdir(node.data))), before)
            self._print(f"{node.name} of {node.version.build} refuses the schema")
            return False
        checks.that("OLD starts beside NEW where it knows the schema", not self._is_newer)
        self._print(f"{node.name} of {node.version.build} serves again beside the other version")
        return True

    async def _steps(self):
        return int(await self._query("SELECT count(*) FROM martlet.migrations") or 0)

    async def _upgrade_killed(self, node):
        """OLD is killed while it sends, and NEW goes on; NEW starts with what OLD has left in its data directory."""
        await self._until_amid_broadcast(node)
        async with self._disturbed(node, "kill"):
            self._print(f"{node.name} of {node.version.build} is killed")
            await self._end(node)
            if self._is_newer:
                await self._start_old(node)
            await self._start_new(node)

    async def _upgrade_still(self, node):
        """OLD stands still while it sends, and NEW goes on. OLD begins anew if it knows the schema."""
        await self._until_amid_broadcast(node)
        async with self._disturbed(node, "still"):
            self._print(f"{node.name} of {node.version.build} stands still")
            node.process.send_signal(nodes.signal.SIGSTOP)
            await asyncio.sleep(node_history.LEASE + node_history.MARGIN + 3)
            node.process.send_signal(nodes.signal.SIGCONT)
            if self._is_newer:
                await self._until_left(node)
            else:
                await asyncio.sleep(1)
                await self._until_ready(node)
                self._print(f"{node.name} of {node.version.build} has begun anew")
        async with self._disturbed(node, "order"):
            if node.process.returncode is None:
                await self._end_in_order(node)
            await self._start_new(node)

    async def _until_left(self, node):
        """Until a node that must begin anew, and cannot on a newer schema, has said so."""
        deadline = time.monotonic() + nodes.START
        while NEWER not in node.log_tail() and time.monotonic() < deadline:
            await asyncio.sleep(0.2)
        checks.that("OLD that lost its lease says that the schema is newer", NEWER in node.log_tail(), node.log_tail())
        checks.equal("and serves nothing", await health(node), None)
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(node.process.wait(), 3)
        self._print(f"{node.name} of {node.version.build} refuses the schema: it "
                    + ("waits" if node.process.returncode is None else f"ends with {node.process.returncode}"))
        if node.process.returncode is None:
            node.process.terminate()
            await node.process.wait()

    # Between the steps

    async def _serve_both(self):
        """Clients send for a while, and what the nodes say is compared."""
        await asyncio.sleep(BOTH)
        self._arrivals.read()
        await self._judge_list()
        await self._judge_agreement()

    async def _judge_list(self):
        names = sorted(node.name for node in self._nodes)
        versions = {node.name: node.version for node in self._nodes}
        for node in self._nodes:
            alive = await self._alive(node, names)
            checks.equal("every node lists all nodes", sorted(each["name"] for each in alive), names)
            wrong = [(each["name"], each["version"]) for each in alive
                     if not versions[each["name"]].is_called(each["version"])]
            checks.equal("and their versions", wrong, [])
            if len({version.build for version in versions.values()}) > 1:
                checks.that("two versions have two names in the list", len({each["version"] for each in alive}) > 1, alive)

    async def _alive(self, node, names):
        """The nodes that it lists as alive; on a busy machine one may just begin anew."""
        deadline = time.monotonic() + PATIENCE
        while True:
            alive = []
            with contextlib.suppress(processes.Failed):
                # A node that was killed before its first renewal is alive for a minute, and owns nothing.
                alive = [each for each in (await self._list(node))["nodes"]
                         if each["isAlive"] and each["renewedAt"] > each["startedAt"]]
            if sorted(each["name"] for each in alive) == names or time.monotonic() > deadline:
                return alive
            await asyncio.sleep(0.5)

    async def _judge_agreement(self):
        """Whether all nodes say the same of what has ended, and of who got it."""
        served = {}
        for node in self._nodes:
            served.setdefault(node.version, node)
        if len(served) < 2:
            return
        ended = [message for message in self._load.messages.values()
                 if message.accepted and not message.is_spared and message.accepted < time.time() - 2
                 and (message.due or 0) < time.time() - 2]
        wrong, asked = [], 0
        for message in self._random.sample(ended, min(ASKED, len(ended))):
            paths = [f"messages/{message.identifier}", f"messages/{message.identifier}/status"]
            for token in self._random.sample(sorted(message.owed), min(2, len(message.owed))):
                device = message.hub.devices[token]
                paths.append(f"messages/{message.identifier}/devices/{device.identifier}")
                if device.tag == "crowd":
                    paths.append(f"registrations/{device.identifier}")
            for path in paths:
                asked += 1
                if difference := await self._difference(message.hub, path, served):
                    wrong.append(difference)
        self._print(f"{asked} questions to nodes of both versions")
        checks.equal("nodes of both versions say the same", wrong[:nodes.SHOWN], [])

    async def _difference(self, hub, path, served):
        """What both versions say, if it differs, also a while later: a trace may be a second old, and a node busy."""
        began = time.monotonic()
        while True:
            found = {}
            for version, node in served.items():
                status, _, content = await self._helpers[hub][0].request("GET", path, node=node)
                if status not in (None, 503):
                    found[version] = read_answer(status, content, node.port)
            old, new = found.get(self._old), found.get(self._new)
            if old and new and old["status"] == 200 and agree(old, new):
                return None
            if time.monotonic() > began + (PATIENCE if old and new else REPEATED):
                return path, old, new
            await asyncio.sleep(0.5)

    # Afterwards

    async def _settle(self):
        await super()._settle()
        if not self._options.broken:
            checks.equal("all nodes are of NEW", [node.name for node in self._nodes if node.version is not self._new], [])

    def _report(self, counts):
        super()._report(counts)
        done = self._load.counts
        self._print(f"at nodes that were left alone a request took {self._load.slowest:.1f} s at most")
        self._print(f"{done['repeated']} requests were repeated; the load balancer went to another node"
                    f" {done['went to another node']} times; OLD refused the schema {self._refused} times")

    async def run(self):
        try:
            await super().run()
        finally:
            if self._watching:
                self._watching.cancel()


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", metavar="OLD", help="the binary of the version before")
    parser.add_argument("new", metavar="NEW", help="the binary of this version")
    parser.add_argument("--rounds", type=int, default=2, help="upgrades, each of a new database")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--clients", type=int, default=12)
    parser.add_argument("--devices", type=int, default=120, help="of each hub, beside those of the clients")
    parser.add_argument("--pause", type=float, default=0.2, help="mean seconds between two steps of a client")
    parser.add_argument("--rate", type=int, default=300, help="pushes that the service answers in a second")
    parser.add_argument("--grace", type=float, default=1, metavar="SECONDS", help="for a busy machine, in each limit")
    parser.add_argument("--break", dest="broken", choices=sorted(BROKEN), help="judge the judge: it must find something wrong")
    parser.add_argument("--keep", metavar="DIR", help="work in this new directory and keep it")
    # As in nodes.py.
    parser.set_defaults(nodes=NODES, faults=0, kinds=None, window=6, takeover=13)
    options = parser.parse_args()
    options.break_fences = options.broken == "fences"
    if options.seed is None:
        options.seed = random.SystemRandom().getrandbits(32)
    return options


async def upgrade(options, directory):
    for number in range(1 if options.broken else options.rounds):
        folder = os.path.join(directory, f"round-{number + 1}")
        os.mkdir(folder)
        judged = Course(options, folder, number)
        await judged.run()
        options.seed += 1
    if options.broken:
        checks.passed = checks.failed = 0
        checks.that(f"it is found out if {options.broken} are broken", BROKEN[options.broken] & set(judged.wrong), judged.wrong)


def main():
    options = parse_arguments()
    print(f"rolling-upgrade: seed={options.seed} rounds={options.rounds}", flush=True)
    nodes.finish(checks, upgrade, options)


if __name__ == "__main__":
    main()
