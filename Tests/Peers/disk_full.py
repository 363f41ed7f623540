"""A full disk: nothing new is taken in, nothing that was answered with success is lost, and room is all it takes to go on.

A real `martlet serve` has its data on a small file system of its own, and sends go to the strict APNs peer, which keeps the
ledger of deliveries outside. The disk is filled by a stranger, at first until only the server's reserve is left, then to
the last byte while sends wait and others come; the server is killed, started and stopped while it is full; then once more
with no reserve, by the server itself. Accepted is counted by the client, delivered by the peer.

    disk_full.py MARTLET
"""

import asyncio
import base64
import collections
import errno
import http.client
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import hub_client
import processes
from checks import Checks

checks = Checks("disk-full")

HUB = "cellar"
USER, PASSWORD = "alice", "a long password"
DEVICES, USERS = 20, 5
SIZE = 96 << 20
RESERVE = SIZE // 20
WAIT = 120
XML = {"Content-Type": "application/atom+xml;type=entry;charset=utf-8"}


class Disk:
    """A file system of its own, and the stranger who fills it."""

    def __init__(self, path):
        self.path = path
        os.mkdir(path)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=0700", "tmpfs", path],
                              capture_output=True, text=True)
        if done.returncode:
            raise OSError(f"no tmpfs can be mounted: {done.stderr.strip()}")

    @property
    def free(self):
        status = os.statvfs(self.path)
        return status.f_bavail * status.f_frsize

    def fill(self, leaving=0):
        """Writes until so many bytes are left; how many are."""
        with open(os.path.join(self.path, "ballast"), "ab", buffering=0) as file:
            for chunk in (1 << 20, 4096):
                try:
                    while self.free - leaving >= chunk:
                        file.write(bytes(chunk))
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise
        return self.free

    def make_room(self):
        os.unlink(os.path.join(self.path, "ballast"))

    def unmount(self):
        subprocess.run(["umount", "--lazy", self.path], check=False)


class Client:
    """A sender who remembers what was accepted."""

    def __init__(self, server, rule):
        self._server, self._rule = server, rule
        self.counts = collections.Counter()
        self.owed = set()  # (key, token)
        self.tokens = [f"{number:064x}" for number in range(1, DEVICES + 1)]
        self._random = random.Random(1)
        self._made = 0
        self.token = None
        self.connect()

    def connect(self):
        self._connection = hub_client.Connection(self._server.port, timeout=60)
        self._authorization = hub_client.signature(hub_client.namespace_resource(self._server.port), *self._rule)

    def close(self):
        self._connection.close()

    async def hub(self, method, path, fields=None, body=b""):
        fields = {"Authorization": self._authorization} | (fields or {})
        return await self._connection.request(method, f"/{HUB}/{path}?{hub_client.API_VERSION}", fields, body)

    async def backend(self, method, path, content, token=None):
        fields = {"Content-Type": "application/json"}
        if token:
            fields["Authorization"] = f"Bearer {token}"
        return await self._connection.request(method, f"/api/{path}", fields, json.dumps(content).encode())

    async def get(self, path):
        return await self._connection.request("GET", path, {})

    async def register(self, number, identifier=None):
        entry = hub_client.registration_entry(self.tokens[number], ["all", f"user{number % USERS}"])
        return await self.hub("PUT", f"registrations/{identifier or f'device{number}'}", XML, entry)

    async def send(self, due=None, padding=200):
        """One to everybody or to a user; its answer. What is scheduled is not owed: it is withdrawn."""
        self._made += 1
        key = f"m{self._made}"
        fields = {"ServiceBusNotification-Format": "apple", "Content-Type": "application/json"}
        addressees = self.tokens
        if self._random.random() < 0.8:
            user = self._random.randrange(USERS)
            fields["ServiceBusNotification-Tags"] = f"user{user}"
            addressees = self.tokens[user::USERS]
        path = "messages"
        if due:
            path = "schedulednotifications"
            fields["ServiceBusNotification-ScheduleTime"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(due))
        body = json.dumps({"aps": {"alert": "x" * padding}, "key": key}).encode()
        answer = await self.hub("POST", path, fields, body)
        self.counts[answer[0]] += 1
        if answer[0] == 201 and not due:
            self.owed |= {(key, token) for token in addressees}
        elif answer[0] not in (201, 507):
            checks.that("a send is accepted or refused for want of room", False, answer)
        return answer

    async def send_until(self, status, limit=4000):
        """Sends until one is answered so; the answer."""
        deadline = time.monotonic() + WAIT
        for _ in range(limit):
            answer = await self.send()
            if answer[0] == status or time.monotonic() > deadline:
                return answer
        return answer


class Ledger:
    def __init__(self, path):
        self._path = path

    def deliveries(self):
        """How often each device got each message."""
        found = collections.Counter()
        if os.path.exists(self._path):
            with open(self._path, encoding="utf-8") as lines:
                for delivery in (json.loads(line) for line in lines if line.endswith("\n")):
                    found[json.loads(delivery["payload"])["key"], delivery["token"]] += 1
        return found


class Course:
    def __init__(self, binary, directory, disk, name, *options):
        self._binary, self._disk, self._name = binary, disk, name
        self._data = os.path.join(disk.path, name)
        os.mkdir(self._data, 0o700)
        self._peer = processes.APNsPeer(os.path.join(directory, name))
        self._server = processes.Server(binary, self._data, os.path.join(directory, f"{name}.log"), *options)

    async def __aenter__(self):
        await self._peer.start()
        rules = processes.create_hub(self._binary, self._data, HUB)
        credential = ["hub", "credential", "set", HUB, "apns", *self._peer.credential_arguments()]
        processes.martlet(self._binary, *credential, "--data", self._data)
        processes.martlet(self._binary, "user", "add", USER, "--password-stdin", "--data", self._data, stdin=PASSWORD)
        await self._server.start()
        full = "DefaultFullSharedAccessSignature"
        self._client = Client(self._server, (full, rules[full]))
        self._ledger = Ledger(self._peer.ledger)
        for number in range(DEVICES):
            status, _, _ = await self._client.register(number)
            checks.equal(f"device {number} registers", status, 200)
        status, _, body = await self._client.backend("POST", "sessions", {"user": USER, "password": PASSWORD})
        checks.equal("a user logs in", status, 201)
        self._client.token = json.loads(body)["token"]
        return self

    async def __aexit__(self, *_):
        self._client.close()
        await asyncio.sleep(0.1)  # what has just ended is noticed
        for program in (self._server, self._peer):
            if program.process and program.process.returncode not in (None, 0, -signal.SIGKILL):
                print(f"{self._name}: ended by itself with {program.process.returncode}\n{program.log_tail()}", flush=True)
            if program.process and program.process.returncode is None:
                program.process.send_signal(signal.SIGCONT)
                program.process.kill()
                await program.process.wait()
        shutil.rmtree(self._data, ignore_errors=True)
        if os.path.exists(os.path.join(self._disk.path, "ballast")):
            self._disk.make_room()

    async def _restart(self, leaving=None):
        """Starts the server again, on a disk that somebody has filled meanwhile."""
        self._client.close()
        if leaving is not None:
            self._disk.fill(leaving)
        await self._server.start()
        self._client.connect()

    async def _refuses(self, when, sends=3):
        """All that is new is refused in the form of its API, and nothing else is."""
        client = self._client
        for _ in range(sends):
            status, fields, body = await client.send()
            checks.equal(f"{when}: a send is refused", status, 507)
            checks.that(f"{when}: with a reason and when to come again",
                        b"SubCode=50700" in body and fields.get("retry-after", "").isdigit(), (fields, body))
        entry = hub_client.registration_entry("ab" * 32, ["all"])
        later = time.time() + 3600
        refused = {
            "a registration": await client.hub("PUT", "registrations/new", XML, entry),
            "a new registration": await client.hub("POST", "registrations", XML, entry),
            "an installation": await client.hub(
                "PUT", "installations/new", {"Content-Type": "application/json"},
                json.dumps({"installationId": "new", "platform": "apns", "pushChannel": "cd" * 32}).encode()),
            "a schedule": await client.send(due=later),
            "a session": await client.backend("POST", "sessions", {"user": USER, "password": PASSWORD}),
            "a payload": await client.backend(
                "POST", "notifications/rich",
                {"to": [USER], "payload": base64.b64encode(bytes(1000)).decode(), "type": "text"}, client.token),
            "a secret": await client.backend(
                "POST", "notifications/secure", {"to": [USER], "payload": "secret"}, client.token),
            "receipts": await client.backend(
                "POST", "receipts", {"device": "device1", "receipts": [
                    {"notification": "1" * 9, "event": "received", "at": "2026-01-31T12:00:00Z"}]}, client.token),
        }
        for what, (status, _, body) in refused.items():
            checks.equal(f"{when}: {what} is refused: {body[:200]!r}", status, 507)
        checks.equal(f"{when}: what was registered can be read", (await client.hub("GET", "registrations/device1"))[0], 200)
        checks.equal(f"{when}: what was refused is not there", (await client.hub("GET", "registrations/new"))[0], 404)
        checks.equal(f"{when}: the server lives", (await client.get("/health/live"))[0], 200)

    async def _looked(self):
        """Waits until the server has looked at the disk, as it does every tenth of a second. A send that does not fit is
        refused before, but what is smaller still finds room in the server's own files."""
        deadline = time.monotonic() + WAIT
        while (status := (await self._client.get("/health/ready"))[0]) != 503 and time.monotonic() < deadline:
            await asyncio.sleep(0.02)
        checks.equal("full: the server has looked at the disk", status, 503)

    async def _tells(self):
        """Whoever asks is told what is wrong."""
        status, _, body = await self._client.get("/health/ready")
        checks.that("short: the health says so", status == 503 and b"MB left" in body, (status, body))
        metrics = processes.martlet(self._binary, "metrics", "--data", self._data)
        values = {kind: float(re.search(rf'martlet_disk_bytes{{kind="{kind}"}} (\S+)', metrics)[1])
                  for kind in ("free", "reserve")}
        checks.that("short: the metrics say so", values["free"] < values["reserve"] == RESERVE, values)
        refused = re.search(r'martlet_http_refusals_total{area="hub",code="507"} (\S+)', metrics)
        checks.that("short: refusals are counted", refused and float(refused[1]) > 0, refused)
        try:
            processes.martlet(self._binary, "hub", "create", "another", "--data", self._data)
            checks.that("short: no hub is made", False)
        except processes.Failed as error:
            checks.that("short: a command says what to do", "Make room" in str(error), str(error))
        shown = processes.martlet(self._binary, "hub", "connection-string", HUB, "--data", self._data)
        checks.that("short: connection strings are shown", "Endpoint=" in shown, shown)

    async def _delivered(self, when):
        """Waits until everything that was accepted has arrived; how much is missing, and how often something came twice."""
        deadline = time.monotonic() + WAIT
        while (missing := self._client.owed - (found := self._ledger.deliveries()).keys()):
            if time.monotonic() > deadline:
                break
            await asyncio.sleep(0.1)
        twice = sum(count - 1 for count in found.values())
        counts = self._client.counts
        print(f"{self._name}: {when}: accepted {counts[201]}, refused {counts[507]}, owed {len(self._client.owed)}, "
              f"delivered {sum(found.values())}, twice {twice}, lost {len(missing)}", flush=True)
        checks.equal(f"{when}: lost", len(missing), 0)
        return twice

    async def reserved(self):
        """Only the reserve is left: what was accepted goes on as ever."""
        client = self._client
        status, fields, _ = await client.send(due=time.time() + 3600)
        schedule = fields["location"].rpartition("/")[2].partition("?")[0]
        checks.equal("a schedule is accepted", status, 201)
        for _ in range(100):
            await client.send()
        self._disk.fill(RESERVE // 2)
        await client.send_until(507)
        await self._refuses("short")
        await self._tells()
        twice = await self._delivered("with the reserve alone")
        checks.equal("with the reserve alone: twice", twice, 0)
        status, _, _ = await client.hub("DELETE", f"schedulednotifications/{schedule}")
        checks.equal("short: a schedule is withdrawn", status, 200)
        status, _, _ = await client.hub("DELETE", "registrations/device0", {"If-Match": "*"})
        checks.equal("short: a registration is removed", status, 200)
        client.tokens[0] = f"{DEVICES + 1:064x}"
        self._disk.make_room()
        # Before any send, which would owe the new token something.
        deadline = time.monotonic() + WAIT
        while (registered := (await client.register(0, "another"))[0]) == 507 and time.monotonic() < deadline:
            await asyncio.sleep(0.02)
        checks.equal("room: registrations are taken", registered, 200)
        checks.equal("room: sends are taken at once", (await client.send_until(201))[0], 201)
        checks.equal("room: the server is ready", (await client.get("/health/ready"))[0], 200)

    def _console(self, path, body, cookie=""):
        """What the console answers to a page: the status and the cookie."""
        connection = http.client.HTTPConnection("127.0.0.1", self._server.port, timeout=60)
        connection.request("POST", f"/console/api{path}", json.dumps(body), {
            "Content-Type": "application/json", "Martlet-Console": "1", "Origin": f"http://127.0.0.1:{self._server.port}", "Cookie": cookie})
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer.status, answer.getheader("set-cookie") or ""

    async def filled(self):
        """Not a byte is left, while sends wait, run and come."""
        client = self._client
        printed = processes.martlet(self._binary, "operator", "invite", "ops", "--role", "admin", "--data", self._data)
        token = re.search(r"/console/enter#(\S+)", printed)[1]
        _, cookie = self._console("/link/use", {"token": token, "password": PASSWORD})
        self._peer.process.send_signal(signal.SIGSTOP)
        for _ in range(100):
            await client.send(padding=1500)
        checks.equal("the disk is full", self._disk.fill() < 8192, True)
        await self._looked()
        await self._refuses("full")
        self._peer.process.send_signal(signal.SIGCONT)
        for _ in range(50):
            await client.send()
            self._disk.fill()
            await asyncio.sleep(0.02)
        await self._server.kill()
        await self._restart(leaving=0)
        await self._refuses("full, after kill -9")
        self._disk.fill()
        self._client.close()
        code, _ = await self._server.stop()
        checks.equal("full: SIGTERM ends the server with 0", code, 0)
        await self._restart(leaving=0)
        await self._refuses("full, after SIGTERM")
        status, removing = self._console("/sign-out", {}, cookie.partition(";")[0])
        # The database may have had room for these few bytes.
        checks.that("full: a browser that signs out forgets the session, and learns it if it did not end", status in (204, 503) and "Max-Age=0" in removing, (status, removing))
        self._disk.make_room()
        checks.equal("room again: sends are taken without a restart", (await client.send_until(201))[0], 201)
        twice = await self._delivered("after the disk was full")
        checks.that("after the disk was full: twice is once at most for what was under way",
                    twice <= len(client.owed), twice)
        await self._server.stop()

    async def filled_by_itself(self):
        """There is no reserve, and the server's own files take all the room: payloads, the database and its log."""
        client = self._client
        self._disk.fill(8 << 20)
        content = {"to": [USER], "payload": base64.b64encode(bytes(1 << 20)).decode(), "type": "text"}
        uploads = collections.Counter()
        for _ in range(100):
            status, _, body = await client.backend("POST", "notifications/rich", content, client.token)
            uploads[status] += 1
            checks.that("a payload is taken or refused for want of room", status in (201, 507), body)
            await client.send(padding=2000)
            if status == 507:
                break
        checks.that("payloads are taken, then refused", uploads[201] > 3 and uploads[507] and len(uploads) == 2, uploads)
        for _ in range(3000):
            if (await client.send(padding=3000))[0] == 507:
                break
        checks.that("the server has filled the disk", self._disk.free < 256 << 10, self._disk.free)
        await self._server.kill()
        await self._restart()
        for _ in range(20):
            await client.send(padding=3000)
        checks.equal("registrations can be read", (await client.hub("GET", "registrations/device1"))[0], 200)
        self._disk.make_room()
        checks.equal("room: sends are taken", (await client.send_until(201))[0], 201)
        await self._delivered("after the server has filled the disk")
        code, _ = await self._server.stop()
        checks.equal("SIGTERM ends the server with 0", code, 0)


async def course(binary, directory, disk):
    async with Course(binary, directory, disk, "reserve") as course:
        await course.reserved()
        await course.filled()
    async with Course(binary, directory, disk, "none", "--disk-reserve", "1") as course:
        await course.filled_by_itself()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    binary = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as directory:
        try:
            disk = Disk(os.path.join(directory, "disk"))
        except OSError as error:
            if "MARTLET_UNSHARED" not in os.environ and shutil.which("unshare"):
                # In a user name space of our own we may mount.
                command = ["unshare", "--user", "--map-root-user", "--mount", sys.executable, "-B", *sys.argv]
                sys.exit(subprocess.run(command, env=os.environ | {"MARTLET_UNSHARED": "1"}, check=False).returncode)
            print(f"disk-full: skipped: {error}", flush=True)
            sys.exit(0)
        try:
            checks.finish(course(binary, directory, disk))
        finally:
            disk.unmount()


if __name__ == "__main__":
    main()
