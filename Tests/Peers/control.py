"""Broadcasts that are canceled, paused and halted in the middle, judged by an independent APNs.

What was delivered must be what was sent, what was sent and what was spared must be whom it was for, and nothing may be
written later than a second after the answer to a cancel or a pause. A pause must survive kill -9, and behind it everyone
must be told exactly once. A roll-out must keep its rate and halt itself where too much fails.

    control.py MARTLET [--devices N]
"""

import argparse
import asyncio
import json
import os
import re
import tempfile
import time

import mass_jobs
import processes
from checks import Checks

checks = Checks("control")

RULE = "DefaultFullSharedAccessSignature"
#: Between the answer to a wish and the last push that is written.
GRACE = 1
#: So many pushes go at a time on one connection, and each takes so long: a service that is slow, but keeps up, so that
#: what was written has arrived at once.
SLOW = ("--streams", "40", "--delay", "0.2")
#: For audiences above `MANY` Python itself is slow enough, and a slow roll-out would take half an hour.
MANY = 50_000
BUSY = ("--streams", "100")


class Ledger:
    """What the peer has accepted, read as it grows: when which device was told what."""

    def __init__(self, path):
        self._file = open(path, encoding="utf-8")
        self._rest = ""
        self.told = {}  # what is said -> [(arrived, token)]

    def read(self):
        self._rest += self._file.read()
        lines, _, self._rest = self._rest.rpartition("\n")
        for line in lines.splitlines():
            delivery = json.loads(line)
            text = json.loads(delivery["payload"])["aps"]["alert"]
            self.told.setdefault(text, []).append((delivery["arrived"], delivery["token"]))

    def of(self, text):
        self.read()
        return self.told.get(text, [])

    def close(self):
        self._file.close()


class Course:
    def __init__(self, binary, directory, devices):
        self._binary, self._directory, self._devices = binary, directory, devices
        self._data = os.path.join(directory, "data")
        self._key = processes.create_hub(binary, self._data, "mass")[RULE]
        self.server = processes.Server(binary, self._data, os.path.join(directory, "log"))
        self.peer = None
        self._hub = None
        # A loaded machine with a million devices is given its time.
        self._patience = 120 + devices / 500

    # The parts

    async def _start(self):
        await self.server.start()
        self._hub = mass_jobs.Hub(self.server.port, self._key)

    async def _use_peer(self, name, *options):
        """Has the hub push to a peer of its own."""
        if self.peer:
            code, _ = await self.peer.stop()
            checks.equal("the peer had nothing to complain of", code, 0)
        self.peer = processes.APNsPeer(os.path.join(self._directory, name), *options)
        await self.peer.start()
        processes.martlet(
            self._binary, "hub", "credential", "set", "mass", "apns", "--data", self._data,
            *self.peer.credential_arguments())
        return Ledger(self.peer.ledger)

    def _load(self):
        """Registers every device by one job."""
        url = processes.martlet(self._binary, "container", "create", "mass", "--data", self._data).strip()
        container = re.sub(r"//[^/]+/", f"//127.0.0.1:{self.server.port}/", url)
        blob = container.replace("?", "/in.txt?", 1)
        path = os.path.join(self._directory, "in.txt")
        mass_jobs.write_lines(path, self._devices)
        mass_jobs.transfer(self.server.port, "PUT", blob, path)
        _, seconds = self._hub.run_job("ImportCreateRegistrations", container, blob)
        print(f"control: {self._devices} devices imported in {seconds:.1f} s", flush=True)

    def _send(self, text, **fields):
        """The id of a broadcast."""
        fields = {
            "ServiceBusNotification-Format": "apple", "Content-Type": "application/json",
        } | {name.replace("_", "-"): value for name, value in fields.items()}
        answer, data = self._hub.ask_with(fields, "POST", "/mass/messages", json.dumps({"aps": {"alert": text}}))
        if answer.status != 201:
            raise processes.Failed(f"the send was answered {answer.status}: {data[:300]}")
        return answer.getheader("Location").partition("?")[0].rpartition("/")[2]

    def _wish(self, word, message):
        """The answer, and when it had come."""
        answer, data = self._hub.ask("POST", f"/mass/messages/{message}/{word}")
        checks.equal(f"{word} is answered", answer.status, 200)
        return json.loads(data), time.time()

    def _status(self, message):
        return json.loads(self._hub.ask("GET", f"/mass/messages/{message}/status")[1])

    async def _until(self, message, what, condition):
        """The status of which the condition is true."""
        deadline = time.monotonic() + self._patience
        while not condition(status := self._status(message)):
            if time.monotonic() > deadline:
                raise processes.Failed(f"it did not come to this: {what}: {status}\n{self.server.log_tail()}")
            await asyncio.sleep(0.1)
        return status

    async def _until_told(self, ledger, text, count):
        deadline = time.monotonic() + self._patience
        while len(ledger.of(text)) < count:
            if time.monotonic() > deadline:
                raise processes.Failed(f"only {len(ledger.of(text))} were told '{text}'\n{self.server.log_tail()}")
            await asyncio.sleep(0.05)

    def _show(self, message):
        lines = processes.martlet(self._binary, "status", "mass", message, "--data", self._data).splitlines()
        print(*(f"control: {line}" for line in lines), sep="\n", flush=True)

    def _judge_numbers(self, what, ledger, text, status):
        told = ledger.of(text)
        checks.equal(f"{what}: nobody is told twice", len({token for _, token in told}), len(told))
        checks.equal(f"{what}: what was delivered was sent", status["succeeded"], len(told))
        checks.equal(f"{what}: whom it was for", status["targeted"], self._devices)
        checks.equal(
            f"{what}: everyone was sent it or spared it", status["sent"] + status["suppressed"], status["targeted"])
        checks.equal(f"{what}: nobody waits", (status["pending"], status["retrying"]), (0, 0))

    def _judge_silence(self, what, ledger, text, moment):
        late = [arrived - moment for arrived, _ in ledger.of(text) if arrived > moment]
        print(f"control: {what}: {len(late)} pushes came after the answer, the last {max(late, default=0):.3f} s after it")
        checks.that(f"{what}: nothing is written later than a second after the answer", max(late, default=0) < GRACE, late[-5:])

    # The courses

    async def _cancel(self, ledger):
        message = self._send("canceled")
        await self._until_told(ledger, "canceled", self._devices // 3)
        _, moment = self._wish("cancel", message)
        status = await self._until(message, "it is canceled", lambda status: status["state"] == "Canceled")
        self._show(message)
        self._judge_silence("cancel", ledger, "canceled", moment)
        self._judge_numbers("cancel", ledger, "canceled", status)
        checks.that("cancel: some were spared", status["suppressed"] > 0, status)
        again, _ = self._wish("cancel", message)
        checks.equal("a cancel may be repeated", again["suppressed"], status["suppressed"])
        answer, _ = self._hub.ask("POST", f"/mass/messages/{message}/resume")
        checks.equal("what was canceled does not come back", answer.status, 409)

    async def _pause(self, ledger):
        message = self._send("paused")
        await self._until_told(ledger, "paused", self._devices // 4)
        _, moment = self._wish("pause", message)
        status = await self._until(
            message, "what is under way is counted", lambda status: status["succeeded"] == len(ledger.of("paused")))
        self._judge_silence("pause", ledger, "paused", moment)
        checks.that("pause: not all were told", status["succeeded"] < self._devices, status)
        await self.server.kill()
        await self._start()
        await asyncio.sleep(2 * GRACE)
        checks.equal("a pause survives kill -9", len(ledger.of("paused")), status["succeeded"])
        checks.equal("and is told of", self._status(message)["control"], "paused")
        self._wish("resume", message)
        status = await self._until(message, "it is complete", lambda status: status["state"] == "Completed")
        self._show(message)
        self._judge_numbers("pause", ledger, "paused", status)
        checks.equal("pause: everyone is told", status["succeeded"], self._devices)

    async def _halt(self, ledger):
        rate = max(100, self._devices // 20)
        message = self._send("halted", Martlet_Rollout=f"rate={rate}; halt=5%/{max(20, rate // 4)}")
        started = time.time()
        await self._until(message, "it halts itself", lambda status: status["control"] == "halted")
        moment = time.time()
        await asyncio.sleep(2 * GRACE)
        halted = self._status(message)
        ended = halted["sent"]
        self._show(message)
        checks.that("halt: more than 5 % have failed", halted["failed"] * 20 > ended, halted)
        checks.that("halt: not many were sent to", ended < rate * (moment - started + 2), halted)
        checks.that("halt: an alarm is logged", "is halted" in self.server.log_tail())
        checks.equal("halt: it stands still", self._status(message)["sent"], ended)
        self._wish("resume", message)
        again = await self._until(
            message, "it halts itself again", lambda status: status["control"] == "halted" and status["sent"] > ended)
        checks.that("halt: a resumption counts anew", again["sent"] - ended >= max(20, rate // 4), again)
        self._wish("cancel", message)
        status = await self._until(message, "it is canceled", lambda status: status["state"] == "Canceled")
        self._judge_numbers("halt", ledger, "halted", status)
        checks.that("halt: the most were spared", status["suppressed"] > self._devices // 2, status)

    async def _roll_out(self, ledger):
        """The rate is kept, across a kill as well."""
        rate = max(100, self._devices // 20)
        message = self._send("rolled out", Martlet_Rollout=f"rate={rate}")
        await self._until_told(ledger, "rolled out", self._devices // 3)
        await self.server.kill()
        await self._start()
        status = await self._until(message, "it is complete", lambda status: status["state"] == "Completed")
        self._show(message)
        told = sorted(arrived for arrived, _ in ledger.of("rolled out"))
        seconds = told[-1] - told[0]
        print(f"control: rolled out to {len(told)} in {seconds:.1f} s at a rate of {rate}", flush=True)
        # A quarter of a second's worth may go at the start of each process.
        checks.that("roll-out: not faster than its rate", len(told) <= rate * (seconds + 1.5), (len(told), seconds))
        checks.equal("roll-out: everyone is told", len({token for _, token in ledger.of("rolled out")}), self._devices)
        checks.equal("roll-out: and is counted", status["targeted"], self._devices)

    async def run(self):
        await self._start()
        ledger = await self._use_peer("slow", *(SLOW if self._devices <= MANY else BUSY))
        self._load()
        await self._cancel(ledger)
        await self._pause(ledger)
        if self._devices <= MANY:
            await self._roll_out(ledger)
        ledger.close()
        ledger = await self._use_peer("failing", "--gone-every", "5")
        await self._halt(ledger)
        ledger.close()
        code, _ = await self.server.stop()
        checks.equal("SIGTERM ends the server with 0", code, 0)
        code, _ = await self.peer.stop()
        checks.equal("the peer had nothing to complain of", code, 0)


async def course(binary, devices):
    with tempfile.TemporaryDirectory() as directory:
        judged = Course(os.path.abspath(binary), directory, devices)
        try:
            await judged.run()
        finally:
            for program in (judged.server, judged.peer):
                if program and program.process and program.process.returncode is None:
                    await program.kill()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("martlet")
    parser.add_argument("--devices", type=int, default=20_000)
    arguments = parser.parse_args()
    checks.finish(course(arguments.martlet, arguments.devices))
