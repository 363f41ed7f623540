"""A canary among a million devices on six platforms: who is in the sample, through kills in the pass that counts, and what
becomes of it: it holds, goes on, halts.

Devices register in order of their age, the platforms in turn. The peers of the services share no code with Martlet and
write down who was told. The sample must be exactly as large as was asked for, and nobody else may be told while it holds;
it must be as many of each tenth by age and of each platform as chance allows; and at the end each device is told once or is
counted as spared.

    canary.py MARTLET [--devices N] [--sample N] [--kills N]

Few devices are counted too fast to be killed meanwhile: with them, say --kills 0.
"""

import argparse
import asyncio
import collections
import copy
import json
import os
import re
import sqlite3
import tempfile
import threading
import time

import mass_jobs
import processes
import service_peers
import web_push_peer
from checks import Checks
from growing_file import GrowingFile

checks = Checks("canary")
RULE = "DefaultFullSharedAccessSignature"
PLATFORMS = ("apns", "fcmv1", "wns", "mpns", "adm", "browser")
ELEMENTS = {"apns": "Apple", "fcmv1": "FcmV1", "wns": "Windows", "mpns": "Mpns", "adm": "Adm", "browser": "Browser"}
MARK = re.compile(r"canary-[a-z]+")
#: Of the server's processor, into the pass: it counts for longer.
INTO_THE_PASS = 0.01
#: As many messages may be sent until all kills have come in the counting pass of one.
ATTEMPTS = 8
#: Pushes a second of the rest, which Python's servers can take.
RATE = 400
#: How many standard deviations a share may be off.
DEVIATIONS = 5


class Told:
    """Who was told what, by all peers."""

    def __init__(self):
        self._lock = threading.Lock()
        self._by_mark = collections.defaultdict(list)

    def note(self, number, message):
        found = MARK.search(str(message))
        with self._lock:
            self._by_mark[found[0] if found else None].append(number)

    def of(self, mark):
        with self._lock:
            return list(self._by_mark[mark])


class Anybody:
    """A device of which nothing is kept but who it is."""

    def __init__(self, number, told, answer):
        self._number, self._told, self._answer = number, told, answer

    def answer(self, message):
        self._told.note(self._number, message)
        return self._answer()


class Everybody:
    """Every handle is somebody's: in the place of a peer's dictionary of devices."""

    def __init__(self, make):
        self._make = make

    def get(self, key):
        found = re.search(r"\d+", key.partition("/01.00/")[2] or key)
        return self._make(key, int(found[0])) if found else None


class Services:
    """FCM, WNS, MPNS and ADM, and a browser's service, for any device."""

    def __init__(self, directory, told):
        self.is_sick = False  # WNS: every second device is unregistered
        folders = [os.path.join(directory, name) for name in ("services", "browsers")]
        for folder in folders:
            os.mkdir(folder)
        self.peer, self.browsers = service_peers.Peer(folders[0]), web_push_peer.Peer(folders[1])
        self.told = told
        self.peer.devices = Everybody(self._device)
        self.browser = web_push_peer.Browser("")
        self.browsers.browsers = Everybody(self._browser)

    def _device(self, key, number):
        success = {
            "fcm:": lambda: service_peers.Answer(200, json.dumps({"name": "projects/p/messages/1"}).encode()),
            "adm:": lambda: service_peers.Peer.adm_result(f"adm-{number}"),
            "/?to": lambda: self._wns(number),
        }.get(key[:4], lambda: service_peers.Answer(
            X_NotificationStatus="Received", X_DeviceConnectionStatus="Connected", X_SubscriptionStatus="Active"))
        return Anybody(number, self.told, success)

    def _wns(self, number):
        is_gone = self.is_sick and number // len(PLATFORMS) % 2
        return service_peers.Answer(410) if is_gone else service_peers.Answer(X_WNS_Status="received")

    def _browser(self, _, number):
        browser, told = copy.copy(self.browser), self.told

        class Messages(list):
            def append(self, message):
                told.note(number, message)

        browser.messages = Messages()
        return browser

    def handle(self, number):
        """The elements of a registration that say where a device is."""
        peer, platform = self.peer, PLATFORMS[number % len(PLATFORMS)]
        match platform:
            case "apns": return f"<DeviceToken>{mass_jobs.token(number)}</DeviceToken>"
            case "fcmv1": return f"<FcmV1RegistrationId>token-{number}</FcmV1RegistrationId>"
            case "wns": return f"<ChannelUri>{peer.origin}/?token={number}%2f</ChannelUri>"
            case "mpns": return f"<ChannelUri>{peer.origin}{service_peers.OPEN_PATH}{number}</ChannelUri>"
            case "adm": return f"<AdmRegistrationId>adm-{number}</AdmRegistrationId>"
        return (
            f"<Endpoint>{self.browsers.origin}/push/{number}</Endpoint><P256DH>{self.browser.p256dh}</P256DH>"
            f"<Auth>{self.browser.auth}</Auth>")

    def set_credentials(self, set_credential):
        peer, directory = self.peer, os.path.dirname(self.peer.ca)
        account = os.path.join(directory, "account.json")
        with open(account, "w") as file:
            json.dump(peer.fcm_tokens.renewed().file(), file)
        ca = ("--ca-file", peer.ca)
        set_credential("fcmv1", "--service-account-file", account, "--endpoint", peer.origin, *ca)
        tokens = peer.wns_tokens.renewed()
        set_credential("wns", "--package-sid", tokens.client, "--secret-key", tokens.secret,
                       "--token-endpoint", peer.origin + service_peers.LIVE_PATH, *ca)
        set_credential("mpns", "--certificate-file", peer.identity, *ca)
        tokens = peer.adm_tokens.renewed()
        set_credential("adm", "--client-id", tokens.client, "--client-secret", tokens.secret,
                       "--token-endpoint", peer.origin + service_peers.ADM_TOKEN_PATH,
                       "--send-url", peer.origin + "/messaging/registrations/{0}/messages", *ca)
        set_credential("webpush", "--generate", "--subject", "mailto:push@example.com", "--allowed-hosts", "127.0.0.1",
                       "--ca-file", self.browsers.ca)

    def close(self):
        self.peer.close()
        self.browsers.close()


class Course:
    def __init__(self, binary, directory, devices, sample, kills):
        self._binary, self._directory, self._devices = binary, directory, devices
        self._sample, self._kills = sample, kills
        self._data = os.path.join(directory, "data")
        self._key = processes.create_hub(binary, self._data, "mass")[RULE]
        self.server = processes.Server(binary, self._data, os.path.join(directory, "log"))
        self.apns = processes.APNsPeer(os.path.join(directory, "apns"))
        self._told = Told()
        self._services = Services(directory, self._told)
        self._patience = 120 + devices / 500
        self._known = set()

    async def run(self):
        await self.apns.start()
        self._ledger = GrowingFile(self.apns.ledger)

        def set_credential(platform, *words):
            processes.martlet(
                self._binary, "hub", "credential", "set", "mass", platform, *words, "--data", self._data)

        set_credential("apns", *self.apns.credential_arguments())
        self._services.set_credentials(set_credential)
        await self._start()
        self._load()
        await self._goes_on()
        await self._halts()
        code, _ = await self.server.stop()
        checks.equal("SIGTERM ends the server with 0", code, 0)
        code, _ = await self.apns.stop()
        checks.equal("APNs had nothing to complain of", code, 0)
        checks.equal("nor had the others", self._services.peer.violations + self._services.browsers.violations, [])
        self._services.close()

    async def _start(self):
        await self.server.start()
        self._hub = mass_jobs.Hub(self.server.port, self._key)
        self._used = self._processor()

    def _load(self):
        url = processes.martlet(self._binary, "container", "create", "mass", "--data", self._data).strip()
        container = re.sub(r"//[^/]+/", f"//127.0.0.1:{self.server.port}/", url)
        blob, path = container.replace("?", "/in.txt?", 1), os.path.join(self._directory, "in.txt")
        with open(path, "w", encoding="ascii") as file:
            for number in range(self._devices):
                element = ELEMENTS[PLATFORMS[number % len(PLATFORMS)]] + "RegistrationDescription"
                file.write(
                    mass_jobs.HEAD.replace("AppleRegistrationDescription", element)
                    + f"{self._services.handle(number)}</{element}>\n")
        mass_jobs.transfer(self.server.port, "PUT", blob, path)
        _, seconds = self._hub.run_job("ImportCreateRegistrations", container, blob)
        os.remove(path)
        answer, data = self._hub.ask("GET", "/mass/audience?everybody")
        count = json.loads(data)["devices"]
        print(f"canary: {count:,} devices imported in {seconds:.0f} s", flush=True)
        checks.equal("all devices are registered", count, self._devices)

    # What can be seen

    def _told_of(self, mark):
        """Who was told, the devices of APNs by its own ledger."""
        for delivery in map(json.loads, self._ledger.lines()):
            self._told.note(int(delivery["token"], 16), delivery["payload"])
        return self._told.of(mark)

    def _processor(self):
        """Seconds of all threads."""
        folder, nanoseconds = f"/proc/{self.server.process.pid}/task", 0
        for thread in os.listdir(folder):
            with open(f"{folder}/{thread}/schedstat") as file:
                nanoseconds += int(file.read().split()[0])
        return nanoseconds / 1e9

    def _is_counted(self):
        """Whether the threshold of the newest canary is stored."""
        with sqlite3.connect(f"file:{self._data}/martlet.db?mode=ro", uri=True) as database:
            [(threshold,)] = database.execute("SELECT sample_threshold FROM rollouts ORDER BY notification DESC LIMIT 1")
            return threshold is not None

    def _send(self, mark, rollout):
        fields = {
            "ServiceBusNotification-Format": "message", "Content-Type": "application/json", "Martlet-Rollout": rollout}
        self._used = self._processor()
        answer, data = self._hub.ask_with(fields, "POST", "/mass/messages", json.dumps({"title": "Sale", "text": mark}))
        if answer.status != 201:
            raise processes.Failed(f"the send was answered {answer.status}: {data[:300]}")
        return answer.getheader("Location").partition("?")[0].rpartition("/")[2]

    def _wish(self, word, message):
        answer, data = self._hub.ask("POST", f"/mass/messages/{message}/{word}")
        checks.equal(f"{word} is answered", answer.status, 200)
        return json.loads(data)

    def _status(self, message):
        return json.loads(self._hub.ask("GET", f"/mass/messages/{message}/status")[1])

    async def _until(self, message, what, condition):
        deadline = time.monotonic() + self._patience
        while not condition(status := self._status(message)):
            if time.monotonic() > deadline:
                raise processes.Failed(f"it did not come to this: {what}: {status}\n{self.server.log_tail()}")
            await asyncio.sleep(0.1)
        return status

    def _show(self, message):
        lines = processes.martlet(self._binary, "status", "mass", message, "--data", self._data).splitlines()
        print(*(f"canary: {line}" for line in lines), sep="\n", flush=True)

    # The courses

    async def _counted_through_kills(self, rollout):
        """A message whose counting pass kills have interrupted, and its mark."""
        for attempt in range(ATTEMPTS):
            mark = f"canary-{'abcdefgh'[attempt]}"
            message, kills = self._send(mark, rollout), 0
            while kills < self._kills and not self._is_counted():
                if self._processor() - self._used < INTO_THE_PASS:
                    await asyncio.sleep(0.001)
                    continue
                await self.server.kill()
                if self._is_counted():
                    await self._start()
                    break
                kills += 1
                await self._start()
            if kills == self._kills:
                print(f"canary: {kills} kills in the pass that counts; attempt {attempt + 1}", flush=True)
                return message, mark
            await self._until(message, "it holds", lambda status: status["control"] == "holding")
            self._wish("cancel", message)
            await self._until(message, "it is canceled", lambda status: status["state"] == "Canceled")
        raise processes.Failed(f"no message of {ATTEMPTS} was killed {self._kills} times while it was counted")

    async def _held(self, message, mark):
        """The numbers of the devices of a sample that holds."""
        status = await self._until(
            message, "the sample is over",
            lambda status: status["control"] == "holding" and status["sample"]["succeeded"] == self._sample)
        self._show(message)
        sample = self._told_of(mark)
        checks.equal("exactly so many are in the sample", len(set(sample)), self._sample)
        checks.equal("and are told once", len(sample), self._sample)
        checks.equal("the status says so", (status["sample"]["size"], status["sample"]["targeted"]), (self._sample,) * 2)
        return sample

    def _judge_shares(self, sample):
        tenths = collections.Counter(number * 10 // self._devices for number in sample)
        platforms = collections.Counter(PLATFORMS[number % len(PLATFORMS)] for number in sample)
        for what, counts, places in [
            ("tenth by age", tenths, list(range(10))), ("platform", platforms, list(PLATFORMS)),
        ]:
            share = 1 / len(places)
            limit = DEVIATIONS * (self._sample * share * (1 - share)) ** 0.5
            shown = ", ".join(f"{place}: {counts[place]}" for place in places)
            print(f"canary: of each {what}: {shown}; {self._sample * share:.0f} ± {limit:.0f} allowed", flush=True)
            for place in places:
                checks.that(
                    f"the sample has its share of {what} {place}", abs(counts[place] - self._sample * share) <= limit,
                    counts[place])

    async def _goes_on(self):
        message, mark = await self._counted_through_kills(f"first={self._sample}; rate={RATE}")
        sample = await self._held(message, mark)
        self._judge_shares(sample)
        await self.server.kill()
        await self._start()
        checks.equal("a hold survives kill -9", self._status(message)["control"], "holding")
        checks.equal("and nobody else was told", len(self._told_of(mark)), self._sample)
        self._wish("resume", message)
        status = await self._until(
            message, "the rest goes out", lambda status: status["succeeded"] >= 5 * self._sample
            or status["state"] == "Completed")
        checks.equal("it runs", (status["control"], "sample" in status), ("running", True))
        status = await self._end(message, mark)
        checks.that("the rest is sent", status["succeeded"] >= 5 * self._sample, status)

    async def _end(self, message, mark):
        """Ends what would take Python's servers too long; the numbers must add up to everybody."""
        if self._status(message)["state"] != "Completed":
            self._wish("cancel", message)
        status = await self._until(
            message, "it is over", lambda status: status["state"] in ("Completed", "Canceled") and not status["pending"])
        self._show(message)
        told = self._told_of(mark)
        checks.equal("nobody is told twice", len(set(told)), len(told))
        checks.equal("everybody was sent it or spared", status["sent"] + status["suppressed"], status["targeted"])
        checks.equal("and that is everybody", status["targeted"], self._devices)
        states = {part["state"] for part in status["platforms"].values()}
        checks.that("each platform says how it ended", states <= {"Completed", status["state"]}, states)
        return status

    async def _halts(self):
        self._services.is_sick = True
        mark = "canary-sick"
        message = self._send(mark, f"first={self._sample}; wait=PT1M; halt=2%")
        status = await self._until(message, "it halts itself", lambda status: status["control"] == "halted")
        await asyncio.sleep(1)
        self._show(message)
        told = self._told_of(mark)
        checks.that("a sample that fails halts", status["failed"] * 50 > status["sent"], status)
        checks.that("nobody is told beyond the sample", len(set(told)) <= self._sample, len(told))
        await self.server.kill()
        await self._start()
        checks.equal("halted survives kill -9", self._status(message)["control"], "halted")
        status = await self._end(message, mark)
        checks.that("the rest is spared", status["suppressed"] >= self._devices - self._sample, status)


async def course(binary, devices, sample, kills):
    with tempfile.TemporaryDirectory() as directory:
        judged = Course(os.path.abspath(binary), directory, devices, sample, kills)
        try:
            await judged.run()
        finally:
            for program in (judged.server, judged.apns):
                if program.process and program.process.returncode is None:
                    await program.kill()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("martlet")
    parser.add_argument("--devices", type=int, default=1_000_000)
    parser.add_argument("--sample", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=3, help="in the pass that counts")
    arguments = parser.parse_args()
    checks.finish(course(arguments.martlet, arguments.devices, arguments.sample, arguments.kills))
