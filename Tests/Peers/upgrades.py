"""Databases of earlier schemas, opened by the present program.

Each file of Tests/Upgrades is a backup with its key, made by the program of its time. It is restored, upgraded, compared table
by table with what was in it, and sent from. The copy before the upgrade is restored and compared too. Upgrades that are killed
at any moment leave a database of the old or of the new schema, and the next start finishes them.

    upgrades.py MARTLET
    upgrades.py MARTLET --make FILE     a new file for Tests/Upgrades, by the program of today
"""

import argparse
import asyncio
import contextlib
import glob
import json
import lzma
import os
import random
import sqlite3
import subprocess
import tarfile
import tempfile

import backups
import hub_client
import processes
from checks import Checks, eventually

checks = Checks("upgrades")

FOLDER = os.path.join(os.path.dirname(processes.HERE), "Upgrades")
HUB = "vault"
DEVICES = 20
KILLS = 12
TOKENS = [f"{number:064x}" for number in range(1, DEVICES + 1)]
# What a start writes by itself.
OWN = {"migrations", "versions", "sqlite_sequence"}
# A step made no expression an empty one.
REWRITTEN = {("collapses", "expression"): lambda value: value or ""}


def content(path):
    """By table: its columns, and its rows in an order of their own."""
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.text_factory = lambda data: data.decode(errors="surrogateescape")
        tables = [name for name, in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        found = {}
        for table in tables:
            rows = database.execute(f"SELECT * FROM {table}")
            columns = [column[0] for column in rows.description]
            found[table] = columns, rows.fetchall()
        return found


def lost(old, new):
    """The tables of which something is missing or changed in the columns that both have."""
    different = []
    for table, (columns, rows) in old.items():
        if table in OWN:
            continue
        kept = [column for column in columns if table in new and column in new[table][0]]

        def narrowed(columns, rows):
            chosen = [columns.index(column) for column in kept]
            rules = [REWRITTEN.get((table, column), lambda value: value) for column in kept]
            return sorted(repr([rule(row[index]) for rule, index in zip(rules, chosen)]) for row in rows)

        if table not in new or narrowed(columns, rows) != narrowed(*new[table]):
            different.append(table)
    return different


def backup_schema(path):
    with tarfile.open(path) as archive:
        return json.load(archive.extractfile("backup.json"))["schema"]


def schema(data):
    with contextlib.closing(sqlite3.connect(os.path.join(data, "martlet.db"))) as database:
        sound = database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return sound, [name for name, in database.execute("SELECT name FROM migrations ORDER BY position")]


class Upgrades:
    def __init__(self, binary, directory):
        self.binary, self.directory = binary, directory
        self.peer = processes.APNsPeer(os.path.join(directory, "peer"))
        self.server = None

    def path(self, name):
        return os.path.join(self.directory, name)

    def martlet(self, *words, stdin=None):
        return processes.martlet(self.binary, *words, stdin=stdin)

    async def start(self, data, *options):
        self.server = processes.Server(self.binary, data, data + ".log", *options)
        await self.server.start()

    async def run(self):
        await self.peer.start()
        try:
            for path in sorted(glob.glob(os.path.join(FOLDER, "*.backup.xz"))):
                name = os.path.basename(path).removesuffix(".backup.xz")
                with open(self.path(f"{name}.backup"), "wb") as file:
                    file.write(lzma.open(path).read())
                is_older = await self.upgrade(name)
                await self.kills(name)
                if is_older:
                    self.no_room(name)
        finally:
            await self.peer.stop()

    def restore(self, backup, name):
        data = self.path(name)
        self.martlet("restore", backup, "--data", data)
        return data

    async def upgrade(self, name):
        """The whole way, and the way back. Whether there was a step to run."""
        backup = self.path(f"{name}.backup")
        data = self.restore(backup, name)
        before, steps = content(os.path.join(data, "martlet.db")), schema(data)[1]
        self.martlet("hub", "list", "--data", data)
        after, present = content(os.path.join(data, "martlet.db")), schema(data)[1]
        checks.equal(f"{name}: nothing is lost", lost(before, after), [])
        checks.that(f"{name}: the tables are not empty", len(before["registrations"][1]) >= DEVICES)
        checks.equal(f"{name}: the steps are kept", present[:len(steps)], steps)
        copies = glob.glob(os.path.join(data, "backups", "before-*.backup"))
        if present == steps:
            checks.equal(f"{name}: nothing is copied where there is no step", copies, [])
        else:
            checks.equal(f"{name}: it is copied first", len(copies), 1)
            checks.equal(f"{name}: the copy is its owner's", os.stat(copies[0]).st_mode & 0o777, 0o600)
            back = self.restore(copies[0], f"{name}-back")
            checks.equal(f"{name}: the copy has all", lost(before, content(os.path.join(back, "martlet.db"))), [])
            checks.equal(f"{name}: the copy has the old schema", schema(back), (True, steps))
        keys = self.martlet("hub", "connection-string", HUB, "--data", data)
        await self.send(name, data, hub_client.parse_connection_string(keys))
        return present != steps

    async def send(self, name, data, rule):
        self.martlet("hub", "credential", "set", HUB, "apns", *self.peer.credential_arguments(), "--data", data)
        await self.start(data)
        try:
            vault = backups.Vault(self.server, rule)
            connection = vault.connect()
            key = f"after {name}"
            await vault.send(connection, key)
            await eventually(lambda: len(backups.deliveries(self.peer)[key]) >= DEVICES)
            checks.equal(f"{name}: everybody is reached", sorted(backups.deliveries(self.peer)[key]), TOKENS)
            connection.close()
        finally:
            await self.server.stop()

    async def kills(self, name):
        """Kills a start at moments of its first tenths of a second."""
        backup = self.path(f"{name}.backup")
        chance, seen, first = random.Random(7), set(), backup_schema(backup)
        for number in range(KILLS):
            data = self.restore(backup, f"{name}-killed-{number}")
            with open(data + ".log", "wb") as log:
                process = subprocess.Popen(
                    [self.binary, "serve", "--data", data, "--listen", "127.0.0.1:0"], stdout=subprocess.DEVNULL, stderr=log)
                await asyncio.sleep(chance.uniform(0.02, 0.2))
                process.kill()
                process.wait()
            sound, steps = schema(data)
            seen.add(len(steps))
            checks.that(f"{name}: the database is sound after a kill", sound)
            for copy in glob.glob(os.path.join(data, "backups", "before-*.backup")):
                self.martlet("restore", copy, "--check")
            self.martlet("hub", "list", "--data", data)
            present = schema(data)[1]
            checks.that(f"{name}: the next start finishes the upgrade", present[:len(steps)] == steps)
            for copy in glob.glob(os.path.join(data, "backups", "before-*.backup")):
                checks.equal(f"{name}: the copy is of the schema before all steps", backup_schema(copy), first)
            left = [path for path in glob.glob(os.path.join(data, "backups", "*")) if path.endswith(".part")]
            checks.equal(f"{name}: no part of a copy is left", left, [])
        print(f"upgrades: {name}: {KILLS} kills left schemas of {sorted(seen)} steps", flush=True)


    def no_room(self, name):
        """On a small disk the upgrade is refused, and nothing is changed; without a copy it goes on."""
        disk = self.path(f"{name}-small")
        os.mkdir(disk)
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=40m,mode=0700", "tmpfs", disk], capture_output=True, text=True, check=False)
        if mounted.returncode:
            print(f"upgrades: no small disk can be mounted: {mounted.stderr.strip()}", flush=True)
            return
        try:
            data = self.restore(self.path(f"{name}.backup"), os.path.join(disk, "data"))
            before = schema(data)
            done = subprocess.run(
                [self.binary, "hub", "list", "--data", data], capture_output=True, text=True, timeout=60, check=False)
            checks.that(f"{name}: without room the upgrade is refused with a sentence",
                        done.returncode == 1 and "MB for a copy first: make room" in done.stderr, done)
            checks.equal(f"{name}: nothing is changed", schema(data), before)
            checks.equal(f"{name}: no copy is left", glob.glob(os.path.join(data, "backups", "*")), [])
            with open(self.path("small.log"), "wb") as log:
                process = subprocess.Popen(
                    [self.binary, "serve", "--data", data, "--listen", "127.0.0.1:0", "--no-copy-before-upgrade"],
                    stdout=subprocess.PIPE, stderr=log)
                checks.that(f"{name}: without a copy it starts", b": ready " in process.stdout.readline())
                process.terminate()
                process.wait()
                process.stdout.close()
            checks.that(f"{name}: and is upgraded", len(schema(data)[1]) > len(before[1]))
        finally:
            subprocess.run(["umount", "--lazy", disk], check=False)


async def make(binary, target, directory):
    """A backup with something of everything that can be made in a few seconds."""
    judge = Upgrades(binary, directory)
    peer, data = judge.peer, judge.path("data")
    await peer.start()
    rules = processes.create_hub(binary, data, HUB)
    full = "DefaultFullSharedAccessSignature"
    rule = full, rules[full]
    judge.martlet("hub", "credential", "set", HUB, "apns", *peer.credential_arguments(), "--data", data)
    for user in ("alice", "bob"):
        judge.martlet("user", "add", user, "--password-stdin", "--data", data, stdin="a-password-of-tests\n")
    await judge.start(data, "--keep-notifications", "3650")
    vault = backups.Vault(judge.server, rule)
    await vault.register(TOKENS)
    connection = vault.connect()
    installation = {
        "installationId": "phone-1", "platform": "apns", "pushChannel": TOKENS[0], "tags": ["installed"],
        "templates": {"greeting": {"body": '{"aps":{"alert":"$(text)"}}', "tags": ["greeted"]}},
    }
    status, _, answer = await vault.request(
        connection, "PUT", "installations/phone-1", {"Content-Type": "application/json"}, json.dumps(installation).encode())
    if status != 200:
        raise processes.Failed(f"an installation was answered {status}: {answer}")
    await vault.completed([await vault.send(connection, f"made {user}", f"user-{user}") for user in range(5)])
    connection.close()
    judge.martlet("backup", judge.path("made.backup"), "--with-key", "--data", data)
    await judge.server.stop()
    await peer.stop()
    with open(judge.path("made.backup"), "rb") as file, lzma.open(target, "wb", preset=9) as packed:
        packed.write(file.read())
    print(f"upgrades: {target}: {os.path.getsize(target)} bytes, {len(schema(data)[1])} steps")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("martlet")
    parser.add_argument("--make", metavar="FILE")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        if arguments.make:
            asyncio.run(make(os.path.abspath(arguments.martlet), arguments.make, directory))
        else:
            checks.finish(Upgrades(os.path.abspath(arguments.martlet), directory).run())
