"""A backup that is made in the middle of sends and of a broadcast, restored elsewhere after the server was killed.

What was finished when the backup was asked for is not sent again; what was not is delivered; of the broadcast exactly those
devices get it from the restored server that the backup does not know of. The file is read by Python's own tar reader and
hash function. What is damaged, cut or foreign is refused, and nothing is left of it.

    backups.py MARTLET [--devices N]
"""

import argparse
import asyncio
import collections
import hashlib
import io
import json
import os
import shutil
import sqlite3
import subprocess
import tarfile
import tempfile
import time

import hub_client
import processes
from checks import Checks, eventually

checks = Checks("backups")

HUB = "vault"
USERS = 10
PATIENCE = 120
REGISTRARS = 16


class Vault:
    """The hub on a server, and its requests."""

    def __init__(self, server, rule):
        self._server, self._rule = server, rule

    def connect(self):
        return hub_client.Connection(self._server.port, timeout=60)

    async def request(self, connection, method, path, fields=None, body=b""):
        token = hub_client.signature(hub_client.namespace_resource(self._server.port), *self._rule)
        path = f"/{HUB}/{path}?{hub_client.API_VERSION}"
        return await connection.request(method, path, {"Authorization": token} | (fields or {}), body)

    async def register(self, tokens):
        async def some(tokens):
            connection = self.connect()
            for number, token in tokens:
                entry = hub_client.registration_entry(token, [f"user-{number}"])
                status, _, _ = await self.request(
                    connection, "POST", "registrations", {"Content-Type": "application/atom+xml"}, entry)
                if status != 200:
                    raise processes.Failed(f"a registration was answered {status}")
            connection.close()

        numbered = list(enumerate(tokens))
        await asyncio.gather(*(some(numbered[start::REGISTRARS]) for start in range(REGISTRARS)))

    async def send(self, connection, key, tags=None):
        """The id of the message."""
        fields = {"ServiceBusNotification-Format": "apple", "Content-Type": "application/json"}
        fields |= {"ServiceBusNotification-Tags": tags} if tags else {}
        body = json.dumps({"aps": {"alert": "hello"}, "key": key}).encode()
        status, answered, _ = await self.request(connection, "POST", "messages", fields, body)
        if status != 201:
            raise processes.Failed(f"a send was answered {status}")
        return answered["location"].rpartition("/")[2].partition("?")[0]

    async def completed(self, messages):
        """Waits until all of them are."""
        connection, deadline = self.connect(), time.monotonic() + PATIENCE
        for message in messages:
            while True:
                _, _, body = await self.request(connection, "GET", f"messages/{message}")
                if b"<State>Completed" in body or time.monotonic() > deadline:
                    break
                await asyncio.sleep(0.05)
            checks.that("a message is completed", b"<State>Completed" in body, body)
        connection.close()


def deliveries(peer):
    """By key: by token, the apns-ids of the deliveries."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    if os.path.exists(peer.ledger):
        with open(peer.ledger, encoding="utf-8") as lines:
            for delivery in (json.loads(line) for line in lines if line.endswith("\n")):
                found[json.loads(delivery["payload"])["key"]][delivery["token"].lower()].append(delivery["apns-id"])
    return found


async def course(binary, count):
    with tempfile.TemporaryDirectory() as directory:
        slow = processes.APNsPeer(os.path.join(directory, "slow"), "--streams=10", "--delay=0.3")
        quick = processes.APNsPeer(os.path.join(directory, "quick"))
        try:
            await slow.start()
            await quick.start()
            await Course(binary, directory, count, slow, quick).run()
        finally:
            for peer in (slow, quick):
                if peer.process and peer.process.returncode is None:
                    code, counts = await peer.stop()
                    checks.equal("the APNs peer has nothing to complain of", code, 0)
                    print(f"backups: {counts.strip()}", flush=True)


class Course:
    def __init__(self, binary, directory, count, slow, quick):
        self.binary, self.directory, self.slow, self.quick = binary, directory, slow, quick
        self.tokens = [hashlib.sha256(f"device {number}".encode()).hexdigest() for number in range(count)]
        self.servers = []

    def path(self, name):
        return os.path.join(self.directory, name)

    def martlet(self, *words, data):
        return processes.martlet(self.binary, *words, "--data", self.path(data))

    def server(self, data):
        self.servers.append(processes.Server(self.binary, self.path(data), self.path(f"{data}.log")))
        return self.servers[-1]

    async def run(self):
        try:
            await self.story()
        finally:
            for server in self.servers:
                if server.process and server.process.returncode is None:
                    await server.kill()

    async def story(self):
        rules = processes.create_hub(self.binary, self.path("data"), HUB)
        full = "DefaultFullSharedAccessSignature"
        self.rule = (full, rules[full])
        self.martlet("hub", "credential", "set", HUB, "apns", *self.slow.credential_arguments(), data="data")
        server = self.server("data")
        await server.start()
        finished, owed = await self.before(Vault(server, self.rule), server)
        reached = self.look_into(self.path("backup"))
        await self.refusals()
        await self.restored(finished, owed, reached)
        self.offline()

    async def before(self, vault, server):
        """Sends, makes the backup in the middle of that, and kills the server. What was finished before, by key, and whom
        what was accepted before is owed to."""
        await vault.register(self.tokens)
        connection = vault.connect()
        finished, owed = {}, {}
        for user in range(USERS):
            finished[f"finished {user}"] = await vault.send(connection, f"finished {user}", f"user-{user}")
            owed[f"finished {user}"] = {self.tokens[user]}
        await vault.completed(finished.values())
        await vault.send(connection, "broadcast")
        owed["broadcast"] = set(self.tokens)
        enough = len(self.tokens) // 8
        await eventually(lambda: len(deliveries(self.slow)["broadcast"]) > enough, timeout=PATIENCE)
        for user in range(USERS):
            await vault.send(connection, f"accepted {user}", f"user-{user}")
            owed[f"accepted {user}"] = {self.tokens[user]}
        at_first = len(deliveries(self.slow)["broadcast"])
        checks.that("the broadcast is under way", enough < at_first < len(self.tokens), at_first)

        command = await asyncio.create_subprocess_exec(
            self.binary, "backup", self.path("backup"), "--data", self.path("data"), stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE)
        during, slowest = 0, 0
        ended = asyncio.create_task(command.communicate())
        while not ended.done():
            started = time.monotonic()
            await vault.send(connection, f"during {during}", f"user-{during % USERS}")
            during, slowest = during + 1, max(slowest, time.monotonic() - started)
        printed, complaint = await ended
        checks.equal("the backup is made", (command.returncode, complaint), (0, b""))
        checks.that("it says that keys are not in it", b"keys are not in it" in printed, printed)
        await server.kill()
        connection.close()
        checks.that("sends were accepted meanwhile", during > 0)
        print(f"backups: {during} sends were accepted during the backup, the slowest in {slowest:.3f} s", flush=True)
        return finished, owed

    def look_into(self, path):
        """How many devices of the broadcast the backup knows to be reached."""
        checks.equal("the file is its owner's", os.stat(path).st_mode & 0o777, 0o600)
        checks.equal("no other file is left", [name for name in os.listdir(self.directory) if "backup." in name], [])
        with tarfile.open(path) as archive:
            content = {member.name: archive.extractfile(member).read() for member in archive.getmembers()}
        sums = dict(reversed(line.split("  ")) for line in content.pop("SHA256SUMS").decode().splitlines())
        checks.equal("its digests", sums, {name: hashlib.sha256(data).hexdigest() for name, data in content.items()})
        manifest = json.loads(content["backup.json"])
        checks.that("it says when it was made", "createdAt" in manifest and "schema" in manifest, manifest)
        with open(self.path("data/secret.key"), "rb") as file:
            key = file.read().split()[0]
        with open(path, "rb") as file:
            checks.that("the key is not in it", key not in file.read() and "secret.key" not in content)
        return self.reached(content)

    def reached(self, content):
        database = self.path("looked-into.db")
        with open(database, "wb") as file:
            file.write(content["martlet.db"])
        with sqlite3.connect(database) as connection:
            checks.equal("the database", connection.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            found = [
                delivery for delivery, body in connection.execute(
                    "SELECT d.id, m.body FROM deliveries d JOIN messages m ON m.notification = d.notification"
                    " WHERE d.is_final = 0")
                if json.loads(body)["key"] == "broadcast"]
        checks.equal("the broadcast is unfinished in it", len(found), 1)
        count = sum(byte.bit_count() for byte in content.get(f"progress/{found[0]}", b""))
        checks.that("its progress is in it", 0 < count < len(self.tokens), count)
        return count

    async def refusals(self):
        with open(self.path("backup"), "rb") as file:
            whole = file.read()
        middle = len(whole) // 2
        changed = bytearray(whole)
        changed[middle] ^= 1
        other = io.BytesIO()
        with tarfile.open(fileobj=other, mode="w") as archive:
            archive.add(self.path("data.log"), "notes.txt")
        outside = io.BytesIO()
        with tarfile.open(fileobj=outside, mode="w") as archive:
            archive.add(self.path("data.log"), "../outside")
        bad = {
            "cut in the middle": whole[:middle], "without its last block": whole[:-512], "changed": bytes(changed),
            "longer": whole + b"\0", "empty": b"", "an archive of something else": other.getvalue(),
            "of a name outside": outside.getvalue(),
        }
        for name, content in bad.items():
            with open(self.path("bad"), "wb") as file:
                file.write(content)
            self.refused(name, "restore", self.path("bad"), "--data", self.path("nowhere"))
            checks.that(f"nothing is left of one that is {name}", not os.path.exists(self.path("nowhere")))
        os.mkdir(self.path("taken"))
        with open(self.path("taken/note"), "w", encoding="ascii") as file:
            file.write("mine")
        self.refused("into a directory with something in it", "restore", self.path("backup"), "--data", self.path("taken"))
        checks.equal("which stays as it is", os.listdir(self.path("taken")), ["note"])
        self.refused("over a file that is there", "backup", self.path("backup"), "--data", self.path("data"))
        with open(self.path("backup"), "rb") as file:
            checks.that("which stays as it is", file.read() == whole)

    def refused(self, name, *words):
        try:
            processes.martlet(self.binary, *words)
            checks.that(f"a backup {name} is refused", False)
        except processes.Failed as error:
            checks.that(f"a backup {name} is refused with a sentence", "martlet: " in str(error), error)

    async def restored(self, finished, owed, reached):
        first = deliveries(self.slow)
        self.martlet("restore", self.path("backup"), data="restored")
        shutil.copy(self.path("data/secret.key"), self.path("restored/secret.key"))
        self.martlet("hub", "credential", "set", HUB, "apns", *self.quick.credential_arguments(), data="restored")
        server = self.server("restored")
        await server.start()
        vault = Vault(server, self.rule)
        second = deliveries(self.quick)

        def missing():
            nonlocal second
            second = deliveries(self.quick)
            return [(key, token) for key, tokens in owed.items() for token in tokens - set(first[key]) - set(second[key])]

        await eventually(lambda: not missing(), timeout=PATIENCE)
        await vault.completed(list(finished.values()) + [self.id_of("broadcast")])
        left = missing()
        checks.equal("what was accepted before reaches everybody", left[:5], [])
        checks.equal("what was finished is not sent again", [key for key in finished if second[key]], [])
        checks.equal("the broadcast goes to whom the backup does not know to be reached", len(second["broadcast"]),
                     len(self.tokens) - reached)
        twice = collections.Counter()
        for key, tokens in second.items():
            for token, identifiers in tokens.items():
                checks.that("each gets it once from the restored server", len(identifiers) == 1, identifiers)
                if token in first[key]:
                    twice["all"] += 1
                    twice["with another id"] += not set(first[key][token]) >= set(identifiers)
        checks.equal("what goes twice has the same message id", twice["with another id"], 0)
        await server.stop()
        print(f"backups: devices={len(self.tokens)} reached-before={len(first['broadcast'])} known-to-the-backup={reached}"
              f" sent-again={twice['all']} lost={len(left)}", flush=True)

    def id_of(self, key):
        """The id of a message, from the database."""
        with sqlite3.connect(f"file:{self.path('looked-into.db')}?mode=ro", uri=True) as connection:
            for identifier, body in connection.execute(
                    "SELECT n.id, m.body FROM notifications n JOIN messages m ON m.notification = n.sequence"):
                if json.loads(body)["key"] == key:
                    return bytes(identifier).hex()
        raise processes.Failed(f"there is no {key}")

    def offline(self):
        """Without a server, and with its keys."""
        keys = self.martlet("hub", "key", "list", HUB, data="restored")
        self.martlet("backup", self.path("whole"), "--with-key", data="restored")
        self.checked()
        self.martlet("restore", self.path("whole"), data="again")
        checks.equal("the keys of the hub", self.martlet("hub", "key", "list", HUB, data="again"), keys)

    def checked(self):
        """`restore --check` says whether a backup is good, and leaves nothing."""
        wrong, folder = self.path("wrong.key"), self.path("temporary")
        os.mkdir(folder)
        with open(wrong, "w", encoding="ascii") as file:
            file.write("ab" * 32 + "\n")
        for name, words, code, said in [
            ("with its keys", [], 0, "ok: It has 1 hub"),
            ("with the keys of another server", ["--key-file", wrong], 1, "problem: "),
        ]:
            answer = subprocess.run(
                [self.binary, "restore", self.path("whole"), "--check", *words], capture_output=True, text=True,
                env=os.environ | {"TMPDIR": folder}, check=False)
            checks.equal(f"a backup that is checked {name}", answer.returncode, code)
            checks.that(f"{name}, what was found is said", said in answer.stdout, answer.stdout)
            checks.equal(f"{name}, nothing is left", os.listdir(folder), [])
            if not code:
                checks.that("registrations are counted", f"'{HUB}' has {len(self.tokens):,} registrations" in answer.stdout,
                            answer.stdout)
        self.interrupted(folder)

    def interrupted(self, folder):
        """A check that is stopped in the middle leaves nothing either."""
        pipe = self.path("half")
        os.mkfifo(pipe)
        command = subprocess.Popen(
            [self.binary, "restore", pipe, "--check"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=os.environ | {"TMPDIR": folder})
        with open(self.path("whole"), "rb") as source, open(pipe, "wb") as file:
            file.write(source.read(100_000))
            file.flush()
            while not os.listdir(folder):
                time.sleep(0.01)
            command.terminate()
            checks.equal("an interrupted check ends with the signal's code", command.wait(PATIENCE), 128 + 15)
        checks.equal("nothing is left of an interrupted check", os.listdir(folder), [])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("martlet")
    parser.add_argument("--devices", type=int, default=2000)
    arguments = parser.parse_args()
    checks.finish(course(arguments.martlet, arguments.devices))
