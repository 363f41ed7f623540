"""A soak: a steady load over a real `martlet serve` while the push services fail in turn, for as long as is asked for.

Users with three devices each are sent to at a steady rate, and some of it is scheduled; devices come, are renewed and
leave; now and then there is a broadcast. The push services are the simulator, a process of its own. Every period a third of
them fail in ways after which the server has to come again. What was accepted is counted here, what arrived by the
simulator's own ledger, and the memory by the kernel. Printed each minute and at the end; at the end nothing may be
lost or stuck, no more may have come twice than connections were lost for, and the memory must not grow.

    soak.py MARTLET --minutes 60 --seed 1
"""

import argparse
import asyncio
import collections
import datetime
import json
import os
import random
import re
import sys
import tempfile
import time

import httpx

import process_figures
import processes
import simulators
from hub_client import Disconnected
from hub_pool import FULL, HubPool, Refused

HUB = "soak"
DEVICES = 3          # of a user
SCHEDULED = 0.05     # of the sends to users
SICK = 3             # of so many services one at a time fails
RECENT = 4           # periods in which a service that failed is not held to be healthy again
CHURN = 4            # devices that come, are renewed or leave in a second
QUICK = 20           # minutes: in a run that is shorter, no fault costs a minute
SHOWN = 10


class Sent:
    __slots__ = ("service", "owed", "began", "accepted", "due", "is_user", "is_calm", "id")

    def __init__(self, service, owed, due, is_user, is_calm):
        self.service, self.owed, self.due, self.id = service, owed, due, None
        self.is_user, self.is_calm = is_user, is_calm
        self.began, self.accepted = time.monotonic(), None


class Soak:
    def __init__(self, options, directory):
        self._options = options
        self._data = os.path.join(directory, "data")
        os.mkdir(self._data, 0o700)
        self._simulator = simulators.Simulator(options.martlet, os.path.join(directory, "simulator"))
        self._server = processes.Server(options.martlet, self._data, os.path.join(directory, "server.log"))
        self._random = random.Random(options.seed)
        self._seconds = options.minutes * 60
        self._is_quick = options.minutes < QUICK
        self._counts = collections.Counter()
        self._failures = []
        self._sent = {}                                # by key
        self._arrived = {}                             # (key, handle) -> when first
        self._duplicates = collections.Counter()       # by service
        self._sick, self._recent = set(), []           # services that fail; those of the periods before
        self._memory = []                              # (hours, KB)
        self._oldest = 0.0

    # The course.

    async def run(self):
        try:
            await self._prepare()
            await self._load()
            await self._settle()
            self._judge()
        finally:
            for program in (self._server, self._simulator):
                if program.process and program.process.returncode is None:
                    program.process.kill()
        return 1 if self._failures else 0

    async def _prepare(self):
        await self._simulator.start()
        key = processes.create_hub(self._options.martlet, self._data, HUB)[FULL]
        self._simulator.set_credentials(self._data, HUB)
        await self._server.start()
        self._hub = HubPool(self._server.port, HUB, key, connections=16)
        self._arrivals = simulators.Arrivals(self._simulator.ledger)
        services = self._simulator.services
        self._users = [(f"user-{number}", services[number % len(services)]) for number in range(self._options.users)]
        self._devices = collections.defaultdict(dict)  # tag -> name -> handle
        self._crowds = services[:2]
        wanted = [(name, service, f"{name}-{number}") for name, service in self._users for number in range(DEVICES)]
        wanted += [
            (f"crowd-{service}", service, f"crowd-{service}-{number}")
            for service in self._crowds for number in range(self._options.crowd // len(self._crowds))]
        for start in range(0, len(wanted), 200):
            await asyncio.gather(*[self._join(*each) for each in wanted[start:start + 200]])
        self._print(f"{len(wanted)} devices at {len(services)} services")

    async def _join(self, tag, service, name):
        handle = self._simulator.device(service)
        await self._hub.install(name, service, handle, [tag])
        self._devices[tag][name] = handle

    async def _load(self):
        self._start = time.monotonic()
        work = [self._sends(), self._broadcasts(), self._churn(), self._faults(), self._watch()]
        await asyncio.gather(*work)

    def _passed(self):
        return time.monotonic() - self._start

    def _is_over(self):
        return self._passed() >= self._seconds

    async def _at(self, moment):
        """Waits until so many seconds have passed; whether the load is to go on."""
        await asyncio.sleep(max(0, moment - self._passed()))
        return not self._is_over()

    async def _sends(self):
        """At a steady rate, however long answers take."""
        number, under_way = 0, set()
        while await self._at(number / self._options.rate):
            number += 1
            name, service = self._random.choice(self._users)
            due = None
            if self._random.random() < SCHEDULED:
                due = time.time() + self._random.uniform(1, min(30, self._seconds / 4))
            task = asyncio.create_task(self._send(f"u{number}", service, name, due, is_user=True))
            under_way.add(task)
            task.add_done_callback(under_way.discard)
        await asyncio.gather(*under_way)

    async def _send(self, key, service, tag, due=None, is_user=False):
        is_calm = due is None and not any(service in sick for sick in [self._sick, *self._recent])
        sent = self._sent[key] = Sent(service, list(self._devices[tag].values()), due, is_user, is_calm)
        try:
            sent.id = await self._hub.send(service, tag, key, due)
            sent.accepted = time.monotonic()
            self._counts["accepted"] += 1
        except (Refused, Disconnected) as error:
            self._fail("refused", str(error))

    async def _broadcasts(self):
        every, number = min(20, self._seconds / 4), 0
        while await self._at(every * (number + 0.5)):
            service = self._crowds[number % len(self._crowds)]
            number += 1
            await self._send(f"b{number}", service, f"crowd-{service}")
            self._counts["broadcasts"] += 1

    async def _churn(self):
        """Devices that nobody sends to come and leave; those of users are renewed, unchanged."""
        passing, number = [], 0
        while await self._at(number / CHURN):
            number += 1
            service = self._random.choice(self._simulator.services)
            try:
                if number % 3 == 0 and len(passing) > 20:
                    await self._hub.uninstall(passing.pop(0))
                elif number % 3 == 1:
                    user, service = self._random.choice(self._users)
                    name, handle = self._random.choice(list(self._devices[user].items()))
                    await self._hub.install(name, service, handle, [user])
                else:
                    await self._join("passing", service, f"passing-{number}")
                    passing.append(f"passing-{number}")
                self._counts["registrations"] += 1
            except (Refused, Disconnected) as error:
                self._fail("refused", str(error))

    async def _faults(self):
        """Other services fail in each period, in other ways."""
        period, number = min(30, self._seconds / 5), 0
        while await self._at(period * number):
            number += 1
            # A pause may outlive what it began with by a minute or two.
            self._recent = [self._sick, *self._recent][:RECENT]
            # The last fifth is for what was put off.
            self._sick = set() if self._passed() > self._seconds * 0.8 else set(
                self._random.sample(self._simulator.services, max(1, len(self._simulator.services) // SICK)))
            self._simulator.script(
                [fault for service in sorted(self._sick) for fault in self._ways(service)], self._options.seed + number)

    def _ways(self, service):
        quick = [
            {"fault": "slow", "delay": 400, "probability": 0.3},
            {"fault": "reset", "every": 20},
            {"fault": "goAway", "every": 15},
            {"fault": "resetStream", "code": "REFUSED_STREAM", "every": 9},
        ]
        if service != "apns":  # which is left alone for a quarter of an hour after that
            quick.append({"fault": "unavailable", "retryAfter": 1, "probability": 0.2})
        slow = [
            {"fault": "deviceRateLimit", "probability": 0.05}, {"fault": "unanswered", "every": 200},
            {"fault": "blackHole", "every": 400},
        ]
        slow = [fault for fault in slow if fault["fault"] != "deviceRateLimit" or service in ("apns", "browser")]
        chosen = self._random.sample(quick, 2) + ([] if self._is_quick else [self._random.choice(slow)])
        return [fault | {"service": service} for fault in chosen]

    # Figures.

    async def _watch(self):
        every = min(5, self._seconds / 20)
        minute = 0
        while await self._at(every * (len(self._memory) + 1)):
            found = process_figures.memory(self._server.process.pid)
            # The caches of pages fill up to their limits as the database grows: that is no leak.
            cache = await asyncio.to_thread(self._metric, "martlet_database_memory_bytes") or 0
            self._memory.append((self._passed() / 3600, found["RssAnon"] - cache / 1024))
            self._read()
            if self._passed() >= (minute + 1) * 60:
                minute += 1
                self._print(f"minute {minute}: {self._figures()}")

    def _read(self):
        seen = False
        for line in self._arrivals.read():
            seen = True
            where = (line["key"], line["handle"])
            if where in self._arrived:
                self._duplicates[line["service"]] += 1
            self._arrived.setdefault(where, (line["steady"], line["time"]))
            if line["key"] not in self._sent:
                self._fail("stray", f"a message {line['key']} that nobody sent")
        return seen

    def _missing(self):
        return [
            (key, handle) for key, sent in self._sent.items() if sent.accepted
            for handle in sent.owed if (key, handle) not in self._arrived]

    def _latencies(self, since, is_calm=None):
        """Seconds from a moment of a send to a user until each device had it."""
        return [
            self._arrived[key, handle][0] - getattr(sent, since)
            for key, sent in self._sent.items()
            if sent.is_user and sent.accepted and sent.due is None and (is_calm is None or sent.is_calm == is_calm)
            for handle in sent.owed if (key, handle) in self._arrived]

    def _figures(self):
        pid = self._server.process.pid
        memory = process_figures.memory(pid)
        owed = sum(len(sent.owed) for sent in self._sent.values() if sent.accepted)
        words = [
            f"accepted={self._counts['accepted']} registrations={self._counts['registrations']} owed={owed}"
            f" delivered={len(self._arrived)} outstanding={len(self._missing())}"
            f" duplicates={sum(self._duplicates.values())}",
            f"RssAnon={memory['RssAnon']} KB, {self._memory[-1][1] if self._memory else 0:.0f} KB beside the database's"
            f" caches, threads={memory['Threads']} files={process_figures.open_files(pid)}"
            f" data={process_figures.directory_bytes(self._data) >> 20} MB",
        ]
        calm = self._latencies("began", True)
        if calm:
            words.append("accept to wire p50/p99/max={:.3f}/{:.3f}/{:.3f} s".format(*process_figures.quantiles(calm)))
        return "; ".join(words)

    def _metric(self, name):
        """A figure without labels, as the server tells it; None where it tells none."""
        printed = processes.martlet(self._options.martlet, "metrics", "--data", self._data)
        found = re.search(rf"^{name} (\S+)$", printed, re.MULTILINE)
        return float(found[1]) if found else None

    # The end.

    async def _settle(self):
        """All faults are over: what is outstanding comes, at the latest after the longest wait."""
        self._simulator.call("DELETE", "faults")
        self._counts["outstanding at the end"] = len(self._missing())
        deadline = time.monotonic() + self._options.settle
        while time.monotonic() < deadline and (self._missing() or self._metric("martlet_deliveries_unfinished")):
            await asyncio.sleep(0.5)
            self._read()
        # A device that failed again and again waits for up to two hours: its retry is announced, and not lost.
        self._waiting = {where for where in self._missing()[:SHOWN] if self._is_announced(*where)}
        waiting = len({key for key, _ in self._waiting} | self._unfinished_and_announced())
        self._stuck = max(0, (self._metric("martlet_deliveries_unfinished") or 0) - waiting)
        if self._stuck:
            for send in self._unfinished():
                self._print(f"unfinished: {json.dumps(send)}")
        self._last = self._figures()
        self._happened = self._simulator.call("GET", "counters")
        self._peak = process_figures.memory(self._server.process.pid)["VmHWM"]
        self._hub.close()
        code, _ = await self._server.stop()
        if code:
            self._fail("bad exit", f"SIGTERM ended the server with {code}")
        await self._simulator.stop()
        self._read()

    def _unfinished_and_announced(self):
        """The keys of unfinished sends of which a push waits for a retry: it has arrived, and its answer was lost."""
        unfinished = {send["id"] for send in self._unfinished()}
        return {key for key, sent in self._sent.items()
                if sent.id in unfinished and any(self._is_announced(key, handle) for handle in sent.owed)}

    def _unfinished(self):
        """Unfinished sends as the administration API lists them; none if the hub has no such API."""
        transport = httpx.HTTPTransport(uds=os.path.join(self._data, "admin.sock"))
        try:
            with httpx.Client(transport=transport, base_url="http://server", timeout=30) as client:
                found, query = [], {"state": "running", "limit": SHOWN}
                # A page looks at a limited number of sends: what is still unfinished may be far back.
                while len(found) < SHOWN:
                    page = client.get(f"/hubs/{HUB}/sends", params=query).raise_for_status().json()
                    found += page["sends"]
                    if page["next"] is None:
                        break
                    query["before"] = page["next"]
                return found
        except httpx.HTTPError:
            return []

    def _is_announced(self, key, handle):
        """Whether the server says that a push is tried again at a time that is still to come."""
        name = next((name for devices in self._devices.values() for name, its in devices.items() if its == handle), None)
        try:
            trace = json.loads(processes.martlet(
                self._options.martlet, "why", HUB, self._sent[key].id or "", name or "", "--json", "--data", self._data))
        except processes.Failed:
            return False
        now = datetime.datetime.now(datetime.timezone.utc).isoformat()[:23]
        times = [push.get("nextAttemptAt") or "" for push in trace["registrations"]]
        if max(times, default="")[:23] > now:
            self._print(f"{key} for device {handle[:12]}… is tried again at {max(times)}: {trace.get('explanation')}")
            return True
        return False

    def _judge(self):
        for key, handle in self._missing():
            if (key, handle) in self._waiting:
                continue
            self._fail("lost", f"{key} for device {handle[:12]}…")
        if self._stuck:
            self._fail("stuck", f"{self._stuck:.0f} deliveries are unfinished when everything has arrived")
        early = [key for (key, _), (_, shown) in self._arrived.items()
                 if (sent := self._sent.get(key)) and sent.due and shown < sent.due - 0.002]
        if early:
            self._fail("early", f"{len(early)} messages came before their time")
        allowed = {
            name: sum(counts.get(f"faults.{fault}", 0) for fault in ("reset", "blackHole", "unanswered"))
            * counts.get("requests.atOnce", 0) for name, counts in self._happened.items()}
        for service, count in self._duplicates.items():
            if count > allowed.get(service, 0):
                self._fail("twice", f"{count} messages of {service}, where lost connections explain {allowed[service]}")
        self._report(sum(allowed.values()))

    def _report(self, allowed):
        self._print(self._last)
        self._print(
            f"lost={len(self._missing())} duplicates={sum(self._duplicates.values())} (lost connections explain at most"
            f" {allowed}) stuck={self._stuck} broadcasts={self._counts['broadcasts']} outstanding when the load ended:"
            f" {self._counts['outstanding at the end']}")
        faults = collections.Counter()
        for counts in self._happened.values():
            faults.update({name[7:]: count for name, count in counts.items() if name.startswith("faults.")})
        self._print("faults: " + " ".join(f"{name}={count}" for name, count in sorted(faults.items())))
        if not faults:
            self._fail("idle", "no fault happened: nothing was judged")
        for name, is_calm in (("healthy services", True), ("all services", None)):
            for since, words in (("began", "from the request"), ("accepted", "from the 201")):
                values = self._latencies(since, is_calm)
                if not values:
                    self._fail("idle", "no push to a user was measured")
                    continue
                found = process_figures.quantiles(values)
                self._print(f"user sends of {name}, {words} to the wire: p50={found[0]:.4f} p99={found[1]:.4f}"
                            f" max={found[2]:.4f} s of {len(values)} pushes")
                limit = self._options.latency_limit
                if is_calm and since == "began" and limit and found[1] > limit:
                    self._fail("slow", f"the 99th of a hundred pushes to users takes {found[1]:.3f} s")
        self._report_memory()
        shown = collections.Counter(failure.partition(":")[0] for failure in self._failures)
        self._print(f"failed: {dict(shown)}" if self._failures else "nothing is lost")

    def _report_memory(self):
        warm = [point for point in self._memory if point[0] * 3600 >= self._seconds * self._options.warm_up]
        if found := process_figures.slope(warm):
            rise, error = found
            self._print(f"RssAnon, beside the database's caches, grows by {rise:.0f} ± {error:.0f} KB an hour over {len(warm)} samples behind the first"
                        f" {self._options.warm_up:.0%}; VmHWM={self._peak} KB")
            if self._options.slope_limit is not None and rise - 2 * error > self._options.slope_limit:
                self._fail("growing", f"the memory grows by {rise:.0f} ± {error:.0f} KB an hour")
        if self._peak > self._options.memory_limit * 1024:
            self._fail("growing", f"the server took {self._peak} KB")

    def _fail(self, kind, text):
        self._failures.append(f"{kind}: {text}")
        if sum(failure.startswith(kind) for failure in self._failures) <= SHOWN:
            self._print(f"{kind}: {text}")

    def _print(self, text):
        print(f"soak: {text}", flush=True)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("martlet", help="the server's binary")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=20, help="sends to users in a second")
    parser.add_argument("--users", type=int, default=300)
    parser.add_argument("--crowd", type=int, default=3000, help="devices that get broadcasts")
    parser.add_argument("--settle", type=float, default=600, help="seconds to wait for what is outstanding at the end")
    parser.add_argument("--warm-up", type=float, default=0.25, help="share of the time before memory is judged")
    parser.add_argument("--slope-limit", type=float, metavar="KB", help="growth of the memory in an hour")
    parser.add_argument("--memory-limit", type=float, default=1024, metavar="MB", help="the most that is ever taken")
    parser.add_argument("--latency-limit", type=float, metavar="SECONDS", help="p99 of pushes to users")
    options = parser.parse_args()
    options.martlet = os.path.abspath(options.martlet)
    return options


def main():
    options = parse_arguments()
    print(f"soak: seed={options.seed} minutes={options.minutes:g}", flush=True)
    with tempfile.TemporaryDirectory() as directory:
        try:
            sys.exit(asyncio.run(Soak(options, os.path.realpath(directory)).run()))
        except (processes.Failed, Disconnected, Refused) as error:
            sys.exit(f"soak: failed: {error}")


if __name__ == "__main__":
    main()
