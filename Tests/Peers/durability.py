"""The kill storm: nothing that the server answered with success may be missing after SIGKILL, whenever it comes.

Concurrent writers register, delete and send through the REST API of a real `martlet serve`, to users, to everybody, and
for a moment that is still to come, some of it as messages for every platform, and some as canaries: those go to one device
first, and to the others when they are resumed. A strict APNs peer keeps the ledger of deliveries, and may turn some pushes away so
that they must be retried. The server is killed at random moments and started again. Each round what was acknowledged is read
back; at the end every acknowledged message must have reached every device that was registered when it was sent, and a
device may have had one twice only if a kill came between, soon after the first. Of a canary no second device may have got
anything before somebody asked to resume it.

    --forgetful   a kill also throws away what was written and not synced, as a power loss would
    --simulator   some users' devices are of the simulator's other services, which fail in every way that makes the
                  server come again, while it is killed; what arrived there is counted by the simulator's own ledger.
                  Messages for every platform go to all devices of such a user, or to everybody's
    --stalls      the server, the peer and the simulator stand still now and then (SIGSTOP)
    --postgres    the data is in a PostgreSQL of its own, whose sessions of the server are terminated now and then
    --clock       the clock on the wall is set forward and back by minutes, hours and days (libfaketime)
"""

import argparse
import asyncio
import bisect
import contextlib
import collections
import functools
import json
import os
import random
import sys
import tempfile
import time

import disturbances
import forgetful
import hub_client
import postgres
import process_figures
import processes
import simulators
from growing_file import GrowingFile
from hub_client import API_VERSION, Connection, Disconnected

HUB = "storm"
STEADY_DEVICES = 2   # per user: updated, never deleted
USERS = 2            # per writer
EVERYBODY = 0.04     # of the sends
SCHEDULED = 0.15
CANARIES = 0.15
COMPOSED = 0.2
RESUMES = 0.1         # of the steps
LONGEST_AHEAD = 3    # seconds
BUSY_ROUNDS = 30     # more than were asked for, at most
SHOWN = 10           # failures of a kind
PROBERS = 4          # writers who send then
CALM = 3             # seconds without a delivery, before the clock is set for the last time
IDLE_SHARE = 0.15    # of a processor
DELIVERY_CHECKS = 4  # per second, while waiting for the last deliveries
ELSEWHERE = 0.3      # of the steps, where there is a simulator
TOGETHER = 0.3       # of these, to all services as one message
EXPIRY = 24 * 3600   # seconds after which a message is given up
TERMINATIONS = 0.4   # of the rounds, where there is a database to end its sessions
TERMINATE = """
    WITH ended AS (SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'martlet')
    SELECT count(*) FROM ended"""
LIFETIME = 30 * 24 * 3600  # of signatures, which outlives any clock
# Pushes of broadcasts to everybody, after which there are no more: the peers take some hundred to some thousand a second,
# so that a quick machine would leave hours of them.
MOST_BROADCAST = 500_000


class Device:
    """One device token in one registration, and what may be stored about it.

    `possible` holds the revisions that a read may show, None for "not there"; it has one member except after a
    request that a kill left unanswered."""

    def __init__(self, identifier, token, user, steady):
        self.identifier, self.token, self.user, self.steady = identifier, token, user, steady
        self.service = "apns"
        self.revision = 0
        self.possible = {None}
        self.leaving_since = None  # clock of the last attempt to delete it
        self.gone_since = None     # clock at which it was known to be deleted

    def tags(self, revision):
        return [self.user, f"revision-{revision}"]

    def certain(self):
        return len(self.possible) == 1 and None not in self.possible


class Message:
    """`users` is None where it is for everybody, `due` where it is for now."""

    def __init__(self, key, users, owed, clock, shown, due=None, service="apns"):
        self.key, self.users, self.owed, self.clock, self.due = key, users, owed, clock, due
        self.service = service
        self.sent, self.shown = time.monotonic(), shown  # the latter by the server's clock
        self.acknowledged = None  # when
        self.is_canary = self.is_composed = False
        self.place = None    # of the notification, where it is a canary
        self.resumed = None  # when it was asked to go on first

    def body(self):
        if self.is_composed:
            return json.dumps({"text": self._text(), "data": {"key": self.key}}, ensure_ascii=False)
        if self.service != "apns":
            return simulators.body(self.service, self.key).decode()
        return json.dumps({"aps": {"alert": f"storm “{self.key}”"}, "key": self.key}, ensure_ascii=False)

    def _text(self):
        """Of a message for every platform, with the word by which the simulator's ledger is read."""
        return f"storm “{simulators.word(self.key)}”"

    def is_shown_by(self, payload):
        """Whether a device that got the payload was told what was sent."""
        if not self.is_composed:
            return payload == self.body()
        told = json.loads(payload)
        return told["key"] == self.key and told["aps"]["alert"]["body"] == self._text()


class Storm:
    """All that the writers share: the server's address, the client's ledger and the tallies."""

    def __init__(self, rule, ledger, seed, pause, wall, simulator=None, broadcasts=EVERYBODY, together=TOGETHER):
        self._rule, self._ledger = rule, open(ledger, "a", buffering=1)
        self.wall, self.simulator, self.broadcasts, self.together = wall, simulator, broadcasts, together
        self.services = [each for each in simulator.services if each != "apns"] if simulator else []
        self.random = random.Random(seed)
        self.pause = pause
        self.port = None
        self.killed = False
        self.clock = 0
        self.counts = collections.Counter()
        self.failures = []
        self.devices, self.messages = {}, {}  # by token, by key
        self.kills = []
        self.broadcast = 0  # pushes

    def tick(self):
        self.clock += 1
        return self.clock

    def acknowledge(self, what, name, status):
        self.counts[what] += 1
        self._ledger.write(f'{{"time":{time.time():.6f},"what":"{what}","name":"{name}","status":{status}}}\n')

    def fail(self, kind, text):
        self.counts[kind] += 1
        self.failures.append(f"{kind}: {text}")

    def authorization(self, chance):
        resource = chance.choice([hub_client.namespace_resource(self.port), hub_client.hub_resource(HUB, self.port)])
        return hub_client.signature(resource, *self._rule, lifetime=LIFETIME)

    def expired(self, message, moment):
        """Whether the message may have been given up by then, by a clock that was set far ahead."""
        since = max(message.shown, message.due or 0)
        return self.wall.latest(message.sent, moment) >= since + EXPIRY


class Writer:
    def __init__(self, storm, number):
        self._storm, self._number = storm, number
        self._random = random.Random(storm.random.getrandbits(64))
        self._users = [f"user-{number}-{index}" for index in range(USERS)]
        self._devices = [self._new_device(user, True) for user in self._users for _ in range(STEADY_DEVICES)]
        self._guests = [self._new_guest(service) for service in storm.services]
        self._touched = set()
        self._made = 0
        self._held = []  # canaries that nobody has let go

    def _new_device(self, user, steady):
        digits = [f"{self._random.randrange(10**18, 10**19)}" for _ in range(2)]
        device = Device(f"{digits[0]}-{digits[1]}-1", f"{self._random.getrandbits(256):064x}", user, steady)
        self._storm.devices[device.token] = device
        return device

    def _new_guest(self, service):
        """A device of the simulator's, registered once and then left alone."""
        token = self._storm.simulator.device(service)
        device = Device(f"guest-{self._number}-{service}", token, f"guest-{self._number}", True)
        device.service = service
        self._storm.devices[token] = device
        return device

    async def _request(self, method, path, body=b"", **headers):
        if self._storm.killed:
            raise Disconnected("the round is over")
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        path = f"/{HUB}/{path}?{API_VERSION}"
        return await self._connection.request(method, path, {"Authorization": self._token} | headers, body)

    # A round: look at what the kill left, then write until the next one.

    async def check(self, everything=False):
        # On a machine that does much beside it, the last hundreds of canaries are let go at once, which takes time.
        self._connection = Connection(self._storm.port, timeout=60)
        self._token = self._storm.authorization(self._random)
        for device in self._devices if everything else list(self._touched):
            await self._read_back(device)
        self._touched.clear()
        if everything:
            self._connection.close()

    async def _read_back(self, device):
        status, _, body = await self._request("GET", f"registrations/{device.identifier}")
        self._storm.counts["reads"] += 1
        found = None
        if status == 200:
            identifier, token, tags = hub_client.read_entry(body)
            revisions = {revision for revision in device.possible if revision is not None}
            found = next((each for each in revisions if tags == set(device.tags(each))), "another content")
            if (identifier, token) != (device.identifier, device.token):
                found = "another content"
        elif status not in (404, 410):
            return self._storm.fail("unreadable", f"{device.identifier} answered {status}")
        if found not in device.possible:
            kind = "missing" if found is None else "undeleted" if device.possible == {None} else "wrong content"
            self._storm.fail(kind, f"{device.identifier}: stored {found}, acknowledged {device.possible}")
        device.possible = {found}
        if found is None and device.leaving_since and not device.gone_since:
            device.gone_since = self._storm.tick()

    async def write(self):
        """Writes until the server is killed."""
        try:
            while True:
                await self._step()
                await asyncio.sleep(self._random.uniform(0, 2 * self._storm.pause))
        except Disconnected as error:
            self._connection.close()
            if not self._storm.killed:
                self._storm.fail("unanswered", f"{error} while the server was alive")
            elif error.__cause__:
                self._storm.counts["in flight"] += 1

    async def _step(self):
        absent = [device for device in self._devices if device.steady and None in device.possible]
        if absent:
            return await self._put(self._random.choice(absent))
        absent = [device for device in self._guests if None in device.possible]
        if absent:
            return await self._install(absent[0])
        if self._guests and self._random.random() < ELSEWHERE:
            guests = self._guests if self._random.random() < self._storm.together else [self._random.choice(self._guests)]
            return await self._send(guests)
        if self._held and self._random.random() < RESUMES:
            return await self._let_go(self._random.choice(self._held))
        choice = self._random.random()
        passing = [device for device in self._devices if not device.steady and None not in device.possible]
        if choice < 0.15:
            await self._put(self._random.choice([device for device in self._devices if device.steady]))
        elif choice < 0.22 or (choice < 0.32 and not passing):
            await self._put(self._join())
        elif choice < 0.25:
            await self._create()
        elif choice < 0.32:
            await self._delete(self._random.choice(passing))
        else:
            await self._send()

    def _join(self):
        device = self._new_device(self._random.choice(self._users), False)
        self._devices.append(device)
        return device

    async def _put(self, device):
        device.revision += 1
        before, device.possible = device.possible, device.possible | {device.revision}
        self._touched.add(device)
        entry = hub_client.registration_entry(device.token, device.tags(device.revision))
        status, _, _ = await self._request("PUT", f"registrations/{device.identifier}", entry, **_XML)
        if self._accepted("registration", device.identifier, status, 200):
            device.possible = {device.revision}
        elif status < 500:
            device.possible = before

    async def _install(self, device):
        body = simulators.installation(device.identifier, device.service, device.token, [device.user])
        path = f"installations/{device.identifier}"
        status, _, _ = await self._request("PUT", path, body, Content_Type="application/json")
        if self._accepted("registration", device.identifier, status, 200):
            device.possible = {0}

    async def _create(self):
        """A registration whose id the server gives; without its answer nobody knows the id."""
        device = self._new_device(self._random.choice(self._users), False)
        entry = hub_client.registration_entry(device.token, device.tags(0))
        status, _, body = await self._request("POST", "registrations", entry, **_XML)
        if status == 200:
            device.identifier = hub_client.read_entry(body)[0]
            device.possible = {0}
            self._devices.append(device)
            self._touched.add(device)
        self._accepted("registration", device.identifier, status, 200)

    async def _delete(self, device):
        device.possible = device.possible | {None}
        device.leaving_since = self._storm.tick()
        self._touched.add(device)
        status, _, _ = await self._request("DELETE", f"registrations/{device.identifier}", If_Match="*")
        if self._accepted("deletion", device.identifier, status, 200):
            device.possible, device.gone_since = {None}, self._storm.tick()

    async def probe(self):
        """One message for each kind of device of this writer, to come at once."""
        return [await self._send(guests, is_probe=True) for guests in [(), *[[guest] for guest in self._guests]]]

    async def _send(self, guests=(), is_probe=False):
        """To devices of this writer's users; to one guest in its service's form, to several as one message."""
        message = self._new_message(guests, is_probe)
        form, kind, _ = simulators.FORMS[message.service]
        headers = {"ServiceBusNotification_Format": form, "Content_Type": f"{kind};charset=utf-8"}
        if message.users:
            headers["ServiceBusNotification_Tags"] = " || ".join(sorted(message.users))
        if message.is_composed:
            headers |= {"ServiceBusNotification_Format": "message", "Content_Type": "application/json;charset=utf-8"}
        if message.is_canary:
            headers["Martlet_Rollout"] = "first=1"
        path = "messages"
        if message.due:
            path = "schedulednotifications"
            moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(message.due))
            headers["ServiceBusNotification_ScheduleTime"] = f"{moment}.{int(message.due % 1 * 1000):03d}Z"
        status, fields, _ = await self._request("POST", path, message.body().encode(), **headers)
        kind = (
            "canary" if message.is_canary else "guest" if guests else "schedule" if message.due
            else "message" if message.users else "broadcast")
        if self._accepted(kind, message.key, status, 201):
            message.acknowledged = time.monotonic()
            if message.is_canary:
                message.place = "messages/" + fields["location"].partition("?")[0].rpartition("/")[2]
                self._held.append(message)
        return message

    async def _let_go(self, message):
        """Resumes a canary that holds; whether it needs it no more."""
        code, _, body = await self._request("GET", f"{message.place}/status")
        message.last_status = code, body
        if code == 200 and (status := json.loads(body))["control"] == "holding":
            message.resumed = message.resumed or time.monotonic()
            code, _, body = await self._request("POST", f"{message.place}/resume")
        if code == 200 and "partsWaiting" not in json.loads(body) or code == 409:
            # A kill may come before its answer: then it is asked again.
            self._held = [each for each in self._held if each is not message]
            return True
        return False

    async def let_go(self, patience, count):
        """Lets all of its canaries go; gives up when none has gone, and nothing has come to any device, for so many
        seconds. `count` tells how much has come: a canary waits for its turn behind what was sent before it."""
        # It may be long since the last request, and the server closes connections that nobody uses.
        self._connection.close()
        known, deadline = None, time.monotonic() + patience
        while self._held and time.monotonic() < deadline:
            for message in list(self._held):
                await self._let_go(message)
            if (now := (len(self._held), count())) != known:
                known, deadline = now, time.monotonic() + patience
            # All writers ask for all of their canaries: without a pause, the server would do little else.
            await asyncio.sleep(1)
        for message in self._held:
            self._storm.fail("stuck", f"canary {message.key} does not go on: {message.last_status}")
        # Nothing may be asked for so long that the server closes it.
        self._connection.close()

    def _new_message(self, guests, is_probe):
        self._made += 1
        is_composed = len(guests) > 1 or not guests and not is_probe and self._random.random() < COMPOSED
        users, devices = None, list(self._storm.devices.values())
        if guests:
            users, devices = {guests[0].user}, guests
        elif self._random.random() >= self._storm.broadcasts or self._storm.broadcast >= MOST_BROADCAST:
            users = set(self._users if self._random.random() < 0.2 else [self._random.choice(self._users)])
            devices = [device for device in self._devices if device.user in users]
        elif not (is_composed and self._storm.together):
            devices = [device for device in devices if device.service == "apns"]
        due, shown = None, self._storm.wall.now()
        if not is_probe and self._random.random() < SCHEDULED:
            due = shown + self._random.uniform(0, LONGEST_AHEAD)
        owed = {device.token for device in devices if device.certain()}
        if users is None:
            self._storm.broadcast += len(owed)
        service = guests[0].service if len(guests) == 1 else "apns"
        message = Message(f"{self._number}-{self._made}", users, owed, self._storm.tick(), shown, due, service)
        message.is_composed = is_composed
        if users and len(guests) != 1 and not is_probe:
            message.is_canary = not due and self._random.random() < CANARIES
        self._storm.messages[message.key] = message
        return message

    def _accepted(self, what, name, status, expected):
        if status == expected:
            self._storm.acknowledge(what, name, status)
            return True
        self._storm.counts["refused"] += 1
        if status not in (429, 503):
            self._storm.fail("unexpected status", f"{what} answered {status}")
        return False


def faults(services, has_long_waits):
    """What goes wrong at the simulator: everything after which a push comes again, soon or after a minute."""
    for service in services:
        scope = {"service": service}
        yield scope | {"fault": "unavailable", "every": 7, "retryAfter": 1}
        yield scope | {"fault": "reset", "every": 41}
        yield scope | {"fault": "goAway", "every": 37}
        yield scope | {"fault": "slow", "every": 5, "delay": 300}
        if has_long_waits:
            yield scope | {"fault": "internalError", "every": 31}
            yield scope | {"fault": "rateLimit", "every": 101, "retryAfter": 5}


KINDS = ("registration", "deletion", "message", "broadcast", "schedule", "canary")
PLURALS = {"canary": "canaries"}
_XML = {"Content_Type": "application/atom+xml;type=entry;charset=utf-8"}


class Deliveries:
    """The peer's ledger and the simulator's, read as they grow."""

    def __init__(self, path, arrivals=None):
        self._file = GrowingFile(path)
        self._arrivals = arrivals
        self.times = collections.defaultdict(list)  # (key, token) -> when, and when the connection was opened
        self.identifiers = {}               # (key, token) -> apns-ids
        self.altered = 0
        self.count = 0

    def read(self, messages):
        """Takes in what is new; whether there was any."""
        lines = self._file.lines()
        for delivery in map(json.loads, lines):
            key = json.loads(delivery["payload"])["key"]
            where = (key, delivery["token"])
            self.times[where].append((delivery["steady"], delivery["opened"], delivery["time"]))
            self.identifiers.setdefault(where, set()).add(delivery["apns-id"])
            self.altered += key not in messages or not messages[key].is_shown_by(delivery["payload"])
        arrived = list(self._arrivals.read()) if self._arrivals else []
        for delivery in arrived:
            self.times[delivery["key"], delivery["handle"]].append(
                (delivery["steady"], delivery["opened"], delivery["time"]))
        self.count += len(lines) + len(arrived)
        return bool(lines or arrived)

    def owed(self, storm):
        """The deliveries still missing, and those excused because the device was being deleted meanwhile, or because the
        clock was set so far ahead that the message expired."""
        missing, excused, now = [], 0, time.monotonic()
        for message in storm.messages.values():
            for token in message.owed if message.acknowledged else ():
                if (message.key, token) not in self.times:
                    if (storm.devices[token].leaving_since or 0) > message.clock or storm.expired(message, now):
                        excused += 1
                    else:
                        missing.append((message.key, token))
        return missing, excused

    def strays(self, storm):
        """Deliveries to devices that were not addressed, or were deleted before the message was sent."""
        found = []
        for key, token in self.times:
            message, device = storm.messages.get(key), storm.devices.get(token)
            if not message or not device or (message.users and device.user not in message.users):
                found.append((key, token))
            elif device.gone_since and device.gone_since < message.clock:
                found.append((key, token))
        return found

    def early(self, storm):
        """Deliveries before the time that the message was scheduled for; a clock's millisecond is forgiven."""
        found = []
        for where, times in self.times.items():
            message = storm.messages.get(where[0])
            if message and message.due:
                arrived, _, shown = min(times)
                early = message.due - max(shown, storm.wall.latest(message.sent, arrived))
                if early > 0.001:
                    found.append((where[0], early))
        return found

    def leaked(self, storm):
        """Canaries that came to more than one device before somebody asked to resume them."""
        first = collections.Counter(
            key for (key, _), times in self.times.items()
            if (message := storm.messages.get(key)) and message.is_canary
            and min(times)[0] < (message.resumed or float("inf")))
        return [key for key, count in first.items() if count > 1]

    def again(self, storm):
        """What came to a device once more: for each, and which one before it, the seconds from that to the kill that
        explains it. None where there was none: where both came over connections of the same process. When a delivery
        was taken in says less, since what a process had sent is still read when it is dead."""
        for where, times in self.times.items():
            for first, second in zip(times, times[1:]):
                kill = _between(storm.kills, first[1], second[1])
                yield where, None if kill is None else kill - first[0]


def _between(moments, start, end):
    """The first of the ascending moments that lies there, or None."""
    place = bisect.bisect_left(moments, start)
    return moments[place] if place < len(moments) and moments[place] <= end else None


class TrueClock:
    """Nobody sets it."""

    @staticmethod
    def now():
        return time.time()

    @staticmethod
    def latest(_, __):
        return 0


class Run:
    def __init__(self, options, directory):
        self._options, self._directory = options, directory
        self._data = os.path.join(directory, "data")
        self._journal = os.path.join(directory, "journal")
        self._random = random.Random(options.seed)
        environment = None
        os.mkdir(self._data, 0o700)
        self._clock = disturbances.Clock(os.path.join(directory, "clock")) if options.clock else None
        if options.forgetful:
            library = os.path.join(directory, "forgetful.so")
            forgetful.build(library)
            environment = forgetful.environment(library, self._data, self._journal)
        faults = [f"--throttle-every={options.throttle}", f"--refuse-every={options.refuse}"]
        if options.service_rate:
            faults.append(f"--rate={options.service_rate}")
        # The services see the same clock: otherwise they would refuse what is signed by another.
        services = None
        if self._clock:
            services = self._clock.environment
            environment = functools.partial(self._clock.environment, environment)
        self._peer = processes.APNsPeer(os.path.join(directory, "apns"), *faults, environment=services)
        self._simulator = None
        if options.simulator:
            place = os.path.join(directory, "simulator")
            self._simulator = simulators.Simulator(options.martlet, place, environment=services)
        log = os.path.join(directory, "server.log")
        self._cluster = postgres.Cluster() if options.postgres else None
        database = ["--database", self._cluster.url] if self._cluster else []
        self._server = processes.Server(options.martlet, self._data, log, *database, environment=environment)
        self._storm = None
        self._undone = self._kills = self._terminated = 0
        self._left = []
        programs = {"server": self._server, "peer": self._peer, "simulator": self._simulator}
        self._stalls = disturbances.Stalls(
            {name: program for name, program in programs.items() if program}, random.Random(options.seed + 1),
            options.stalls)

    async def run(self):
        await self._peer.start()
        try:
            name = "DefaultFullSharedAccessSignature"
            if self._cluster:
                # Only a server has the database.
                await self._server.start()
            rule = (name, processes.create_hub(self._options.martlet, self._data, HUB)[name])
            credential = ["hub", "credential", "set", HUB, "apns", *self._peer.credential_arguments()]
            processes.martlet(self._options.martlet, *credential, "--data", self._data)
            if self._cluster:
                await self._server.stop()
            ledger = os.path.join(self._directory, "client.jsonl")
            if self._simulator:
                await self._simulator.start()
                self._simulator.set_credentials(self._data, HUB, self._failing)
                self._fail_services()
            wall = self._clock or TrueClock()
            self._storm = Storm(
                rule, ledger, self._options.seed, self._options.pause, wall, self._simulator,
                self._options.broadcasts, self._options.together)
            self._kinds = KINDS + (("guest",) if self._simulator else ())
            self._writers = [Writer(self._storm, number) for number in range(self._options.writers)]
            arrivals = simulators.Arrivals(self._simulator.ledger) if self._simulator else None
            self._deliveries = Deliveries(self._peer.ledger, arrivals)
            async with self._disturbed():
                await self._rounds()
            return await self._settle()
        finally:
            for program in (self._server, self._peer, self._simulator):
                if program and program.process and program.process.returncode is None:
                    program.process.kill()
            if self._cluster:
                self._cluster.stop()

    @property
    def _failing(self):
        """The services that the simulator has; APNs is the strict peer."""
        return [service for service in self._simulator.services if service != "apns"]

    def _fail_services(self):
        self._simulator.script(list(faults(self._failing, self._options.long_waits)), self._options.seed)

    async def _rounds(self):
        for number in range(self._options.rounds + BUSY_ROUNDS):
            # On a busy machine a few rounds may be too short for what is rare.
            if number >= self._options.rounds and all(self._storm.counts[kind] for kind in self._kinds):
                break
            await self._round(number)

    @contextlib.asynccontextmanager
    async def _disturbed(self):
        """Programs stand still and the clock is set while this lasts."""
        tasks = []
        if self._options.stalls:
            tasks.append(asyncio.create_task(self._stalls.run()))
        if self._clock:
            chance = random.Random(self._options.seed + 2)
            tasks.append(asyncio.create_task(disturbances.set_at_random(self._clock, chance, 1)))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _round(self, number):
        if self._random.random() < 0.1:
            await self._kill_while_starting()
        await self._start()
        await asyncio.gather(*[writer.check() for writer in self._writers])
        writing = [asyncio.create_task(writer.write()) for writer in self._writers]
        await self._interrupt(self._random.uniform(0.05, 2 * self._options.interval))
        self._storm.killed = True
        await self._kill()
        await asyncio.gather(*writing)
        self._deliveries.read(self._storm.messages)
        if (number + 1) % 10 == 0:
            self._print(f"round {number + 1}: {self._accepted()}, {self._deliveries.count} delivered")

    async def _interrupt(self, seconds):
        """Waits; in the middle, where there is one, the database may end its sessions."""
        await asyncio.sleep(seconds / 2)
        if self._cluster and self._random.random() < TERMINATIONS:
            self._terminated += int(self._cluster.query(TERMINATE))
        await asyncio.sleep(seconds / 2)

    async def _start(self):
        await self._server.start()
        self._storm.port, self._storm.killed = self._server.port, False

    async def _kill(self):
        await self._server.kill()
        if self._storm:
            self._storm.kills.append(time.monotonic())
        self._kills += 1
        if self._options.forgetful:
            self._undone += forgetful.forget(self._data, self._journal)

    async def _kill_while_starting(self):
        starting = asyncio.create_task(self._server.start())
        await asyncio.sleep(self._random.uniform(0.005, 0.1))
        while not self._server.process:
            await asyncio.sleep(0.001)
        await self._kill()
        try:
            await starting
        except processes.Failed:
            pass  # killed before it was ready

    async def _settle(self):
        """Starts the server a last time and waits until all that is owed has come, or nothing more comes."""
        await self._start()
        await asyncio.gather(*[writer.check(everything=True) for writer in self._writers])
        if self._clock:
            await self._write_without_kills()
        if self._simulator:
            self._simulator.call("DELETE", "faults")
        last_due = max((message.due or 0 for message in self._storm.messages.values()), default=0)
        if self._clock:
            await self._catch_up()
        else:
            await self._let_canaries_go()
        heard, deadline = False, time.monotonic() + self._options.settle
        # Looking through all that was ever owed takes seconds; while deliveries come, nothing needs to be looked through.
        while time.monotonic() < deadline and (heard or self._deliveries.owed(self._storm)[0]):
            await asyncio.sleep(1 / DELIVERY_CHECKS)
            heard = self._deliveries.read(self._storm.messages)
            # Until the last schedule is due silence says nothing.
            if heard or self._storm.wall.now() < last_due:
                deadline = time.monotonic() + self._options.settle
        code, _ = await self._server.stop()
        if code:
            self._storm.fail("bad exit", f"SIGTERM ended the server with {code}")
        if self._simulator:
            self._happened = self._simulator.call("GET", "counters")
            await self._simulator.stop()
        code, counts = await self._peer.stop()
        if code:
            self._storm.fail("violations", self._peer.log_tail())
        self._deliveries.read(self._storm.messages)
        self._judge()
        self._report(counts)
        return 1 if self._storm.failures else 0

    async def _write_without_kills(self):
        """A process that lives while the clock is set; at last back by a day, while much is under way."""
        async with self._disturbed():
            await self._write_for(2 * self._options.interval)
        # What is under way would expire.
        await self._come_to_rest()
        if self._simulator:
            self._fail_services()
        self._clock.set(self._clock.AHEAD)
        await self._write_for(2 * self._options.interval)
        self._clock.set(0)
        await self._write_for(2 * self._options.interval)

    async def _let_canaries_go(self):
        def count():
            self._deliveries.read(self._storm.messages)
            return self._deliveries.count
        await asyncio.gather(*[writer.let_go(self._options.settle, count) for writer in self._writers])

    async def _write_for(self, seconds):
        writing = [asyncio.create_task(writer.write()) for writer in self._writers]
        await asyncio.sleep(seconds)
        self._storm.killed = True
        await asyncio.gather(*writing)
        self._storm.killed = False

    async def _come_to_rest(self):
        """Sets the clock to where everything is due that was put off, and lets every canary go, which would expire later;
        waits until nothing is overdue, or nothing more comes. No service fails meanwhile: the pauses of one that does
        grow up to an hour."""
        if self._simulator:
            self._simulator.call("DELETE", "faults")
        self._clock.set(self._clock.offset + 3 * disturbances.HOUR)
        await self._let_canaries_go()
        deadline = time.monotonic() + self._options.settle
        heard = False
        while (heard or self._overdue()) and time.monotonic() < deadline:
            await asyncio.sleep(1 / DELIVERY_CHECKS)
            heard = self._deliveries.read(self._storm.messages)
            if heard:
                deadline = time.monotonic() + self._options.settle

    async def _catch_up(self):
        """What is sent now must come by the clock as it was left, at every service. What was put off must come within
        the longest wait from then. At last the clock goes to where everything is due that was scheduled by a clock that
        was ahead, which other messages may not outlive."""
        storm, deadline = self._storm, time.monotonic() + self._options.patience
        probes = [probe for writer in self._writers[:PROBERS] for probe in await writer.probe()]
        def outstanding():
            return [probe.key for probe in probes for token in probe.owed
                    if (probe.key, token) not in self._deliveries.times]
        while outstanding() and time.monotonic() < deadline:
            await asyncio.sleep(1 / DELIVERY_CHECKS)
            self._deliveries.read(storm.messages)
        for key in outstanding():
            storm.fail("stalled", f"message {key} does not come by the clock as it is")
        await self._come_to_rest()
        self._left = self._overdue()
        for _ in range(self._options.idle_looks):
            self._busy = await self._processor_share()
            if self._busy <= IDLE_SHARE:
                break
        last_due = max((message.due or 0 for message in storm.messages.values()), default=0)
        self._clock.set(int(max(self._clock.offset, last_due - time.time() + 1)) + 3 * disturbances.HOUR)

    def _overdue(self):
        """The deliveries that are missing although nothing has to be waited for any more."""
        missing, now = self._deliveries.owed(self._storm)[0], self._storm.wall.now()
        return [where for where in missing if (self._storm.messages[where[0]].due or 0) < now]

    async def _processor_share(self):
        """How much of a processor the server takes with nothing to do but wait."""
        before = process_figures.processor_time(self._server.process.pid)
        await asyncio.sleep(CALM)
        return (process_figures.processor_time(self._server.process.pid) - before) / CALM

    def _judge(self):
        storm, deliveries = self._storm, self._deliveries
        left = {where for where in self._left if where not in deliveries.times}
        for where in left.union(deliveries.owed(storm)[0]):
            storm.fail("lost", f"message {where[0]} for device {where[1][:8]}…")
        for where in deliveries.strays(storm):
            storm.fail("stray", f"message {where[0]} came to device {where[1][:8]}…")
        for key in deliveries.leaked(storm):
            storm.fail("leaked", f"canary {key} came to more than its sample")
        for key, seconds in deliveries.early(storm):
            storm.fail("early", f"message {key} came {seconds:.3f} s before its time")
        self._judge_repetitions(list(deliveries.again(storm)))
        if self._clock and self._busy > IDLE_SHARE:
            storm.fail("busy", f"the idle server takes {self._busy:.0%} of a processor")
        for where, identifiers in deliveries.identifiers.items():
            if len(identifiers) > 1:
                storm.fail("changed id", f"message {where[0]} went to one device as {len(identifiers)} messages")
        if deliveries.altered:
            storm.fail("altered", f"{deliveries.altered} payloads differ from what was sent")
        for what in self._kinds:
            if not storm.counts[what]:
                storm.fail("idle", f"not one {what} was accepted: nothing was judged")

    def _judge_repetitions(self, repetitions):
        """What comes twice had a kill in between, at most a window after the first time; or, at a service that resets
        connections, there are no more of them than were open at the resets."""
        storm, limit = self._storm, self._options.window + self._options.stalls
        self._ages = [age for _, age in repetitions if age is not None]
        unexplained = [where for where, age in repetitions if age is None]
        # By service: what a reset leaves without an answer comes again.
        left = {name: counts.get("faults.reset", 0) * counts.get("requests.atOnce", 0)
                for name, counts in (self._happened if self._simulator else {}).items()}
        for where in unexplained:
            service = storm.devices[where[1]].service if where[1] in storm.devices else "apns"
            left[service] = left.get(service, 0) - 1
            if service != "apns" and left[service] >= 0:
                storm.counts["again after a reset"] += 1
            else:
                storm.fail("unexplained", f"message {where[0]} came again to device {where[1][:8]}… without a kill")
        for where, age in repetitions:
            if age is not None and age > limit:
                storm.fail("late", f"message {where[0]} came again to {where[1][:8]}… {age:.1f} s before a kill")

    def _accepted(self):
        counts = self._storm.counts
        kinds = [f"{counts[kind]} {PLURALS.get(kind, f'{kind}s')}" for kind in self._kinds]
        return f"accepted {', '.join(kinds)}"

    def _report(self, peer_counts):
        counts, times = self._storm.counts, self._deliveries.times
        owed = sum(len(message.owed) for message in self._storm.messages.values() if message.acknowledged)
        duplicates = self._deliveries.count - len(times)
        each = f"{duplicates / self._kills:.1f} for each kill" if self._kills else "no kill"
        shown = collections.Counter()
        for failure in self._storm.failures:
            kind = failure.partition(":")[0]
            shown[kind] += 1
            if shown[kind] <= SHOWN:
                self._print(failure)
        self._print(f"seed={self._options.seed} kills={self._kills} writers={self._options.writers}")
        if self._options.forgetful:
            self._print(f"unsynced changes thrown away: {self._undone}")
        if self._cluster:
            self._print(f"sessions that the database ended: {self._terminated}")
        self._print(f"{self._accepted()}; {counts['refused']} refused; {counts['in flight']} unanswered at a kill")
        self._print(
            f"stored: read={counts['reads']} missing={counts['missing']} undeleted={counts['undeleted']}"
            f" wrong={counts['wrong content']}"
        )
        self._print(
            f"deliveries: owed={owed} delivered={self._deliveries.count} duplicates={duplicates} ({each})"
            f" excused={self._deliveries.owed(self._storm)[1]} lost={counts['lost']} strays={counts['stray']}"
            f" early={counts['early']} unexplained={counts['unexplained']}"
        )
        ages = sorted(self._ages)
        if ages:
            self._print(
                f"what came again had come before its kill by {ages[len(ages) // 2]:.3f} s in the middle,"
                f" {ages[-1]:.3f} s at most; allowed: {self._options.window + self._options.stalls:.1f} s")
        if self._simulator:
            self._report_simulator()
        if self._options.stalls:
            stalls = ", ".join(f"{name} {count}" for name, count in self._stalls.counts.items())
            self._print(f"stood still: {stalls}; {self._stalls.seconds:.0f} s in all")
        if self._clock:
            self._print(
                f"the clock was set {self._clock.jumps} times, over {self._clock.AHEAD // 3600} hours; idle, the server took"
                f" {self._busy:.1%} of a processor")
        self._print(peer_counts.strip())
        self._print("failed" if self._storm.failures else "nothing is missing")

    def _report_simulator(self):
        happened = collections.Counter()
        for counts in self._happened.values():
            happened.update({name: count for name, count in counts.items() if name.startswith("faults.")})
        over = sum(
            1 for (key, _), times in self._deliveries.times.items()
            if (message := self._storm.messages.get(key)) and message.acknowledged and message.service != "apns"
            and _between(self._storm.kills, message.acknowledged, min(times)[0]))
        words = " ".join(f"{name.removeprefix('faults.')}={count}" for name, count in sorted(happened.items()))
        self._print(
            f"at the simulator: {words}; {over} messages arrived after a kill that came behind their acceptance;"
            f" again after a reset: {self._storm.counts['again after a reset']}")

    def _print(self, text):
        print(f"durability: {text}", flush=True)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("martlet", help="the server's binary")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--writers", type=int, default=64)
    parser.add_argument("--interval", type=float, default=0.8, help="mean seconds of writing before a kill")
    parser.add_argument("--pause", type=float, default=0.05, help="mean seconds between two requests of a writer")
    parser.add_argument("--settle", type=float, default=120, help="seconds of silence that end the final wait")
    parser.add_argument("--throttle", type=int, default=0, metavar="N", help="429 for every Nth push: a minute's wait")
    parser.add_argument("--refuse", type=int, default=0, metavar="N", help="REFUSED_STREAM for every Nth push")
    parser.add_argument("--service-rate", type=float, metavar="N", help="pushes that the service answers in a second")
    parser.add_argument("--together", type=float, default=TOGETHER, metavar="SHARE",
                        help="of the sends to the simulator's devices that are one message; 0: to APNs alone, as toys can")
    parser.add_argument("--broadcasts", type=float, default=EVERYBODY, metavar="SHARE",
                        help="of the sends; those to everybody are most of the pushes")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--forgetful", action="store_true", help="a kill also loses what was not synced")
    parser.add_argument("--simulator", action="store_true", help="devices of other services, which fail")
    parser.add_argument("--long-waits", action="store_true", help="these also fail in ways that cost a minute")
    parser.add_argument("--stalls", type=float, default=0, metavar="SECONDS", help="programs stand still for so long")
    parser.add_argument("--postgres", action="store_true", help="the data is in PostgreSQL")
    parser.add_argument("--clock", action="store_true", help="the clock on the wall is set forward and back")
    parser.add_argument("--idle-looks", type=int, default=10, metavar="N",
                        help="times that the server is looked at until it is idle: it may still be at work")
    parser.add_argument("--window", type=float, default=5, metavar="SECONDS",
                        help="how long before a kill something may have arrived that comes again behind it")
    parser.add_argument("--patience", type=float, default=90, metavar="SECONDS",
                        help="how long something may take that is sent once the clock is left alone")
    parser.add_argument("--keep", metavar="DIR", help="work in this new directory and keep it")
    options = parser.parse_args()
    options.martlet = os.path.abspath(options.martlet)
    if options.seed is None:
        options.seed = random.SystemRandom().getrandbits(32)
    return options


def main():
    options = parse_arguments()
    with tempfile.TemporaryDirectory() as temporary:
        directory = os.path.realpath(options.keep or temporary)
        os.makedirs(directory, mode=0o700, exist_ok=True)
        print(f"durability: seed={options.seed} rounds={options.rounds}", flush=True)
        try:
            sys.exit(asyncio.run(Run(options, directory).run()))
        except (processes.Failed, Disconnected) as error:
            sys.exit(f"durability: failed: {error}")


if __name__ == "__main__":
    main()
