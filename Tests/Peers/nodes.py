"""Several nodes at one PostgreSQL, while nodes are killed and stand still, the ways to the database are cut, clocks are
wrong by a day, and the database restarts, fails over, loses its standby or has no room left: nothing that was accepted may be
lost, and nothing may come twice without a reason.

Clients register devices and send through nodes chosen by chance: to users, to everybody, for later, under collapse keys;
they pause, resume and cancel. A strict APNs notes what arrives and which process sent it. Triggers in the database note
each renewal of a node's lease and each new owner of a hub (node_history.py). Then must hold:

    everything that was accepted has arrived, unless it was canceled or superseded
    only what a dead node had in hand comes twice
    nothing is sent by a node later than 8 seconds after its last renewal, nor for a hub that is another's
    a pause at any node holds at all of them within a second
    any node says of a device that got a broadcast that it did, whichever nodes sent it
    the hubs of a dead node have another owner within 13 seconds
    no node is taken for dead to which nothing was done
    no write is answered with success while the database has no standby

    nodes.py MARTLET [--nodes N] [--faults N] [--kinds KIND,...] [--seed N]

With --break-fences the judge is judged: a node that stood still until others took over its hubs is made alive again in the
database, as its former self and the owner of these hubs. What it does then must be found wrong.
"""

import argparse
import asyncio
import collections
import json
import os
import random
import secrets
import signal
import socket
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

import disturbances
import hub_client
import node_history
import postgres
import processes
from checks import Checks
from growing_file import GrowingFile
from process_figures import quantiles

checks = Checks("nodes")

RULE = "DefaultFullSharedAccessSignature"
XML = {"Content-Type": "application/atom+xml;type=entry;charset=utf-8"}
TIMEOUT = 15         # seconds for a request
CALM = 6             # seconds behind a disturbance, in which its effects are forgiven
PATIENCE = 60        # seconds of silence that end the wait for what is owed
START = 90           # seconds in which a node must have come back
SAMPLE = 150         # messages whose state is asked for in the end, and traces of broadcasts
SHOWN = 5            # failures of a kind
HELPERS = 3          # clients of each hub that register its devices
# What broken fences must show.
TWICE = "only what a dead node had in hand came twice"
LATE = "nothing was sent later than 8 seconds after the node's last renewal"
FOREIGN = "nothing was sent by a node for a hub of another"
# Of a client's steps:
STEPS = {"put": 0.1, "join": 0.05, "leave": 0.04, "read": 0.08, "broadcast": 0.015, "pause": 0.02, "collapse": 0.1,
         "schedule": 0.12, "send": 0.475}
CANCELED = 0.3       # of the schedules
NODE_FAULTS = ["kill", "stop", "cut", "replace", "hold", "leave", "slow", "clock", "jump"]
DATABASE_FAULTS = ["terminate", "promote", "restart", "standby", "fill"]
# A few faults, of which each shows another thing.
FEW = ["kill", "promote", "stop", "terminate", "hold"]
AMID = 0.7           # of the faults of nodes come while the node sends a broadcast
ROOM = 1024          # megabytes of each database server's disk
STORED = {("PUT", 200), ("POST", 201), ("DELETE", 200)}  # answers that say that something was stored
TERMINATE = """
    WITH ended AS (SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                   WHERE application_name LIKE 'martlet%' AND random() < {share})
    SELECT count(*) FROM ended"""
# Who should end it, and how far it came.
UNFINISHED = """
    SELECT 'hub ' || d.shard || ' of ' || o.node || ': ' || d.state || ', by channel ' || d.cursor_channel || ', '
        || (SELECT count(*) FROM martlet.retries r WHERE r.shard = d.shard AND r.delivery = d.id) || ' retries, reached '
        || CASE WHEN EXISTS (SELECT 1 FROM martlet.reached m WHERE m.shard = d.shard AND m.delivery = d.id)
            THEN 'some' ELSE 'nobody' END
    FROM martlet.deliveries d JOIN martlet.send_ordinals o ON o.shard = d.shard
    WHERE NOT d.is_final ORDER BY d.id LIMIT 20"""
# Nobody is told: the judge's triggers do not fire.
REVIVE = """
    SET session_replication_role = replica;
    UPDATE martlet.nodes SET is_dead = false, until = clock_timestamp() + interval '1 hour' WHERE incarnation = {number};
    UPDATE martlet.send_ordinals SET node = {number} WHERE shard IN ({hubs})"""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Wires(processes.Program):
    """The ways between the nodes and the database servers (wires.py)."""

    def __init__(self, count, sockets, log):
        super().__init__([sys.executable, os.path.join(processes.HERE, "wires.py"), str(count), *sockets], log)

    async def start(self):
        with open(self._log, "ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *self._command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=log)
        words = (await self.process.stdout.readline()).decode().split()
        if words[:2] != ["wires:", "ready"]:
            raise processes.Failed(f"the wires did not become ready\n{self.log_tail()}")
        #: By node: a port for each server.
        self.ports = [ports.split(",") for ports in words[2:]]
        self._turn = asyncio.Lock()

    async def order(self, command, node, *values):
        async with self._turn:
            self.process.stdin.write(" ".join(map(str, [command, node, *values])).encode() + b"\n")
            if await self.process.stdout.readline() != b"done\n":
                raise processes.Failed(f"the wires do not obey\n{self.log_tail()}")


class Node(processes.Program):
    """One of the nodes; its port stays, whatever process serves there."""

    def __init__(self, binary, directory, name, port, wire, environment):
        self.binary, self.name, self.port, self.data = binary, name, port, os.path.join(directory, name)
        hosts = ",".join(f"127.0.0.1:{each}" for each in wire)
        command = [binary, "serve", "--data", self.data, "--listen", f"127.0.0.1:{port}", "--node", name,
                   "--database", f"postgres://postgres@{hosts}/martlet"]
        super().__init__(command, os.path.join(directory, f"{name}.log"), self._environment_of_start)
        self._usual = environment
        self.is_disturbed = False
        #: What it takes for the clock on the wall; None for the true one.
        self.clock = None

    def _environment_of_start(self):
        return self.clock.environment(self._usual) if self.clock else self._usual


class Device:
    """As in durability.py: `possible` holds the revisions that a read may show, None for "not there"."""

    def __init__(self, chance, tag):
        digits = [f"{chance.randrange(10**18, 10**19)}" for _ in range(2)]
        self.identifier, self.token, self.tag = f"{digits[0]}-{digits[1]}-1", f"{chance.getrandbits(256):064x}", tag
        self.revision, self.possible = 0, {None}
        self.leaving_since = self.gone_since = None

    def tags(self, revision):
        return [self.tag, f"revision-{revision}"]

    def is_certain(self):
        return len(self.possible) == 1 and None not in self.possible


class Message:
    def __init__(self, key, hub, tag, owed, clock):
        self.key, self.hub, self.tag, self.owed, self.clock = key, hub, tag, owed, clock
        self.due = self.identifier = self.accepted = None
        self.place = None         # among those of its collapse key
        self.is_canceled = False  # and nothing of it may come
        self.is_spared = False    # and nobody knows what comes
        self.paused = self.resumed = None

    def body(self):
        return json.dumps({"aps": {"alert": f"nodes “{self.key}”"}, "key": self.key}, ensure_ascii=False).encode()


class Hub:
    def __init__(self, name, key):
        self.name, self.key, self.number = name, key, None
        self.devices = {}

    def token(self, port):
        return hub_client.signature(hub_client.namespace_resource(port), RULE, self.key)


class Load:
    """What all clients share."""

    def __init__(self, nodes, seed):
        self.nodes, self.random = nodes, random.Random(seed)
        self.messages, self.counts, self.failures = {}, collections.Counter(), collections.defaultdict(list)
        self.is_over = False
        self.clock = 0
        self.disturbances = []  # [node's name, None for the database; start; end]
        self.fillings = []      # [start, end] of the times when the database's disk was full
        self.stored = []        # (answered, what) of each write that was answered with success

    def tick(self):
        self.clock += 1
        return self.clock

    def fail(self, kind, text):
        self.failures[kind].append(text)

    def was_disturbed(self, name, start, end):
        """Whether the node, the database or any node (name is None) was, between these moments or shortly before."""
        return any(
            (name is None or node in (name, None)) and since < end and (until is None or until + CALM > start)
            for node, since, until in self.disturbances)

    def begin_disturbance(self, name):
        self.disturbances.append([name, time.time(), None])
        return self.disturbances[-1]

    def end_disturbances(self, name):
        for each in self.disturbances:
            if each[0] == name and each[2] is None:
                each[2] = time.time()

    def had_no_room(self, start, end):
        """Whether the database had no room left between these moments or shortly before."""
        return any(since < end and (until is None or until + CALM > start) for since, until in self.fillings)

    def message(self, hub, tag, owed):
        message = Message(f"m-{len(self.messages)}", hub, tag, owed, self.tick())
        self.messages[message.key] = message
        return message


class Client:
    def __init__(self, load, hub, number):
        self._load, self._hub, self._number = load, hub, number
        self._random = random.Random(load.random.getrandbits(64))
        self._connections, self._used = {}, {}
        self._devices = [self.device(f"user-{number}") for _ in range(2)]
        self._board = self.device(f"board-{number}")
        self._scores = 0

    def device(self, tag):
        device = Device(self._random, tag)
        self._hub.devices[device.token] = device
        return device

    async def request(self, method, path, fields=None, body=b"", node=None):
        """The status, None without an answer; the fields and the body."""
        node = node or self._random.choice(self._load.nodes)
        if node.port not in self._connections:
            self._connections[node.port] = hub_client.Connection(node.port, TIMEOUT), self._hub.token(node.port)
        connection, token = self._connections[node.port]
        if connection.is_ended():
            connection.close()
        self.was_not_taken = False
        name, start = node.name, time.time()
        # A connection that was made before may lead to a process that is dead.
        since, self._used[node.port] = self._used.get(node.port, start), start
        try:
            separator = "&" if "?" in path else "?"
            target = f"/{self._hub.name}/{path}{separator}{hub_client.API_VERSION}"
            status, answered, content = await connection.request(
                method, target, {"Authorization": token} | (fields or {}), body)
        except hub_client.Disconnected as error:
            status, answered, content = None, {}, b""
            #: Whether nobody listened, so that the request is certainly not carried out.
            self.was_not_taken = isinstance(error.__cause__, ConnectionRefusedError)
        self._note(method, path, status, name, since if status is None else start)
        return status, answered, content

    def _note(self, method, path, status, name, start):
        load, end = self._load, time.time()
        is_good = status is not None and status < 500
        load.counts["answered" if is_good else "not answered"] += 1
        if (method, status) in STORED:
            load.stored.append((end, f"{method} {path} at {name}"))
        if load.had_no_room(start, end) and method != "GET":
            load.counts[f"without room {'stored' if (method, status) in STORED else status}"] += 1
        elif status == 507:
            load.fail("was answered wrongly", f"{method} {path} at {name}: 507 with room left")
        if status is not None and status >= 400 and status not in (404, 409, 410, 503, 507):
            load.fail("was answered wrongly", f"{method} {path} at {name}: {status}")
        elif not load.was_disturbed(name, start, end):
            # Beside the others, who were disturbed.
            if load.was_disturbed(None, start, end):
                load.counts["answered beside" if is_good else "not answered beside"] += 1
            elif not is_good:
                load.fail("was refused with nothing wrong", f"{method} {path} at {name}: {status}, {end - start:.1f} s")

    # Steps

    async def run(self, pause):
        for device in [*self._devices, self._board]:
            while not device.is_certain():
                await self.put(device)
        while not self._load.is_over:
            step = self._random.choices(list(STEPS), STEPS.values())[0]
            await getattr(self, step)()
            await asyncio.sleep(self._random.uniform(0, 2 * pause))

    async def put(self, device=None):
        device = device or self._random.choice([device for device in self._devices if device.leaving_since is None])
        device.revision += 1
        device.possible = device.possible | {device.revision}
        entry = hub_client.registration_entry(device.token, device.tags(device.revision))
        status, _, _ = await self.request("PUT", f"registrations/{device.identifier}", XML, entry)
        if status == 200:
            device.possible = {device.revision}
            self._load.counts["registrations"] += 1

    async def join(self):
        device = self.device(f"user-{self._number}")
        self._devices.append(device)
        await self.put(device)

    async def leave(self):
        staying = [device for device in self._devices[2:] if device.possible != {None}]
        if not staying:
            return
        device = self._random.choice(staying)
        device.possible = device.possible | {None}
        device.leaving_since = self._load.tick()
        status, _, _ = await self.request("DELETE", f"registrations/{device.identifier}", {"If-Match": "*"})
        if status in (200, 404):
            device.possible, device.gone_since = {None}, self._load.tick()
            self._load.counts["removals"] += 1

    async def read(self, device=None):
        device = device or self._random.choice(self._devices)
        status, _, content = await self.request("GET", f"registrations/{device.identifier}")
        if status not in (200, 404, 410):
            return
        found = None
        if status == 200:
            _, _, tags = hub_client.read_entry(content)
            found = next((each for each in device.possible if each is not None and tags == set(device.tags(each))), tags)
        if found not in device.possible:
            self._load.fail("was stored otherwise", f"{device.identifier}: {found}, answered: {device.possible}")
        device.possible = {found}
        if found is None and device.leaving_since and not device.gone_since:
            device.gone_since = self._load.tick()

    async def read_all(self):
        for device in self._devices:
            await self.read(device)

    async def broadcast(self, node=None):
        owed = {device.token for device in self._hub.devices.values() if device.is_certain()}
        return await self._send("broadcasts", self._load.message(self._hub, None, owed), node=node)

    def _message(self, devices):
        owed = {device.token for device in devices if device.is_certain()}
        return self._load.message(self._hub, devices[0].tag, owed)

    async def send(self):
        await self._send("sends", self._message(self._devices))

    async def collapse(self):
        message = self._message([self._board])
        self._scores += 1
        message.place = self._scores
        await self._send("sends under a collapse key", message, {"apns-collapse-id": f"score-{self._number}"})

    async def schedule(self):
        message = self._message(self._devices)
        message.due = time.time() + self._random.uniform(0.5, 5)
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(message.due))
        # What is left away of a millisecond is forgiven to nobody.
        message.due = int(message.due * 1000) / 1000
        fields = {"ServiceBusNotification-ScheduleTime": f"{moment}.{round(message.due % 1 * 1000):03d}Z"}
        await self._send("schedules", message, fields, "schedulednotifications")
        if message.accepted and self._random.random() < CANCELED:
            await asyncio.sleep(self._random.uniform(0, 0.5))
            status, _, _ = await self.request("DELETE", f"schedulednotifications/{message.identifier}")
            message.is_canceled = status == 200 and time.time() < message.due
            message.is_spared = not message.is_canceled
            self._load.counts["cancellations"] += message.is_canceled

    async def _send(self, kind, message, fields=None, path="messages", node=None):
        fields = {"ServiceBusNotification-Format": "apple", "Content-Type": "application/json;charset=utf-8"} | (fields or {})
        if message.tag:
            fields["ServiceBusNotification-Tags"] = message.tag
        status, answered, _ = await self.request("POST", path, fields, message.body(), node)
        if status == 201:
            message.accepted = time.time()
            message.identifier = answered["location"].partition("?")[0].rpartition("/")[2]
            self._load.counts[kind] += 1
        return message

    async def pause(self):
        """A broadcast that is paused at one node, and resumed at another."""
        message = await self.broadcast()
        if not message.accepted:
            return
        await asyncio.sleep(self._random.uniform(0, 0.4))
        status, _, _ = await self.request("POST", f"messages/{message.identifier}/pause")
        if status == 200:
            message.paused = time.time()
            await asyncio.sleep(self._random.uniform(1.5, 4))
        elif status == 409:
            return  # it had ended
        message.resumed = time.time()
        self._load.counts["pauses"] += message.paused is not None
        while (await self.request("POST", f"messages/{message.identifier}/resume"))[0] not in (200, 409):
            if time.time() > message.resumed + 3 * PATIENCE:
                return self._load.fail("that is paused stayed so", message.key)
            await asyncio.sleep(0.3)

    async def state(self, message):
        """The state of a notification; None without an answer."""
        status, _, content = await self.request("GET", f"messages/{message.identifier}")
        return ElementTree.fromstring(content).findtext(f"{{{hub_client.SERVICE}}}State") if status == 200 else None

    def close(self):
        for connection, _ in self._connections.values():
            connection.close()


class Arrivals:
    """The push service's ledger, read as it grows."""

    def __init__(self, path):
        self._file = GrowingFile(path)
        self.pushes, self.seen, self.of_key = [], set(), collections.Counter()

    def read(self):
        """Takes in what is new; whether there was any."""
        lines = self._file.lines()
        for each in map(json.loads, lines):
            opened = each["opened"] + each["time"] - each["steady"]
            push = node_history.Push(
                json.loads(each["payload"])["key"], each["token"], each["arrived"], opened, each["process"], each["apns-id"])
            self.pushes.append(push)
            self.seen.add((push.key, push.token))
            self.of_key[push.key] += 1
        return bool(lines)


class Course:
    def __init__(self, options, directory):
        self._options, self._directory = options, directory
        self._random = random.Random(options.seed)
        self._environment = {**os.environ, "MARTLET_SECRET_KEY": secrets.token_hex(32)}
        self._peer = processes.APNsPeer(
            os.path.join(directory, "apns"), "--rate", str(options.rate), "--streams", "100", "--client", "martlet")
        self._cluster = self._wires = None
        self._nodes, self._hubs, self._clients, self._processes = [], [], [], collections.defaultdict(list)
        self._made = options.nodes
        self._began = time.monotonic()
        self._stops = {}  # (node's name, start): how its fault is called
        self._ends = []   # (node's name, when it was told to end)
        self._absences = []  # (from, to): when no database answered, or none could store anything
        self._lonely = []    # (from, to): when it had no standby
        self._wrong_clocks = []  # (from, to): when that of a node was
        self.wrong = []   # sentences that do not hold

    def _print(self, text):
        print(f"{checks.judge}: {time.monotonic() - self._began:5.1f} s: {text}", flush=True)

    async def run(self):
        try:
            await self._prepare()
            await self._disturb()
            await self._settle()
            await self._judge()
        finally:
            for program in [*self._nodes, self._wires, self._peer]:
                if program and program.process and program.process.returncode is None:
                    program.process.kill()
            if self._cluster:
                self._cluster.stop()

    # Before

    async def _prepare(self):
        self._cluster = postgres.ReplicatedCluster(ROOM if "fill" in self._choice_of_kinds() else None)
        sockets = [os.path.join(each, ".s.PGSQL.5432") for each in self._cluster.directories]
        count = self._options.nodes
        self._wires = Wires(count, sockets, os.path.join(self._directory, "wires.log"))
        await self._wires.start()
        await self._peer.start()
        self._nodes += [self._node(number, f"node-{number}", free_port()) for number in range(count)]
        await self._start(self._nodes[0])
        self._cluster.query(node_history.NOTES)
        await asyncio.gather(*[self._start(node) for node in self._nodes[1:]])
        self._load = self._load_of(self._nodes)
        for number in range(2 * count):
            await asyncio.to_thread(self._create_hub, f"hub-{number}", self._nodes[number % count])
        numbers = self._cluster.query("SELECT convert_from(name, 'UTF8'), id FROM martlet.hubs")
        numbers = dict(line.split("|") for line in numbers.splitlines())
        for hub in self._hubs:
            hub.number = int(numbers[hub.name])
        self._clients = [
            self._client(self._hubs[number % len(self._hubs)], number)
            for number in range(max(self._options.clients, len(self._hubs)))]
        # Clients for what is done beside the others' steps.
        self._helpers = {hub: [self._client(hub, f"helper-{hub.name}-{number}") for number in range(HELPERS)]
                         for hub in self._hubs}
        created = time.time()
        await asyncio.gather(*[self._until_known(self._helpers[hub][0], node, created)
                               for hub in self._hubs for node in self._nodes])
        share = -(-self._options.devices // HELPERS)
        await asyncio.gather(*[self._crowd(each, share) for helpers in self._helpers.values() for each in helpers])
        self._arrivals = self._arrivals_of(self._peer.ledger)
        self._print(f"{count} nodes serve {len(self._hubs)} hubs with {self._options.devices} devices each")

    def _node(self, number, name, port):
        return Node(self._options.martlet, self._directory, name, port, self._wires.ports[number], self._environment)

    def _load_of(self, served):
        return Load(served, self._options.seed)

    def _client(self, hub, number):
        return Client(self._load, hub, number)

    @staticmethod
    def _arrivals_of(ledger):
        return Arrivals(ledger)

    def _create_hub(self, name, node):
        key = processes.create_hub(node.binary, node.data, name)[RULE]
        processes.martlet(
            node.binary, "hub", "credential", "set", name, "apns", *self._peer.credential_arguments(),
            "--data", node.data)
        self._hubs.append(Hub(name, key))

    async def _until_known(self, client, node, created):
        while (await client.request("GET", "registrations", node=node))[0] in (401, 404):
            if time.time() > created + 10:
                break
            await asyncio.sleep(0.05)
        checks.that("a new hub is known to all nodes within two seconds", time.time() < created + 2, node.name)

    @staticmethod
    async def _crowd(client, count):
        for _ in range(count):
            device = client.device("crowd")
            while not device.is_certain():
                await client.put(device)

    async def _start(self, node):
        """Starts it, again and again where the database is not to be had meanwhile."""
        deadline = time.monotonic() + START
        while True:
            began = time.time()
            try:
                await node.start()
                break
            except (processes.Failed, asyncio.TimeoutError) as error:
                if time.monotonic() > deadline:
                    raise processes.Failed(f"{node.name} does not come back: {error}") from error
                await asyncio.sleep(0.5)
        self._processes[node.process.pid].append((node.name, began))

    # Faults

    async def _supervise(self):
        """Starts a node again that ended by itself, as a service manager would; it is found wrong all the same."""
        while True:
            for node in self._nodes:
                if not node.is_disturbed and node.process.returncode is not None:
                    await self._start_again(node)
            await asyncio.sleep(0.2)

    async def _start_again(self, node):
        code, log = node.process.returncode, node.log_tail().splitlines()
        self._load.fail("ended by itself", f"{node.name} with {code}: {log[-1] if log else ''}")
        node.is_disturbed = True
        disturbance = [node.name, time.time() - 1, None]
        self._load.disturbances.append(disturbance)
        await self._start(node)
        disturbance[2] = time.time()
        node.is_disturbed = False

    async def _end(self, node):
        """SIGKILL, if it has not ended by itself."""
        if node.process.returncode is None:
            await node.kill()
        else:
            self._load.fail("ended by itself", f"{node.name} with {node.process.returncode}")

    async def _disturb(self):
        supervision = asyncio.create_task(self._supervise())
        writing = [asyncio.create_task(client.run(self._options.pause)) for client in self._clients]
        await asyncio.sleep(2)
        running = set()
        for number, kind in enumerate(self._kinds()):
            node = None if kind in DATABASE_FAULTS else await self._choose()
            if kind in DATABASE_FAULTS:
                await self._until_database_is_free()
            running.add(asyncio.create_task(self._fault(kind, node, number)))
            await asyncio.sleep(self._random.uniform(*self._options.spacing))
            for task in [task for task in running if task.done()]:
                running.remove(task)
                task.result()
        await asyncio.gather(*running)
        await asyncio.sleep(2)
        self._load.is_over = True
        await asyncio.gather(*writing)
        self._supervision = supervision

    def _choice_of_kinds(self):
        if self._options.break_fences:
            return ["stop"]
        kinds = self._options.kinds or (FEW if self._options.faults <= len(FEW) else NODE_FAULTS + DATABASE_FAULTS)
        left_out = {"replace"} if self._options.nodes == 1 else set()
        # Only root can give the database servers disks of their own.
        if os.geteuid() != 0:
            left_out.add("fill")
        return [kind for kind in kinds if kind not in left_out]

    def _kinds(self):
        kinds = self._choice_of_kinds()
        found = []
        while len(found) < self._options.faults:
            found += self._random.sample(kinds, len(kinds))
        return found[:self._options.faults]

    async def _choose(self):
        """A node that is all right, beside another one if there are several."""
        while True:
            free = [node for node in self._nodes if not node.is_disturbed]
            if len(free) >= min(2, len(self._nodes)):
                return self._random.choice(free)
            await asyncio.sleep(0.1)

    async def _until_database_is_free(self):
        while any(node is None and end is None for node, _, end in self._load.disturbances):
            await asyncio.sleep(0.1)

    async def _fault(self, kind, node, number):
        if node:
            node.is_disturbed = True
            if self._random.random() < AMID or self._options.break_fences:
                await self._until_amid_broadcast(node)
        disturbance = self._load.begin_disturbance(node and node.name)
        self._stops[disturbance[0], disturbance[1]] = kind
        self._print(f"fault {number + 1}: {kind} {node.name if node else 'the database'}")
        await getattr(self, f"_{kind}")(*[node] if node else [])
        self._load.end_disturbances(node and node.name)
        self._print(f"fault {number + 1} is over: {kind} {node.name if node else 'the database'}")
        if node:
            # Another one may have come in its place.
            self._nodes[self._place(node)].is_disturbed = False

    def _place(self, node):
        return next(place for place, each in enumerate(self._nodes) if each.port == node.port)

    async def _until_amid_broadcast(self, node):
        """Until pushes of a broadcast are on their way that this node sends; or for a while."""
        hubs = set((await self._query(
            "SELECT shard FROM martlet.send_ordinals JOIN martlet.nodes ON incarnation = node"
            f" WHERE name = '{node.name}'::bytea AND NOT is_dead")).split())
        owned = [helpers[0] for hub, helpers in self._helpers.items() if str(hub.number) in hubs]
        if not owned:
            return
        message = await self._random.choice(owned).broadcast()
        deadline = time.monotonic() + 2
        least = self._random.uniform(0.1, 0.6) * self._options.devices
        while message.accepted and self._arrivals.of_key[message.key] < least and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
            self._arrivals.read()

    async def _query(self, statement):
        try:
            return await asyncio.to_thread(self._cluster.query, statement)
        except processes.Failed:
            return ""  # the database is not to be had

    async def _while(self, shortest, longest):
        await asyncio.sleep(self._random.uniform(shortest, longest))

    async def _kill(self, node):
        await self._end(node)
        await self._while(0.2, 16)
        await self._start(node)

    async def _replace(self, node):
        """Kills it for good; a new one comes in its place."""
        await self._end(node)
        await self._while(0.2, 16)
        place = self._place(node)
        new = self._node(place, f"node-{self._made}", node.port)
        new.is_disturbed = True
        self._made += 1
        self._load.begin_disturbance(new.name)
        self._nodes[place] = new
        await self._start(new)
        self._load.end_disturbances(new.name)

    async def _leave(self, node):
        await self._end_in_order(node)
        await self._while(0, 3)
        await self._start(node)

    async def _end_in_order(self, node):
        self._ends.append((node.name, time.time()))
        code, _ = await node.stop()
        # A process that has only just started anew has nothing to end yet: the signal ends it at once.
        is_new = code == 143 and "The process starts anew." in node.log_tail().splitlines()[-1]
        checks.that("a node that is told to stop ends in order", code == 0 or is_new, code)

    async def _clock(self, node):
        """Its clock is wrong by a day from its start to its end."""
        await self._run_by_clock(node, self._wrong())

    async def _jump(self, node):
        """Its clock is set wrong by a day, and right again, while it runs."""
        await self._run_by_clock(node, 0, self._wrong(), 0)

    def _wrong(self):
        return self._random.choice([-1, 1]) * disturbances.DAY

    async def _run_by_clock(self, node, *offsets):
        """Starts it anew with a clock that is so much ahead for a while, then so much. Only its end, its start and the moment
        when the clock is set count as disturbances."""
        await self._end_in_order(node)
        node.clock = await asyncio.to_thread(disturbances.Clock, f"{node.data}-clock-{self._made}")
        self._made += 1
        began = time.time()
        for number, offset in enumerate(offsets):
            node.clock.set(offset)
            if number == 0:
                await self._start(node)
            self._print(f"the clock of {node.name} is {offset} s ahead")
            self._load.end_disturbances(node.name)
            await self._while(2, self._options.longest / len(offsets))
            self._load.begin_disturbance(node.name)
        self._stops[node.name, time.time()] = "clock"
        await self._end(node)
        self._wrong_clocks.append((began, time.time()))
        node.clock = None
        await self._start(node)

    async def _stop(self, node):
        before = (await self._query(f"SELECT max(incarnation) FROM martlet.nodes WHERE name = '{node.name}'::bytea")).strip()
        hubs = (await self._query(f"SELECT shard FROM martlet.send_ordinals WHERE node = {before or 0}")).split()
        if node.process.returncode is None:
            node.process.send_signal(signal.SIGSTOP)
        if self._options.break_fences:
            await asyncio.sleep(node_history.LEASE + node_history.MARGIN + 2)
            if before and hubs:
                await self._query(REVIVE.format(number=before, hubs=",".join(hubs)))
        else:
            await self._while(3, self._options.longest)
        if node.process.returncode is None:
            node.process.send_signal(signal.SIGCONT)
        await asyncio.sleep(1)

    async def _cut(self, node):
        await self._wire(node, "cut", "mend")

    async def _hold(self, node):
        await self._wire(node, "hold", self._random.choice(["mend", "reset"]))

    async def _slow(self, node):
        await self._wire(node, f"slow {self._random.uniform(0.2, 1.5):.1f}", "mend")

    async def _wire(self, node, command, end):
        command, *values = command.split()
        await self._wires.order(command, self._place(node), *values)
        await self._while(2, self._options.longest)
        await self._wires.order(end, self._place(node))
        await asyncio.sleep(1)

    async def _terminate(self):
        share = self._random.choice([1, 1, 0.5])
        self._print(f"sessions that the database ended: {await self._query(TERMINATE.format(share=share))}")

    async def _restart(self):
        await self._leave_without_database("start")

    async def _promote(self):
        await self._leave_without_database("promote")
        await asyncio.to_thread(self._cluster.order, "standby")

    async def _standby(self):
        """Kills the standby for a while. Sessions that wait for it meanwhile may be ended: what they have written is then in
        the primary alone, where it can be read."""
        await asyncio.to_thread(self._cluster.order, "lose")
        lost = time.time()
        await self._while(1, self._options.longest / 3)
        # More than once, because what waits has waited too long for an answer soon.
        for _ in range(self._random.choice([0, 2, 3])):
            await self._terminate()
            await self._while(0.5, 4)
        await self._while(1, self._options.longest / 3)
        ordered = time.time()
        self._lonely.append((lost, ordered))
        await asyncio.to_thread(self._cluster.order, "rejoin")
        self._absences.append((lost, time.time()))
        self._print(f"the standby has everything {time.time() - ordered:.1f} s after the order to start")

    async def _fill(self):
        """Fills the disk of the primary for a while. It crashes where it cannot go on with its log (WAL)."""
        filled = time.time()
        filling = [filled, None]
        self._load.fillings.append(filling)
        await asyncio.to_thread(self._cluster.order, "fill")
        if self._random.random() < 0.5:
            await self._query("SELECT pg_switch_wal()")
        await self._while(2, 12)
        ordered = time.time()
        await asyncio.to_thread(self._cluster.order, "room")
        filling[1] = time.time()
        self._absences.append((filled, filling[1]))
        self._print(f"a database with a standby answers {filling[1] - ordered:.1f} s after the order to make room")

    async def _leave_without_database(self, end):
        """Stops the database at once; what ends the absence is `start`, of the same one, or `promote`, of its standby."""
        stopped = time.time()
        await asyncio.to_thread(self._cluster.order, "stop")
        await self._while(0, 3)
        ordered = time.time()
        await asyncio.to_thread(self._cluster.order, end)
        self._absences.append((stopped, time.time()))
        self._print(f"a database answers {time.time() - ordered:.1f} s after the order to {end}")

    # Afterwards

    def _owed(self):
        """What has not come to whom it is for."""
        missing = []
        for message in self._load.messages.values():
            if message.accepted and message.place is None and not message.is_canceled and not message.is_spared:
                for token in message.owed:
                    if (message.key, token) not in self._arrivals.seen:
                        device = message.hub.devices[token]
                        if not (device.leaving_since or 0) > message.clock:
                            missing.append((message, token))
        return missing

    async def _settle(self):
        """Waits until all that is owed has come, or nothing more comes."""
        self._print("the faults are over")
        deadline = time.monotonic() + PATIENCE
        while True:
            if self._arrivals.read():
                deadline = time.monotonic() + PATIENCE
            elif not self._owed() or time.monotonic() > deadline:
                break
            await asyncio.sleep(0.25)
        await self._tell_owed()
        for client in self._clients:
            await client.read_all()
        await self._judge_states()
        await self._judge_traces()
        for node in self._nodes:
            checks.that("every node serves in the end", (await self._health(node)) == 200, node.name)
        await self._judge_list()
        for client in [*self._clients, *[each for helpers in self._helpers.values() for each in helpers]]:
            client.close()

    async def _tell_owed(self):
        """Prints of what has not come what became of it."""
        messages = {message.key: message for message, _ in self._owed()}.values()
        states = collections.Counter([await self._helpers[each.hub][0].state(each) for each in messages])
        if states:
            self._print(f"what has not come: {', '.join(f'{count} {state}' for state, count in states.items())}")

    async def _judge_list(self):
        """Whether each node lists all of them, with the hubs that they own. A process that could not start because its
        entry was not answered may be listed until the lease of that has ended."""
        expected = sorted(each.name for each in self._nodes), len(self._hubs)
        deadline = time.monotonic() + node_history.LEASE + node_history.MARGIN
        for node in self._nodes:
            while (found := await self._listed(node)) != expected and time.monotonic() < deadline:
                await asyncio.sleep(0.5)
            checks.equal("every node lists all nodes, which own all hubs together", found, expected)

    async def _listed(self, node):
        """The names of the nodes that live, and the number of the hubs that they own."""
        alive = [each for each in (await self._list(node))["nodes"] if each["isAlive"]]
        return sorted(each["name"] for each in alive), sum(each["hubs"] for each in alive)

    @staticmethod
    async def _list(node):
        """What the node tells of all nodes."""
        return json.loads(await asyncio.to_thread(processes.martlet, node.binary, "nodes", "--json", "--data", node.data))

    async def _health(self, node):
        connection = hub_client.Connection(node.port, TIMEOUT)
        try:
            return (await connection.request("GET", "/health/ready", {}))[0]
        except hub_client.Disconnected:
            return None
        finally:
            connection.close()

    async def _judge_states(self):
        """Whether every node says of what was accepted that it has ended."""
        messages = [each for each in self._load.messages.values() if each.accepted and not each.is_spared]
        wrong = []
        for message in self._random.sample(messages, min(SAMPLE, len(messages))):
            wanted = "Canceled" if message.is_canceled else "Completed"
            deadline = time.monotonic() + 5
            while (state := await self._helpers[message.hub][0].state(message)) != wanted and time.monotonic() < deadline:
                await asyncio.sleep(0.2)
            if state != wanted:
                wrong.append((message.key, state))
        if wrong:
            self._print(f"what has not ended:\n{await self._query(UNFINISHED)}")
            for node in self._nodes:
                self._print(f"the last words of {node.name}:\n{node.log_tail()}")
        checks.equal("every node knows that what was accepted has ended", wrong[:SHOWN], [])

    async def _judge_traces(self):
        """Whether any node says of devices that got a broadcast that they did, whichever nodes have sent it."""
        # The crowd never changes.
        got = [(message, message.hub.devices[token]) for message in self._load.messages.values()
               if message.accepted and message.tag is None for token in sorted(message.owed)
               if message.hub.devices[token].tag == "crowd" and (message.key, token) in self._arrivals.seen]
        wrong = []
        for message, device in self._random.sample(got, min(SAMPLE, len(got))):
            path = f"messages/{message.identifier}/devices/{device.identifier}"
            status, _, content = await self._helpers[message.hub][0].request("GET", path)
            verdict = json.loads(content)["verdict"] if status == 200 else status
            if verdict != "delivered":
                wrong.append((message.key, device.token[:8], verdict))
        checks.equal("every node knows who got a broadcast", wrong[:SHOWN], [])

    async def _judge(self):
        self._supervision.cancel()
        codes = []
        for node in self._nodes:
            self._ends.append((node.name, time.time()))
            codes.append((await node.stop())[0])
        checks.equal("every node ends in order", codes, [0] * len(codes))
        code, counts = await self._peer.stop()
        checks.that("the push service has nothing to complain of", code == 0, self._peer.log_tail())
        # Such as a second provider token on a connection.
        refused = [word for word in counts.split() if word[:1] in "45" and ":" in word]
        checks.equal("the push service has refused nothing", refused, [])
        self._arrivals.read()
        history = self._history()
        self._judge_arrivals()
        self._judge_history(history)
        self._judge_takeovers(history)
        self._report(counts)

    def _history(self):
        def rows(statement):
            return [line.split("|") for line in self._cluster.query(statement).splitlines()]
        leases = rows("SELECT incarnation, name, is_dead, at FROM judge.leases ORDER BY number")
        owners = rows("SELECT hub, incarnation, at FROM judge.owners ORDER BY number")
        with open(os.path.join(self._directory, "history.json"), "w") as file:
            json.dump({"leases": leases, "owners": owners, "faults": self._load.disturbances}, file)
        return node_history.History(
            [(int(number), name, is_dead == "t", float(at)) for number, name, is_dead, at in leases],
            [(int(hub), int(number), float(at)) for hub, number, at in owners], self._processes, self._ends)

    def _none(self, sentence, found):
        found = list(found)
        if found:
            self.wrong.append(sentence)
        checks.that(sentence, not found, f"{len(found)}, such as {found[:SHOWN]}")
        return found

    def _judge_arrivals(self):
        load = self._load
        self._none("nothing that was accepted is lost", [
            (message.key, message.hub.name, token[:8], f"accepted {message.accepted:.2f}") for message, token in self._owed()])
        strays, early, canceled, scores = [], [], [], collections.defaultdict(list)
        identifiers = collections.defaultdict(set)
        for push in sorted(self._arrivals.pushes, key=lambda push: push.arrived):
            message = load.messages.get(push.key)
            device = message and message.hub.devices.get(push.token)
            if not device or message.tag not in (None, device.tag) or (device.gone_since or message.clock) < message.clock:
                strays.append((push.key, push.token[:8]))
                continue
            if message.due and push.arrived < message.due - self._clock_error(push.arrived):
                early.append((push.key, message.due - push.arrived))
            if message.is_canceled:
                canceled.append((push.key, f"due {message.due:.2f}, came {push.arrived:.2f}"))
            if message.place and message.accepted:
                scores[push.token].append((message.place, push.key))
            identifiers[push.key, push.token].add(push.identifier)
        self._none("nothing came to a device that it was not for", strays)
        self._none("nothing came before its time", early)
        self._none("nothing came that was canceled", canceled)
        self._none("what came twice has one id", [where for where, found in identifiers.items() if len(found) > 1])
        self._none("no older message under a collapse key came after a newer one", [
            (first, second) for each in scores.values() for first, second in zip(each, each[1:]) if second[0] < first[0]])
        self._none("the newest message under a collapse key has come", self._unscored())
        for kind, found in load.failures.items():
            self._none(f"nothing {kind}", found)
        self._none("no write was answered with success while the database had no standby",
                   answered_during(load.stored, self._lonely, self._options.grace))
        if not load.failures:
            checks.that("no request failed with nothing wrong, and all was stored that was answered", True)

    def _clock_error(self, moment):
        """How much a node may be wrong about the time: it goes by the database's clock to the second if its own is wrong."""
        return 1 if any(start < moment < end + 1 for start, end in self._wrong_clocks) else 0

    def _unscored(self):
        """The last accepted of each collapse key, unless one behind it was stored without an answer."""
        last = {}
        for message in self._load.messages.values():
            if message.place:
                last.setdefault((message.hub.name, message.tag), []).append(message)
        for messages in last.values():
            accepted = [message for message in messages if message.accepted]
            unanswered = [message for message in messages if not message.accepted]
            if accepted and not self._arrivals.of_key[accepted[-1].key]:
                if not any(self._arrivals.of_key[message.key] for message in unanswered):
                    yield accepted[-1].key

    def _judge_history(self, history):
        pushes, grace, messages = self._arrivals.pushes, self._options.grace, self._load.messages
        known = [push for push in pushes if push.key in messages]
        began = min((each.renewals[0] for each in history.incarnations.values()), default=0)
        self._again, unexplained = 0, []
        for first, second, is_explained in history.repetitions(known, self._options.window):
            self._again += 1
            if not is_explained:
                one, other = history.sender(first), history.sender(second)
                unexplained.append(
                    f"{first.key} to {first.token[:8]} by {one and one.number} at {first.arrived - began:.2f} and by"
                    f" {other and other.number} at {second.arrived - began:.2f}, renewed last at"
                    f" {one.renewals[-1] - began if one else 0:.2f}")
        self._none(TWICE, unexplained)
        self._none(
            LATE,
            [f"{push.key} by {history.sender(push).number} after {age:.2f} s" for push, age in history.late(known, grace)])
        self._none(
            FOREIGN,
            [f"{push.key} by {number} at {push.arrived - began:.2f}"
             for push, number in history.foreign(known, lambda push: messages[push.key].hub.number, grace)])
        self._none("a dead node stays dead", [
            (each.number, each.name, each.revivals[0] - each.dead) for each in history.incarnations.values() if each.revivals])
        self._none("no node was taken for dead to which nothing was done", [
            (each.number, each.name, each.dead - began) for each in history.buried(self._load.disturbances, CALM)])
        self._silences, leaks = [], []
        by_key = collections.defaultdict(list)
        for push in known:
            by_key[push.key].append(push)
        for message in messages.values():
            if message.paused:
                of_it = by_key[message.key]
                leaks += [f"{push.key} {push.arrived - message.paused:.2f} s after its pause"
                          for push in history.leaks(of_it, message.paused, message.resumed, grace)]
                after = [push.arrived - message.paused for push in of_it if message.paused < push.arrived < message.resumed]
                self._silences.append(max(after, default=0))
        self._none("a pause holds at all nodes within a second", leaks)

    def _judge_takeovers(self, history):
        self._times, self._unclear, late = [], 0, []
        for hub, former, last, moment, since in history.takeovers(self._absences):
            starts = [start for (name, start) in self._stops
                      if name == former.name and last - 0.5 < start < min(last + 2.5, moment)]
            start = max(starts, default=last)
            # The others leave to a node that is slow what is its share.
            is_slow = self._is_slow(history.incarnations[dict(history.owners[hub])[moment]].name, moment)
            if not is_slow and moment - since > self._options.takeover + self._options.grace:
                late.append(f"hub {hub} of {former.number} {former.name} after {moment - start:.1f} s")
            if since == last and not is_slow:
                self._times.append(moment - start)
            else:
                self._unclear += 1
        self._none(f"the hubs of a dead node have another owner within {self._options.takeover} seconds", late)
        orphans = [hub for hub, owners in history.owners.items() if not owners[-1][1]]
        self._none("every hub has an owner in the end", orphans)

    def _is_slow(self, name, moment):
        """Whether the way of the node to the database was."""
        return any(node == name and start < moment and (end is None or moment < end)
                   and self._stops.get((name, start)) == "slow" for node, start, end in self._load.disturbances)

    def _report(self, counts):
        done = self._load.counts
        kinds = ["registrations", "removals", "sends", "broadcasts", "schedules", "cancellations", "pauses",
                 "sends under a collapse key"]
        self._print("accepted " + ", ".join(f"{done[kind]} {kind}" for kind in kinds))
        idle = [kind for kind in kinds if not done[kind]]
        checks.that("there was some of everything to judge", not idle or self._options.break_fences, idle)
        owed = sum(len(message.owed) for message in self._load.messages.values() if message.accepted)
        pushes = len(self._arrivals.pushes)
        self._print(f"owed {owed} pushes, {len(self._arrivals.seen)} came, {self._again} of them again")
        self._print(
            f"requests: {done['answered']} answered, {done['not answered']} not; of those at nodes beside a disturbed one"
            f" {done['answered beside']} answered, {done['not answered beside']} not")
        without = {kind: count for kind, count in sorted(done.items()) if kind.startswith("without room")}
        if without:
            kinds = [f"{count} {kind.removeprefix('without room ').replace('None', 'not answered')}"
                     for kind, count in without.items()]
            self._print(f"writes on a full disk: {', '.join(kinds)}")
        middle, nearly, most = quantiles(self._times or [0])
        self._print(
            f"takeovers of hubs: {len(self._times)}, after {middle:.1f} s in the middle, {nearly:.1f} s in 99 of 100,"
            f" {most:.1f} s at most; and {self._unclear} by a slow node, or after the others or the database had been away")
        if self._silences:
            middle, nearly, most = quantiles(self._silences)
            self._print(
                f"pauses: {len(self._silences)}; the last push {middle:.3f} s after the answer in the middle,"
                f" {nearly:.3f} s in 99 of 100, {most:.3f} s at most")
        self._print(f"{pushes} pushes; {counts.strip()}")


def answered_during(answers, spans, grace):
    """What was answered, at moments, in one of the spans; an answer may be as late as `grace`."""
    return [f"{what} {moment - start:.1f} s after" for moment, what in answers
            for start, end in spans if start + grace < moment < end]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("martlet", help="the server's binary")
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--faults", type=int, default=40, help="up to five: of each kind that matters most, one")
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=None, help="only these kinds of faults")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--clients", type=int, default=12)
    parser.add_argument("--devices", type=int, default=200, help="of each hub, beside those of the clients")
    parser.add_argument("--pause", type=float, default=0.15, help="mean seconds between two steps of a client")
    parser.add_argument("--rate", type=int, default=700, help="pushes that the service answers in a second")
    parser.add_argument("--longest", type=float, default=30, metavar="SECONDS", help="of a node that is stopped or cut off")
    parser.add_argument("--spacing", type=float, nargs=2, default=(1, 10), metavar="SECONDS", help="from fault to fault")
    parser.add_argument("--window", type=float, default=6, metavar="SECONDS",
                        help="how long before its last renewal a dead node may have sent something that comes again")
    parser.add_argument("--grace", type=float, default=1, metavar="SECONDS", help="for a busy machine, in each limit")
    parser.add_argument("--takeover", type=float, default=13, metavar="SECONDS")
    parser.add_argument("--break-fences", action="store_true", help="judge the judge: it must find something wrong")
    parser.add_argument("--keep", metavar="DIR", help="work in this new directory and keep it")
    options = parser.parse_args()
    options.martlet = os.path.abspath(options.martlet)
    if options.seed is None:
        options.seed = random.SystemRandom().getrandbits(32)
    return options


async def course(options, directory):
    judged = Course(options, directory)
    await judged.run()
    if options.break_fences:
        checks.passed = checks.failed = 0
        checks.that("broken fences are found out", {TWICE, LATE, FOREIGN} & set(judged.wrong), judged.wrong)


def finish(checks, course, options):
    """Runs a course in the directory to keep, or in a temporary one, and ends the program."""
    with tempfile.TemporaryDirectory() as temporary:
        directory = os.path.realpath(options.keep or temporary)
        os.makedirs(directory, mode=0o700, exist_ok=True)
        checks.finish(course(options, directory))


def main():
    options = parse_arguments()
    print(f"nodes: seed={options.seed} nodes={options.nodes} faults={options.faults}", flush=True)
    finish(checks, course, options)


if __name__ == "__main__":
    main()
