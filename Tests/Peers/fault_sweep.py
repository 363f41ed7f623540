"""A sweep over every fault that the simulator has, at every service, alone and several together, while many pushes run.

In each round every service gets another fault, a hub of its own is made, and everybody is sent one message. When the
fault is over the clock on the wall of the server and the simulator is set forward, hour by hour, so that what was put off
comes. Then the message must have come to its end; its counts must add up to all devices; those counted as successes must be
those that the simulator's ledger has; what a service merely was not able to take must all have arrived; what it calls dead
must be refused under its right name; and no device that was reached may have been dropped.

    fault_sweep.py MARTLET [--devices 200] [--rounds 6] [--seed 1]
"""

import argparse
import asyncio
import collections
import os
import random
import sys
import tempfile
import time

import disturbances
import process_figures
import processes
import simulators
from hub_client import Disconnected
from hub_pool import FULL, HubPool, Refused

SHARE = 0.3          # of the requests that meet a fault

# Faults of the network, which meet every service.
NETWORK = [
    {"fault": "slow", "delay": 500}, {"fault": "reset"}, {"fault": "reset", "at": "head"},
    {"fault": "reset", "at": "body"}, {"fault": "reset", "at": "stored"}, {"fault": "reset", "at": "connect", "next": 2},
    {"fault": "html", "status": 502}, {"fault": "html", "status": 200}, {"fault": "empty", "status": 503},
    {"fault": "empty", "status": 200}, {"fault": "redirect"}, {"fault": "truncated"}, {"fault": "wrongLength"},
    {"fault": "goAway"}, {"fault": "goAway", "before": 3}, {"fault": "goAway", "none": True},
    {"fault": "goAway", "at": "connect", "next": 2}, {"fault": "goAway", "twice": True},
    {"fault": "goAway", "then": "close"}, {"fault": "goAway", "code": "ENHANCE_YOUR_CALM", "debug": "text"},
    {"fault": "streamLimit", "limits": [1, 100, 1, 0, 50], "interval": 50, "skip": 5, "next": 1},
    {"fault": "resetStream"}, {"fault": "resetStream", "code": "INTERNAL_ERROR"},
    {"fault": "resetStream", "code": "ENHANCE_YOUR_CALM"}, {"fault": "resetStream", "code": "CANCEL"},
    {"fault": "smallWindow", "bytes": 16, "delay": 500}, {"fault": "tlsWrongName", "next": 2},
    {"fault": "tlsExpired", "next": 2}, {"fault": "tlsUntrusted", "next": 2}, {"fault": "clockSkew", "offset": 7200},
]
# Each costs as long as an answer is waited for.
LONG = [
    {"fault": "unanswered", "next": 5}, {"fault": "unanswered", "stored": True, "next": 5}, {"fault": "blackHole", "next": 2},
    {"fault": "goAway", "then": "stay", "next": 2},
]
# A page or nothing with 200 is success by these services' documents.
CONTENT_WITH_A_200 = {"apns", "browser"}

# After these everything arrives in the end. What is not named may be refused for good.
PASSING = {
    "slow", "reset", "goAway", "streamLimit", "resetStream", "smallWindow", "tlsWrongName", "tlsExpired", "tlsUntrusted",
    "clockSkew", "html", "empty", "truncated", "wrongLength", "unanswered", "blackHole",
    "internalError", "unavailable", "rateLimit", "deviceRateLimit", "expiredToken", "credentialRefused", "malformedToken",
    "textualLifetime", "tokenRefused", "InternalServerError", "ServiceUnavailable", "TooManyRequests",
    "ExpiredProviderToken", "InvalidProviderToken", "Shutdown", "IdleTimeout", "MaxRateExceeded", "AccessTokenExpired",
    "QUOTA_EXCEEDED", "PERMISSION_DENIED", "SERVICE_DISABLED", "UNSPECIFIED_ERROR", "QueueFull", "DailyLimit",
    "DeviceInactive", "ChannelThrottled", "AppThrottled", "DeviceUnreachable", "BadEnvironmentKeyInToken",
}
# MPNS has one answer for a refused sender and for another one's channel, which is final.
AMBIGUOUS = {("mpns", "credentialRefused")}
# What a device comes to of which a service says this.
DEAD = {"unregistered": {"ExpiredChannel"}, "Unregistered": {"ExpiredChannel"}, "ExpiredChannel": {"ExpiredChannel"},
        "unknownHandle": {"BadChannel", "ExpiredChannel"}, "BadDeviceToken": {"BadChannel"}}
# After these a push may have arrived of which nothing was answered.
LOSES_THE_ANSWER = {"reset", "goAway", "resetStream", "truncated", "wrongLength", "html", "empty", "redirect", "unanswered"}
THROWN_AWAY = {"dropped", "Dropped", "Suppressed", "replacedHandle"}


class Trial:
    """One service in one round."""

    def __init__(self, service, faults):
        self.service, self.faults = service, faults
        self.devices = {}  # handle -> installation
        self.message = self.state = None
        self.counts, self.happened = {}, collections.Counter()

    @property
    def name(self):
        return f"{self.service}, " + " and ".join(
            " ".join(f"{value}" for key, value in fault.items() if key not in ("service", "probability"))
            for fault in self.faults)

    @property
    def is_passing(self):
        """Whether everybody must be reached in the end."""
        return all(name in PASSING and (self.service, name) not in AMBIGUOUS for name in self.names)

    @property
    def lost_answers(self):
        """How many devices at most were reached unknown to the hub, and refused when they were tried again: a connection
        that ends takes the answers of all its requests along."""
        return len(self.devices) if self.names & LOSES_THE_ANSWER and not self.is_passing else 0

    @property
    def names(self):
        return {fault["fault"] for fault in self.faults}


class Sweep:
    def __init__(self, options, directory):
        self._options = options
        self._data = os.path.join(directory, "data")
        os.mkdir(self._data, 0o700)
        self._clock = disturbances.Clock(os.path.join(directory, "clock"), is_looked_at_always=False)
        environment = self._clock.environment
        self._simulator = simulators.Simulator(
            options.martlet, os.path.join(directory, "simulator"), environment=environment)
        self._server = processes.Server(
            options.martlet, self._data, os.path.join(directory, "server.log"), environment=environment)
        self._random = random.Random(options.seed)
        self._arrived = collections.defaultdict(collections.Counter)  # key -> handle -> times
        self._failures = []
        self._totals = collections.Counter()
        self._modes = set()

    async def run(self):
        try:
            await self._simulator.start()
            await self._server.start()
            self._arrivals = simulators.Arrivals(self._simulator.ledger)
            for number, plan in enumerate(self._plans()):
                await self._round(number, plan)
            code, _ = await self._server.stop()
            if code:
                self._fail("bad exit", f"SIGTERM ended the server with {code}")
            await self._simulator.stop()
            self._report()
        finally:
            for program in (self._server, self._simulator):
                if program.process and program.process.returncode is None:
                    program.process.kill()
        return 1 if self._failures else 0

    def _plans(self):
        """For each round, the faults of each service: each of its own once, by itself, in an order that is drawn; then
        some together."""
        described = self._simulator.call("GET", "services")
        queues = {}
        for service in self._simulator.services:
            modes = [{"fault": name} for name in described[service]["faults"]] + [
                fault for fault in NETWORK
                if fault.get("status") != 200 or service not in CONTENT_WITH_A_200]
            self._random.shuffle(modes)
            queues[service] = modes
        rounds = max(map(len, queues.values()))
        if self._options.rounds is not None:
            rounds = min(rounds, self._options.rounds)
        for number in range(rounds):
            yield {service: [modes[number % len(modes)]] for service, modes in queues.items()}
        for _ in range(self._options.combinations):
            yield {service: self._random.sample(modes, 3) for service, modes in queues.items()}
        if self._options.rounds is None:
            for fault in LONG:
                yield {service: [fault] for service in queues}

    # One round.

    async def _round(self, number, plan):
        hub_name = f"sweep{number}"
        key = processes.create_hub(self._options.martlet, self._data, hub_name)[FULL]
        self._simulator.set_credentials(self._data, hub_name)
        hub = HubPool(self._server.port, hub_name, key)
        share = SHARE / len(next(iter(plan.values())))
        trials = [
            Trial(service, [{"probability": 1 if "next" in fault else share} | fault | {"service": service}
                            for fault in faults]) for service, faults in plan.items()]
        try:
            for trial in trials:
                await self._register(hub, trial, number)
            self._simulator.script([fault for trial in trials for fault in trial.faults], self._options.seed + number)
            for trial in trials:
                trial.message = await hub.send(trial.service, f"all-{trial.service}", f"r{number}-{trial.service}")
            await self._until_quiet(hub, trials)
            for rule in self._simulator.call("GET", "faults")["faults"]:
                trial = next(trial for trial in trials if trial.service == rule["service"])
                trial.happened[rule["fault"]] += rule["happened"]
            self._simulator.call("DELETE", "faults")
            await self._bring_to_an_end(hub, trials)
            for trial in trials:
                await self._judge(hub, trial, f"r{number}-{trial.service}")
        finally:
            hub.close()
        figures = process_figures.memory(self._server.process.pid)
        self._peak = figures["VmHWM"]
        if (number + 1) % 10 == 0:
            self._print(f"round {number + 1}: pushes={self._totals['pushes']} RssAnon={figures['RssAnon']} KB"
                        f" VmHWM={figures['VmHWM']} KB")

    async def _register(self, hub, trial, number):
        for start in range(0, self._options.devices, 100):
            names = [f"{trial.service}-{place}" for place in range(start, min(start + 100, self._options.devices))]
            handles = [self._simulator.device(trial.service) for _ in names]
            await asyncio.gather(*[
                hub.install(name, trial.service, handle, [f"all-{trial.service}"])
                for name, handle in zip(names, handles)])
            trial.devices.update(zip(handles, names))

    async def _look(self, hub, trials):
        """Whether all have come to their end."""
        for trial in trials:
            if trial.state != "Completed":
                trial.state, trial.counts = await hub.report(trial.message)
        return all(trial.state == "Completed" for trial in trials)

    async def _until_quiet(self, hub, trials):
        """Lets the faults happen until nothing more is heard for a while."""
        deadline, quiet = time.monotonic() + 10, time.monotonic()
        while time.monotonic() < deadline and time.monotonic() < quiet + 1.5 and not await self._look(hub, trials):
            await asyncio.sleep(0.1)
            if self._read():
                quiet = time.monotonic()

    async def _bring_to_an_end(self, hub, trials):
        for hour in range(20):
            patience = time.monotonic() + self._options.patience * (1 if hour < 16 else 10)
            while time.monotonic() < patience:
                if await self._look(hub, trials):
                    return
                await asyncio.sleep(0.1)
                self._read()
            self._clock.set(self._clock.offset + disturbances.HOUR)

    def _read(self):
        lines = list(self._arrivals.read())
        for line in lines:
            self._arrived[line["key"]][line["handle"]] += 1
        return bool(lines)

    async def _judge(self, hub, trial, key):
        self._read()
        reached = {handle for handle in self._arrived.pop(key, {}) if handle in trial.devices}
        count, successes = len(trial.devices), trial.counts.get("Success", 0)
        self._totals["pushes"] += count
        self._totals["reached"] += len(reached)
        self._totals["happened"] += sum(trial.happened.values())
        self._modes.add(f"{trial.service} {sorted(trial.names)}") if sum(trial.happened.values()) else None
        if trial.state != "Completed":
            return self._fail("stuck", f"{trial.name}: {trial.state}, {trial.counts}")
        if sum(trial.counts.values()) != count:
            self._fail("sum", f"{trial.name}: {trial.counts} of {count} devices")
        is_right = len(reached) - trial.lost_answers <= successes <= len(reached)
        if not is_right and not trial.names & THROWN_AWAY:
            self._fail("wrong count", f"{trial.name}: {len(reached)} were reached, {trial.counts}")
        if trial.is_passing and len(reached) != count:
            self._fail("lost", f"{trial.name}: {len(reached)} of {count} were reached, {trial.counts}")
        if len(trial.names) == 1 and (wanted := DEAD.get(next(iter(trial.names)))):
            refused = set(trial.counts) - {"Success"}
            happened = sum(trial.happened.values())
            if not refused <= wanted or count - successes != happened:
                self._fail("wrong refusal", f"{trial.name}: {trial.counts} where {happened} were called dead")
        kept = await asyncio.gather(*[hub.is_installed(trial.devices[handle]) for handle in reached])
        if kept.count(False) > trial.lost_answers and not trial.names & THROWN_AWAY:
            self._fail("dropped", f"{trial.name}: {kept.count(False)} of {count} devices that were reached are gone")
        if trial.is_passing:
            others = await asyncio.gather(*[
                hub.is_installed(name) for handle, name in trial.devices.items() if handle not in reached])
            if not all(others):
                self._fail("dropped", f"{trial.name}: {others.count(False)} devices are gone that nobody called dead")

    def _report(self):
        if not self._totals["happened"]:
            self._fail("idle", "no fault happened: nothing was judged")
        if self._peak > self._options.memory_limit * 1024:
            self._fail("growing", f"the server took {self._peak} KB")
        kinds = collections.Counter(failure.partition(":")[0] for failure in self._failures)
        self._print(
            f"pushes={self._totals['pushes']} reached={self._totals['reached']} faults that happened="
            f"{self._totals['happened']} in {len(self._modes)} modes; VmHWM={self._peak} KB;"
            f" the clock was set {self._clock.jumps} times")
        self._print(f"failed: {dict(kinds)}" if self._failures else "every state is right")

    def _fail(self, kind, text):
        self._failures.append(f"{kind}: {text}")
        self._print(f"{kind}: {text}")

    def _print(self, text):
        print(f"fault-sweep: {text}", flush=True)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("martlet", help="the server's binary")
    parser.add_argument("--devices", type=int, default=200, help="of each service in each round")
    parser.add_argument("--rounds", type=int, default=None, help="at most so many faults of each service; all by default")
    parser.add_argument("--combinations", type=int, default=10, help="rounds with three faults of each service")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--patience", type=float, default=3, metavar="SECONDS", help="for each hour that the clock goes on")
    parser.add_argument("--memory-limit", type=float, default=512, metavar="MB", help="the most that is ever taken")
    options = parser.parse_args()
    options.martlet = os.path.abspath(options.martlet)
    return options


def main():
    options = parse_arguments()
    print(f"fault-sweep: seed={options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as directory:
        try:
            sys.exit(asyncio.run(Sweep(options, os.path.realpath(directory)).run()))
        except (processes.Failed, Disconnected, Refused) as error:
            sys.exit(f"fault-sweep: failed: {error}")


if __name__ == "__main__":
    main()
