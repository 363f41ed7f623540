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
import time
import uuid
import xml.etree.ElementTree as ElementTree

import h2.connection
import h2.events
import jwt
from hpack import NeverIndexedHeaderTuple

import hub_client

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
        self.database.execute("CREATE TABLE IF NOT EXISTS devices (id TEXT PRIMARY KEY, token TEXT, tags TEXT)")
        self.database.execute("CREATE TABLE IF NOT EXISTS messages (id TEXT PRIMARY KEY, users TEXT, body TEXT, due REAL)")
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
    """One HTTP/2 connection to APNs: a push is tried until it is answered with 200."""

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
        if self._limit is None:
            async with self._first:  # one stream until the first success
                if self._limit is None:
                    await self._push(identifier, token, body)
                    self._limit = asyncio.Semaphore(500)
                    return
        async with self._limit:
            await self._push(identifier, token, body)

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
        if await answer != b"200":
            sys.exit("toy: a push was refused")


class Toy:
    def __init__(self, directory):
        self._store = Store(directory)
        with open(os.path.join(directory, "credential.json")) as file:
            self._credential = json.load(file)
        self._chance = random.Random()
        self._sending = set()

    async def run(self):
        context = ssl.create_default_context(cafile=self._credential["--ca-file"])
        context.set_alpn_protocols(["h2"])
        host, port = self._credential["--endpoint"].removeprefix("https://").split(":")
        loop = asyncio.get_running_loop()
        _, self._sender = await loop.create_connection(lambda: Sender(self._credential), host, int(port), ssl=context)
        for row in self._store.database.execute("SELECT id, users, body, due FROM messages").fetchall():
            self._deliver(*row)
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=256)
        stopped = asyncio.Event()
        loop.add_signal_handler(signal.SIGTERM, stopped.set)
        print(f"toy: ready http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
        await stopped.wait()
        os._exit(0)

    def _deliver(self, *message):
        task = asyncio.create_task(self._fan_out(*message))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _fan_out(self, identifier, users, body, due):
        await asyncio.sleep(0.3 if FAULT == "lost-messages" else 0 if FAULT == "schedules-early" else due - time.time())
        wanted = set(users.split(" || "))
        everybody = not users or (FAULT == "strays" and self._chance.random() < 0.1)
        for token, tags in self._store.database.execute("SELECT token, tags FROM devices").fetchall():
            if everybody or wanted & set(tags.split(",")):
                for _ in range(2 if FAULT == "twice" and self._chance.random() < 0.1 else 1):
                    await self._sender.push(str(uuid.uuid5(uuid.UUID(identifier), token)), token, body)
                if FAULT == "new-ids":
                    await self._sender.push(str(uuid.uuid4()), token, body)
        await self._store.write("DELETE FROM messages WHERE id = ?", identifier)

    async def _serve(self, reader, writer):
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                method, target, _ = head[0].split(" ")
                fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
                body = await reader.readexactly(int(fields.get("content-length", 0)))
                status, content = await self._answer(method, target.split("?")[0], fields, body.decode())
                writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content)
        except (EOFError, OSError):
            writer.close()

    async def _answer(self, method, path, fields, body):
        if path.endswith(("/messages", "/schedulednotifications")):
            return await self._message(fields, body)
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

    async def _register(self, identifier, rows, body):
        texts = {element.tag.rpartition("}")[2]: element.text for element in ElementTree.fromstring(body).iter()}
        tags = texts["Tags"]
        if rows and FAULT == "torn-content" and self._chance.random() < 0.5:
            tags = rows[0][1]
        early = FAULT == "early-answers"
        statement = "INSERT OR REPLACE INTO devices VALUES (?, ?, ?)"
        await self._store.write(statement, identifier, texts["DeviceToken"], tags, early=early)
        return [(texts["DeviceToken"], tags)]

    async def _message(self, fields, body):
        users, due = fields.get("servicebusnotification-tags", ""), 0
        if moment := fields.get("servicebusnotification-scheduletime"):
            due = datetime.datetime.fromisoformat(moment).timestamp()
        message = (str(uuid.uuid4()), users, body, due)
        if FAULT != "lost-messages":
            await self._store.write("INSERT INTO messages VALUES (?, ?, ?, ?)", *message)
        self._deliver(*message)
        return 201, b""


def main():
    if sys.argv[1] == "serve":
        asyncio.run(Toy(option("--data")).run())
    elif sys.argv[1:3] == ["hub", "create"]:
        print("Endpoint=sb://toy/;SharedAccessKeyName=DefaultFullSharedAccessSignature;SharedAccessKey=a2V5")
    else:
        given = re.findall(r"(--\S+) (\S+)", " ".join(sys.argv))
        with open(os.path.join(option("--data"), "credential.json"), "w") as file:
            json.dump(dict(given), file)


if __name__ == "__main__":
    main()
