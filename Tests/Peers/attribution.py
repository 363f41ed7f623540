"""How long pushes to healthy devices take while one device of their hub and platform fails every push.

    attribution.py MARTLET [--seconds N]

Each case has a hub with 40 devices of the simulator. It resets every request to one of them, never answers it, or ends the
connection (GOAWAY) without processing it. Sends to single healthy devices go at a steady rate while others go to that
device. Judged are the share of healthy pushes that arrive within two seconds of their 201, and that the device gets
everything once its fault is gone.
"""

import argparse
import asyncio
import os
import tempfile
import time
from dataclasses import dataclass, field

import processes
import simulators
from checks import Checks, eventually
from hub_pool import HubPool

checks = Checks("attribution")

RULE = "DefaultFullSharedAccessSignature"
DEVICES, LIMIT, HEALTHY_RATE = 40, 2.0, 5
RESET = {"fault": "resetStream", "code": "INTERNAL_ERROR"}
UNANSWERED = {"fault": "unanswered"}
GO_AWAY = {"fault": "goAway", "none": True}


@dataclass
class Case:
    service: str
    fault: dict
    # Sends per second to the device that fails.
    rate: float
    hub: str = ""
    sent: dict = field(default_factory=dict)

    def __post_init__(self):
        self.hub = f"{self.service}-{self.fault['fault']}".lower()

    def key(self, device, number):
        return f"{self.hub}-{device}-{number}"


CASES = [
    Case("apns", RESET, 2), Case("apns", UNANSWERED, 2), Case("browser", RESET, 2), Case("browser", UNANSWERED, 0.5),
    Case("apns", GO_AWAY, 2), Case("fcmv1", GO_AWAY, 2),
]


class Course:
    def __init__(self, binary, directory, seconds):
        self._binary, self._seconds = binary, seconds
        self._data = os.path.join(directory, "data")
        os.mkdir(self._data, 0o700)
        self._simulator = simulators.Simulator(binary, os.path.join(directory, "simulator"))
        self._keys = {case.hub: processes.create_hub(binary, self._data, case.hub)[RULE] for case in CASES}
        self._server = processes.Server(binary, self._data, os.path.join(directory, "server.log"))
        self._arrived = {}

    async def run(self):
        try:
            await self._simulator.start()
            for case in CASES:
                self._simulator.set_credentials(self._data, case.hub, [case.service])
            await self._server.start()
            self._arrivals = simulators.Arrivals(self._simulator.ledger)
            rules = [await self._prepare(case) for case in CASES]
            self._simulator.script(rules, seed=1)
            await asyncio.gather(*(self._send(case) for case in CASES))
            await asyncio.sleep(LIMIT)
            self._judge_healthy()
            self._simulator.script([], seed=1)
            await self._judge_recovery()
        finally:
            for program in (self._server, self._simulator):
                if program.process and program.process.returncode is None:
                    await program.kill()

    def _client(self, case):
        return HubPool(self._server.port, case.hub, self._keys[case.hub])

    async def _prepare(self, case):
        """Registers the devices and reaches each once; the rule by which the last of them fails from then on."""
        client = self._client(case)
        handles = [self._simulator.device(case.service) for _ in range(DEVICES)]
        for number, handle in enumerate(handles):
            await client.install(f"d{number}", case.service, handle, [f"device:{number}"])
        for number in range(DEVICES):
            await self._send_one(case, client, number, "first")
        keys = set(case.sent)
        checks.that(
            f"{case.hub}: every device is reached before", await eventually(lambda: keys <= self._read(), timeout=60))
        case.sent.clear()
        return case.fault | {"service": case.service, "handle": handles[-1]}

    async def _send_one(self, case, client, device, number):
        key = case.key(device, number)
        await client.send(case.service, f"device:{device}", key)
        case.sent[key] = time.monotonic()

    async def _send(self, case):
        await asyncio.gather(
            self._send_steadily(case, HEALTHY_RATE, lambda number: number % (DEVICES - 1)),
            self._send_steadily(case, case.rate, lambda _: DEVICES - 1))

    async def _send_steadily(self, case, rate, device):
        client, start = self._client(case), time.monotonic()
        for number in range(int(self._seconds * rate)):
            await asyncio.sleep(start + number / rate - time.monotonic())
            await self._send_one(case, client, device(number), number)

    def _read(self):
        for line in self._arrivals.read():
            self._arrived.setdefault(line["key"], line["steady"])
        return self._arrived.keys()

    def _judge_healthy(self):
        self._read()
        for case in CASES:
            healthy = {key: sent for key, sent in case.sent.items() if not key.startswith(case.key(DEVICES - 1, ""))}
            took = sorted(
                max(0, self._arrived[key] - sent) if key in self._arrived else float("inf")
                for key, sent in healthy.items())
            share = sum(each <= LIMIT for each in took) / len(took)
            p99 = took[int(0.99 * len(took))]
            print(
                f"attribution: {case.hub}: {len(took)} healthy pushes, {100 * share:.1f} % within {LIMIT:.0f} s, "
                f"p50 {took[len(took) // 2]:.3f} s, p99 {p99:.3f} s, most {took[-1]:.3f} s; "
                f"{len(case.sent) - len(took)} to the device that fails", flush=True)
            checks.that(f"{case.hub}: 99 of 100 healthy pushes arrive within {LIMIT:.0f} s", share >= 0.99, share)
        for case, rule in zip(CASES, self._simulator.call("GET", "faults")["faults"]):
            print(f"attribution: {case.hub}: {rule['happened']} requests failed", flush=True)

    async def _judge_recovery(self):
        keys = {key for case in CASES for key in case.sent}
        began = time.monotonic()
        all_arrive = await eventually(lambda: keys <= self._read(), timeout=150)
        checks.that("everything arrives once no device fails", all_arrive, sorted(keys - self._read())[:5])
        print(f"attribution: everything has arrived {time.monotonic() - began:.0f} s after the faults ended", flush=True)


async def course(options):
    with tempfile.TemporaryDirectory() as directory:
        await Course(os.path.abspath(options.martlet), directory, options.seconds).run()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("martlet")
    parser.add_argument("--seconds", type=float, default=45, help="how long is sent while a device fails")
    checks.finish(course(parser.parse_args()))
