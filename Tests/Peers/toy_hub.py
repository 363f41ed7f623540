"""A toy with `martlet`'s command line, so that the kill storm can be judged before it judges: right by default, wrong
in one way when TOY_FAULT names it.

    sync-off          SQLite is told not to sync                       (seen only by --forgetful)
    early-answers     registrations are answered before the commit
    lost-messages     messages are kept in memory only, for a while
    lost-deletions    a deletion is answered, often not done
    torn-content      an update often keeps the old tags
    strays            now and then a message goes to everybody
    new-ids           all is sent twice, each time with another apns-id
    twice             now and then a push is sent twice
    schedules-early   what is scheduled goes out at once
    sends-again       each start sends everything again
    forgets-retries   what another service was not able to take is forgotten
    pauses-by-clock   another service is left alone until a time of day after each push
    rushes            a canary does not wait
    loses-the-rest    the rest of a canary is forgotten when it is resumed
    resends-samples   the rest of a canary is everybody
    spins             it is never idle
    leaks             every send costs a megabyte
    sluggish          every push waits
    drops-healthy     a device of a service that was not able to take something is deleted
    never-ends        no message comes to its end
    miscounts         one device too many is counted

`simulate` is a toy of the simulator: two services that take a push as JSON, or do not when faults are set.
"""

import asyncio
import datetime
import json
import os
import random
import re
import signal
import socket
import sqlite3
import ssl
import sys
import threading
import time
import urllib.parse
import uuid
import xml.etree.ElementTree as ElementTree

import h2.connection
import h2.events
import jwt
from hpack import NeverIndexedHeaderTuple

import hub_client
from silence import silence_of

FAULT = os.environ.get("TOY_FAULT")
COMMIT_INTERVAL = 0.002


def option(name, default=None):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


class Store:
    """SQLite with group commit: what waits is one transaction."""

    def __init__(self, directory):
        self.database = sqlite3.connect(os.path.join(directory, "toy.db"), isolation_level=None)
        self.database.execute("PRAGMA journal_mode=WAL")
        self.database.execute("PRAGMA synchronous=" + ("OFF" if FAULT == "sync-off" else "FULL"))
        self.database.execute(
            "CREATE TABLE IF NOT EXISTS devices (id TEXT PRIMARY KEY, token TEXT, tags TEXT, service TEXT)")
        self.database.execute(
            "CREATE TABLE IF NOT EXISTS messages (id TEXT PRIMARY KEY, users TEXT, body TEXT, due REAL, service TEXT,"
            " sample TEXT, stage INTEGER)")
        self._waiting = None

    async def write(self, statement, *values, early=False):
        if not self._waiting:
            self.database.execute("BEGIN")
            self._waiting = asyncio.get_running_loop().create_future()
            asyncio.get_running_loop().call_later(0.2 if early else COMMIT_INTERVAL, self._commit)
        self.database.execute(statement, values)
        if not early:
            await self._waiting

    def _commit(self):
        self.database.execute("COMMIT")
        waiting, self._waiting = self._waiting, None
        waiting.set_result(None)


class Sender(asyncio.Protocol):
    """One HTTP/2 connection to APNs."""

    def __init__(self, credential):
        with open(credential["--key-file"]) as file:
            headers = {"kid": credential["--key-id"]}
            claims = {"iss": credential["--team-id"], "iat": int(time.time())}
            self._token = jwt.encode(claims, file.read(), "ES256", headers=headers)
        self._topic = credential["--topic"]
        self._h2 = h2.connection.H2Connection()
        self._answers = {}
        self._first = asyncio.Lock()
        self._limit = None

    def connection_made(self, transport):
        self._transport = transport
        self._h2.initiate_connection()
        transport.write(self._h2.data_to_send())

    def data_received(self, data):
        for event in self._h2.receive_data(data):
            if isinstance(event, h2.events.ResponseReceived):
                self._answers.pop(event.stream_id).set_result(dict(event.headers)[b":status"])
        self._transport.write(self._h2.data_to_send())

    async def push(self, identifier, token, body):
        """Whether the push was taken; otherwise the connection is of no use any more."""
        if self._limit is None:
            async with self._first:  # one stream until the first success
                if self._limit is None:
                    if not await self._push(identifier, token, body):
                        return False
                    self._limit = asyncio.Semaphore(500)
                    return True
        async with self._limit:
            return await self._push(identifier, token, body)

    async def _push(self, identifier, token, body):
        stream = self._h2.get_next_available_stream_id()
        self._answers[stream] = asyncio.get_running_loop().create_future()
        answer = self._answers[stream]
        self._h2.send_headers(stream, [
            (":method", "POST"), (":scheme", "https"), (":authority", "toy"),
            NeverIndexedHeaderTuple(":path", f"/3/device/{token}"), ("authorization", f"bearer {self._token}"),
            ("apns-topic", self._topic), ("apns-push-type", "alert"),
            ("apns-id", identifier),
        ])
        self._h2.send_data(stream, body.encode(), end_stream=True)
        self._transport.write(self._h2.data_to_send())
        return await answer == b"200"


class Elsewhere:
    """The way to the toy simulator: a push is tried until it is taken."""

    def __init__(self, origin):
        self._port = urllib.parse.urlsplit(origin).port
        self.dropped = set()
        self._paused = 0

    async def push(self, service, identifier, token, body):
        if FAULT == "sluggish":
            await asyncio.sleep(2)
        while True:
            while time.time() < self._paused:
                await asyncio.sleep(0.02)
            request = json.dumps({"service": service, "handle": token, "id": identifier, "payload": body}).encode()
            status = await ask(self._port, "POST", "/push", request)
            if FAULT == "pauses-by-clock":
                self._paused = time.time() + 0.05
            if status in (200, 410) or FAULT == "forgets-retries":
                return status
            if FAULT == "drops-healthy":
                self.dropped.add(token)
            await asyncio.sleep(0.1)


async def ask(port, method, path, body):
    """The status of one request."""
    connection = hub_client.Connection(port)
    try:
        status, _, _ = await connection.request(method, path, {}, body)
        return status
    except hub_client.Disconnected:
        return 0
    finally:
        connection.close()


class Toy:
    def __init__(self, directory):
        self._store, self._directory = Store(directory), directory
        self._credential = self._elsewhere = None
        self._read_credentials()
        self._leaked, self._counts = [], {}
        self._chance = random.Random()
        self._sending = set()

    def _read_credentials(self):
        for name in os.listdir(self._directory):
            if name.startswith("credential-"):
                with open(os.path.join(self._directory, name)) as file:
                    credential = json.load(file)
                if "--simulator" in credential:
                    self._elsewhere = Elsewhere(credential["--simulator"])
                else:
                    self._credential = credential

    async def run(self):
        loop = asyncio.get_running_loop()
        if FAULT == "spins":
            threading.Thread(target=spin, daemon=True).start()
        if self._credential:
            self._connecting = asyncio.Lock()
            await self._connect()
        for row in self._store.database.execute("SELECT * FROM messages").fetchall():
            self._deliver(*row)
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=256)
        stopped = asyncio.Event()
        loop.add_signal_handler(signal.SIGTERM, stopped.set)
        print(f"toy: ready http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
        await stopped.wait()
        os._exit(0)

    async def _connect(self):
        context = ssl.create_default_context(cafile=self._credential["--ca-file"])
        context.set_alpn_protocols(["h2"])
        host, port = self._credential["--endpoint"].removeprefix("https://").split(":")
        _, self._sender = await asyncio.get_running_loop().create_connection(
            lambda: Sender(self._credential), host, int(port), ssl=context)

    async def _push(self, identifier, token, body):
        """With a new connection and a new token where the old one is refused."""
        while not await (sender := self._sender).push(identifier, token, body):
            async with self._connecting:
                if self._sender is sender:
                    await self._connect()

    def _deliver(self, *message):
        task = asyncio.create_task(self._fan_out(*message))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _fan_out(self, identifier, users, body, due, service, sample, stage):
        await asyncio.sleep(0.3 if FAULT == "lost-messages" else 0)
        while FAULT != "schedules-early" and due > time.time():
            await asyncio.sleep(min(due - time.time(), 0.2))
        wanted = set(users.split(" || "))
        everybody = not users or (FAULT == "strays" and self._chance.random() < 0.1)
        devices = self._store.database.execute("SELECT token, tags FROM devices WHERE service = ?", (service,)).fetchall()
        if service != "apns":
            times = 2 if FAULT == "twice" and self._chance.random() < 0.1 else 1
            tokens = [token for token, tags in devices * times if wanted & set(tags.split(","))]
            answers = await asyncio.gather(*[
                self._elsewhere.push(service, str(uuid.uuid5(uuid.UUID(identifier), token)), token, body)
                for token in tokens])
            self._counts[identifier] = len(tokens) - answers.count(410) + (FAULT == "miscounts"), answers.count(410)
            for token in self._elsewhere.dropped.union(t for t, status in zip(tokens, answers) if status == 410):
                await self._store.write("DELETE FROM devices WHERE token = ?", token)
            devices = []
        if stage is not None:
            devices = await self._canary(identifier, users, body, devices, sample, stage)
        for token, tags in devices:
            if everybody or wanted & set(tags.split(",")):
                for _ in range(2 if FAULT == "twice" and self._chance.random() < 0.1 else 1):
                    await self._push(str(uuid.uuid5(uuid.UUID(identifier), token)), token, body)
                if FAULT == "new-ids":
                    await self._push(str(uuid.uuid4()), token, body)
        if FAULT not in ("sends-again", "never-ends"):
            await self._store.write("DELETE FROM messages WHERE id = ?", identifier)

    async def _canary(self, identifier, users, body, devices, sample, stage):
        """Sends to one device and waits until it is resumed; the devices that are left."""
        wanted = set(users.split(" || "))
        mine = [(token, tags) for token, tags in devices if wanted & set(tags.split(","))]
        if stage == 0 and mine:
            # By a hash; a kill changes nothing of it, since the token is stored first.
            if not sample:
                sample = min(token for token, _ in mine)
                await self._store.write("UPDATE messages SET sample = ? WHERE id = ?", sample, identifier)
            await self._push(str(uuid.uuid5(uuid.UUID(identifier), sample)), sample, body)
        if stage == 0:
            await self._store.write("UPDATE messages SET stage = 1 WHERE id = ?", identifier)
        while FAULT != "rushes" and self._stage(identifier) < 2:
            await asyncio.sleep(0.02)
        rows = self._store.database.execute("SELECT token, tags FROM devices WHERE service = 'apns'").fetchall()
        if FAULT == "loses-the-rest":
            return []
        return rows if FAULT == "resends-samples" else [(token, tags) for token, tags in rows if token != sample]

    def _stage(self, identifier):
        rows = self._store.database.execute("SELECT stage FROM messages WHERE id = ?", (identifier,)).fetchall()
        return 2 if not rows or rows[0][0] is None else rows[0][0]

    async def _control(self, identifier, word):
        if word == "resume" and self._stage(identifier) == 1:
            await self._store.write("UPDATE messages SET stage = 2 WHERE id = ?", identifier)
        stage = self._stage(identifier)
        waiting = {"partsWaiting": 1} if stage < 2 else {}
        return 200, json.dumps({"control": "holding" if stage == 1 else "running"} | waiting).encode()

    async def _serve(self, reader, writer):
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                method, target, _ = head[0].split(" ")
                fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
                body = await reader.readexactly(int(fields.get("content-length", 0)))
                status, content = await self._answer(method, target.split("?")[0], fields, body.decode())
                place = f"Location: http://toy/messages/{content.decode()}\r\n" if status == 201 else ""
                head = f"HTTP/1.1 {status} X\r\n{place}Content-Length: {len(content)}\r\n\r\n"
                writer.write(head.encode() + content)
        except (EOFError, OSError):
            writer.close()

    async def _answer(self, method, path, fields, body):
        if path.endswith(("/messages", "/schedulednotifications")):
            return await self._message(path.split("/")[1], fields, body)
        if "/installations/" in path:
            return await self._install(method, path.replace("/", "."), body)
        if path.endswith(("/status", "/resume")):
            return await self._control(*path.split("/")[3:5])
        if "/messages/" in path:
            return self._report(path.rpartition("/")[2])
        identifier = path.rpartition("/")[2] if method != "POST" else f"{random.getrandbits(63)}-1-1"
        rows = self._store.database.execute("SELECT token, tags FROM devices WHERE id = ?", (identifier,)).fetchall()
        if method == "DELETE" and not (FAULT == "lost-deletions" and self._chance.random() < 0.5):
            await self._store.write("DELETE FROM devices WHERE id = ?", identifier)
        if method in ("PUT", "POST"):
            rows = await self._register(identifier, rows, body)
        if method == "DELETE":
            return 200, b""
        if not rows:
            return 404, b""
        entry = hub_client.registration_entry(rows[0][0], rows[0][1].split(",")).decode()
        return 200, entry.replace("<Tags>", f"<RegistrationId>{identifier}</RegistrationId><Tags>").encode()

    async def _install(self, method, identifier, body):
        if method == "DELETE":
            await self._store.write("DELETE FROM devices WHERE id = ?", identifier)
            return 204, b""
        if method == "GET":
            found = self._store.database.execute("SELECT 1 FROM devices WHERE id = ?", (identifier,)).fetchall()
            return (200, b"{}") if found else (404, b"")
        told = json.loads(body)
        statement = "INSERT OR REPLACE INTO devices VALUES (?, ?, ?, ?)"
        tags = [f"{identifier.split('.')[1]}:{tag}" for tag in told["tags"]]
        await self._store.write(statement, identifier, told["pushChannel"], ",".join(tags), told["platform"])
        return 200, b""

    def _report(self, identifier):
        left = self._store.database.execute("SELECT 1 FROM messages WHERE id = ?", (identifier,)).fetchall()
        counts = zip(("Success", "ExpiredChannel"), self._counts.get(identifier, ()))
        outcomes = "".join(
            f"<Outcome><Name>{name}</Name><Count>{count}</Count></Outcome>" for name, count in counts if count)
        state = "Processing" if left else "Completed"
        return 200, f'<Details xmlns="{hub_client.SERVICE}"><State>{state}</State>{outcomes}</Details>'.encode()

    async def _register(self, identifier, rows, body):
        texts = {element.tag.rpartition("}")[2]: element.text for element in ElementTree.fromstring(body).iter()}
        tags = texts["Tags"]
        if rows and FAULT == "torn-content" and self._chance.random() < 0.5:
            tags = rows[0][1]
        early = FAULT == "early-answers"
        statement = "INSERT OR REPLACE INTO devices VALUES (?, ?, ?, 'apns')"
        await self._store.write(statement, identifier, texts["DeviceToken"], tags, early=early)
        return [(texts["DeviceToken"], tags)]

    async def _message(self, hub, fields, body):
        users, due = fields.get("servicebusnotification-tags", ""), 0
        if moment := fields.get("servicebusnotification-scheduletime"):
            due = datetime.datetime.fromisoformat(moment).timestamp()
        service = {"apple": "apns", "windowsphone": "mpns"}.get(form := fields["servicebusnotification-format"], form)
        if service not in ("apns", "message"):
            if not self._elsewhere:
                self._read_credentials()
            users = " || ".join(f"{hub}:{tag}" for tag in users.split(" || "))
        if form == "message":
            told = json.loads(body)
            service, body = "apns", json.dumps({"aps": {"alert": {"body": told["text"]}}} | told["data"])
        stage = 0 if "martlet-rollout" in fields else None
        message = (str(uuid.uuid4()), users, body, due, service, None, stage)
        if FAULT == "leaks":
            self._leaked.append(os.urandom(1 << 20))
        if FAULT != "lost-messages":
            await self._store.write("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?)", *message)
        self._deliver(*message)
        return 201, message[0].encode()


def spin():
    while True:
        pass


class ToySimulator:
    """Takes pushes and notes them, but for every third while faults are set."""

    def __init__(self, ledger):
        self._ledger, self._happened = open(ledger, "a", buffering=1), 0
        self._faults, self._count = {}, 0  # by service

    async def run(self):
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=1024)
        stopped = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
        print(f"toy: ready simulator=http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
        await stopped.wait()
        os._exit(0)

    async def _serve(self, reader, writer):
        opened = time.monotonic() - silence_of(writer.get_extra_info("socket"))
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                method, path, _ = head[0].split(" ")
                length = next((line[15:] for line in head if line.lower().startswith("content-length:")), 0)
                body = await reader.readexactly(int(length))
                status, answer = self._answer(method, path, json.loads(body or b"null"), opened)
                content = json.dumps(answer).encode()
                writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content)
        except (EOFError, OSError):
            writer.close()

    def _answer(self, method, path, body, opened):
        if path == "/push":
            self._count += 1
            if (fault := self._faults.get(body["service"])) and self._count % 3 == 0:
                fault["happened"] += 1
                return 410 if fault["fault"] == "unregistered" else 503, None
            line = body | {"steady": time.monotonic(), "opened": opened, "time": time.time()}
            self._ledger.write(json.dumps(line) + "\n")
        if path == "/simulator/faults":
            if method == "GET":
                return 200, {"faults": list(self._faults.values())}
            rules = body["faults"] if method == "PUT" else []
            self._faults = {rule["service"]: rule | {"happened": 0} for rule in rules}
            self._happened += 1 if rules else 0
        return 200, {
            "/simulator/services": {"adm": {"faults": ["unavailable"]}, "mpns": {"faults": ["unregistered"]}},
            "/simulator/devices": {"handle": uuid.uuid4().hex},
            "/simulator/counters": {"adm": {"faults.unavailable": self._happened}, "mpns": {}},
        }.get(path)


def main():
    if sys.argv[1] == "serve":
        asyncio.run(Toy(option("--data")).run())
    elif sys.argv[1] == "simulate":
        asyncio.run(ToySimulator(option("--ledger")).run())
    elif sys.argv[1] == "why":
        print('{"registrations": []}')
    elif sys.argv[1] == "metrics":
        with sqlite3.connect(os.path.join(option("--data"), "toy.db")) as database:
            print("martlet_deliveries_unfinished", *database.execute("SELECT count(*) FROM messages").fetchone())
    elif sys.argv[1:3] == ["hub", "create"]:
        print("Endpoint=sb://toy/;SharedAccessKeyName=DefaultFullSharedAccessSignature;SharedAccessKey=a2V5")
    else:
        given = re.findall(r"(--\S+) (\S+)", " ".join(sys.argv))
        with open(os.path.join(option("--data"), f"credential-{sys.argv[5]}.json"), "w") as file:
            json.dump(dict(given), file)


if __name__ == "__main__":
    main()
