"""Strangers and users who begin requests and do not finish them, or do not read the answers: how much memory the server
gives them, and how promptly everybody else is served meanwhile.

    flood.py MARTLET
"""

import asyncio
import base64
import json
import os
import re
import resource
import socket
import time

import h2.config
import h2.connection
import h2.events
import h2.exceptions
import h2.settings

import hub_client
import processes
from checks import Checks
from process_figures import private_memory

checks = Checks("flood")

HUB, USER, PASSWORD = "demo", "alice", "wonderland\n"
MEGABYTE = 1024 * 1024
BATCH = 2 * MEGABYTE
ENCRYPTED = 9_000_000
BOUND = 100 * MEGABYTE
# Two processor cores and a debug build; the point is that nobody waits for the flood to end.
LATENCY = 5
ORDINARY = 100
CONNECTIONS = 10_000
# How long an answer waits, and a connection may take nothing, with some seconds for a machine that is busy.
UNREAD = 5 + 30 + 15
PAGE = 100


class Flooder:
    """One HTTP/2 connection whose streams send all but the last byte of their bodies, as far as windows allow."""

    def __init__(self, port, path, fields, length, streams=100):
        self._port, self._path, self._fields, self._length, self._streams = port, path, fields, length, streams
        self._left = {}
        self.statuses = {}

    async def open(self):
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
        self._h2.initiate_connection()
        authority = f"127.0.0.1:{self._port}"
        for _ in range(self._streams):
            stream = self._h2.get_next_available_stream_id()
            head = [(":method", "POST"), (":scheme", "http"), (":authority", authority), (":path", self._path)]
            self._h2.send_headers(stream, head + [("content-length", str(self._length))] + self._fields)
            self._left[stream] = self._length - 1
        self._writer.write(self._h2.data_to_send())

    async def run(self):
        """Sends until the server closes the connection or the task is cancelled."""
        try:
            while True:
                self._send()
                self._writer.write(self._h2.data_to_send())
                await self._writer.drain()
                data = await self._reader.read(65536)
                if not data:
                    return
                for event in self._h2.receive_data(data):
                    self._take(event)
        except (OSError, h2.exceptions.ProtocolError):
            return

    def _take(self, event):
        if isinstance(event, h2.events.ResponseReceived):
            fields = dict(event.headers)
            self.statuses[event.stream_id] = int(fields.get(b":status", fields.get(":status", 0)))
        if isinstance(event, (h2.events.StreamReset, h2.events.StreamEnded)):
            self._left.pop(event.stream_id, None)

    def _send(self):
        for stream, left in list(self._left.items()):
            try:
                count = min(left, self._h2.local_flow_control_window(stream), 16384)
                if count > 0:
                    self._h2.send_data(stream, b"x" * count)
                    self._left[stream] -= count
            except h2.exceptions.ProtocolError:
                self._left.pop(stream, None)

    def close(self):
        self._writer.transport.abort()


class Unread:
    """One HTTP/2 connection that asks a hundred times and opens no window for the answers."""

    def __init__(self, port, path, fields):
        self._port, self._path, self._fields = port, path, fields
        self.statuses, self.is_closed = [], False

    async def open(self):
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True))
        self._h2.initiate_connection()
        self._h2.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 0})
        head = [(":method", "GET"), (":scheme", "http"), (":authority", f"127.0.0.1:{self._port}"), (":path", self._path)]
        for _ in range(100):
            self._h2.send_headers(self._h2.get_next_available_stream_id(), head + self._fields, end_stream=True)
        self._writer.write(self._h2.data_to_send())

    async def run(self):
        """Reads what needs no window, until the server ends the connection."""
        try:
            while data := await self._reader.read(65536):
                for event in self._h2.receive_data(data):
                    if isinstance(event, h2.events.ResponseReceived):
                        fields = dict(event.headers)
                        self.statuses.append(int(fields.get(b":status", fields.get(":status", 0))))
                self._writer.write(self._h2.data_to_send())
        except (OSError, h2.exceptions.ProtocolError):
            pass
        self.is_closed = True

    def close(self):
        self._writer.transport.abort()


def half_requests(port, count, head, length):
    """HTTP/1.1 connections that send a head and as much of the body as the kernel takes, but for the last byte."""
    connections = []
    for _ in range(count):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.sendall(head.encode())
        connection.setblocking(False)
        connections.append([connection, length - 1])
    return connections


def push(connections):
    for entry in connections:
        try:
            while entry[1] > 0:
                entry[1] -= entry[0].send(b"x" * min(entry[1], 65536))
        except BlockingIOError:
            pass
        except OSError:
            entry[1] = 0


class Course:
    def __init__(self, binary, directory):
        self._binary, self._data = binary, os.path.join(directory, "data")
        self._keys = processes.create_hub(binary, self._data, HUB)
        processes.martlet(binary, "user", "add", USER, "--password-stdin", "--data", self._data, stdin=PASSWORD)
        self.server = processes.Server(binary, self._data, os.path.join(directory, "server.log"))

    async def run(self):
        await self.server.start()
        self._port = self.server.port
        self._token = hub_client.signature(
            hub_client.namespace_resource(self._port), "DefaultFullSharedAccessSignature",
            self._keys["DefaultFullSharedAccessSignature"])
        basic = base64.b64encode(f"{USER}:{PASSWORD.strip()}".encode()).decode()
        await self._ordinary(20)
        batch = f"/nobody/messages/$batch?direct&{hub_client.API_VERSION}"
        known = f"/{HUB}/messages/$batch?direct&{hub_client.API_VERSION}"
        await self._flood("strangers over HTTP/2", [self._flooder(batch, [], BATCH) for _ in range(4)], {401})
        await self._flood("a stranger's log-ins", [self._flooder("/api/sessions", [], 8192) for _ in range(4)], set())
        await self._flood(
            "a key's batches", [self._flooder(known, [("authorization", self._token)], BATCH) for _ in range(2)], {503})
        await self._flood(
            "one user's encrypted messages",
            [self._flooder("/api/notifications/encrypted", [("authorization", f"Basic {basic}")], ENCRYPTED)], {503})
        await self._flood_http1("strangers over HTTP/1.1", batch)
        await self._flood_http1("a key's batches over HTTP/1.1", known, f"Authorization: {self._token}\r\n")
        await self._unread()
        await self._beside_strangers(basic)
        await self._crowd()
        await self._nothing_stays()

    def _flooder(self, path, fields, length):
        return Flooder(self._port, path, fields, length)

    async def _flood(self, name, flooders, expected):
        before = 1024 * private_memory(self.server.process.pid)
        for flooder in flooders:
            await flooder.open()
        tasks = [asyncio.create_task(flooder.run()) for flooder in flooders]
        # Bodies that find no room are refused after five seconds.
        await self._watch(name, before, 8 if expected == {503} else 0)
        for task in tasks:
            task.cancel()
        for flooder in flooders:
            flooder.close()
        seen = {status for flooder in flooders for status in flooder.statuses.values()}
        checks.that(f"{name}: what is refused is refused with {expected}", seen <= expected, seen)
        checks.equal(f"{name}: something is refused, or all fits", bool(seen), bool(expected))

    async def _flood_http1(self, name, path, fields=""):
        before = 1024 * private_memory(self.server.process.pid)
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nContent-Length: {BATCH}\r\n{fields}\r\n"
        connections = half_requests(self._port, 300, head, BATCH)
        push(connections)
        await self._watch(name, before, 8 if fields else 1, lambda: push(connections))
        for connection, _ in connections:
            connection.close()

    async def _unread(self):
        """Pages of long registrations that nobody reads."""
        connection = hub_client.Connection(self._port, timeout=30)
        fields = {"Authorization": self._token, "Content-Type": "application/atom+xml;type=entry;charset=utf-8"}
        for number in range(PAGE):
            tags = ["unread"] + [f"{number:03}-{tag:02}-" + "x" * 80 for tag in range(50)]
            body = hub_client.registration_entry(f"{number:064x}", tags)
            status, _, content = await connection.request(
                "POST", f"/{HUB}/registrations?{hub_client.API_VERSION}", fields, body)
            if status not in (200, 201):
                raise processes.Failed(f"a registration is answered {status}: {content}")
        path = f"/{HUB}/tags/unread/registrations?$top={PAGE}&{hub_client.API_VERSION}"
        _, _, content = await connection.request("GET", path, {"Authorization": self._token})
        connection.close()
        print(f"flood: a page has {len(content) / 1024:.0f} KB", flush=True)
        peers = [Unread(self._port, path, [("authorization", self._token)]) for _ in range(20)]
        before = 1024 * private_memory(self.server.process.pid)
        for peer in peers:
            await peer.open()
        started = time.monotonic()
        tasks = [asyncio.create_task(peer.run()) for peer in peers]
        await self._watch("answers that nobody reads", before, 8)
        statuses = [status for peer in peers for status in peer.statuses]
        served = statuses.count(200)
        print(f"flood: {served} of {len(statuses)} unread answers were made", flush=True)
        checks.that("some unread answers are made, and most are refused", 0 < served < 200, served)
        checks.equal("what is refused is refused with 503", set(statuses), {200, 503})
        while not all(peer.is_closed for peer in peers) and time.monotonic() - started < UNREAD:
            await asyncio.sleep(0.1)
        checks.equal("connections that take nothing are ended", sum(not peer.is_closed for peer in peers), 0)
        for task, peer in zip(tasks, peers):
            task.cancel()
            peer.close()

    async def _beside_strangers(self, basic):
        """A user whose long body comes with its head, while strangers fill the memory of unknown senders."""
        flooders = [self._flooder("/api/sessions", [], 8192) for _ in range(30)]
        for flooder in flooders:
            await flooder.open()
        tasks = [asyncio.create_task(flooder.run()) for flooder in flooders]
        await asyncio.sleep(2)
        print(f"flood: strangers hold {self._held('body') / MEGABYTE:.1f} MB", flush=True)
        body = json.dumps({"to": [USER], "payload": "x" * 60_000, "expiresIn": 60}).encode()
        fields = {"Authorization": f"Basic {basic}", "Content-Type": "application/json"}
        codes = []
        for _ in range(5):
            connection = hub_client.Connection(self._port, timeout=30)
            status, _, content = await connection.request("POST", "/api/notifications/secure", fields, body)
            # The hub has no credential, which is said once the body was read.
            codes.append(200 if status < 300 else json.loads(content)["code"])
            connection.close()
        checks.that("a known user's body is read beside strangers who fill their share", 50307 not in codes, codes)
        for task, flooder in zip(tasks, flooders):
            task.cancel()
            flooder.close()

    async def _crowd(self):
        """More connections than the server has, all of them idle, from one address."""
        connections = []
        try:
            for number in range(CONNECTIONS + 200):
                connection = socket.create_connection(("127.0.0.1", self._port), timeout=30)
                connections.append(connection)
                if number % 200 == 199:
                    await asyncio.sleep(0)
            started = time.monotonic()
            status, _, _ = await hub_client.Connection(self._port).request("GET", "/health/live", {})
            waited = time.monotonic() - started
            print(f"flood: health is answered after {1000 * waited:.0f} ms beside {len(connections)} idle connections")
            checks.equal("health is answered while the server is full", status, 200)
            checks.that("nobody waits for idle connections to end", waited < LATENCY, waited)
        finally:
            for connection in connections:
                connection.close()

    async def _watch(self, name, before, least, step=None):
        """The most memory and the latencies of ordinary requests, for at least so many seconds."""
        most, deadline = 0, time.monotonic() + least
        task = asyncio.create_task(self._ordinary(ORDINARY))
        while not task.done() or time.monotonic() < deadline:
            most = max(most, 1024 * private_memory(self.server.process.pid))
            if step:
                step()
            await asyncio.sleep(0.05)
        latencies = sorted(await task)
        added = most - before
        median, p99 = latencies[len(latencies) // 2], latencies[len(latencies) * 99 // 100]
        print(f"flood: {name}: {added / MEGABYTE:.1f} MB more, ordinary requests in {1000 * median:.0f} ms (median), "
              f"{1000 * p99:.0f} ms (p99)", flush=True)
        checks.that(f"{name}: less than {BOUND // MEGABYTE} MB more", added < BOUND, added)
        checks.that(f"{name}: everybody else is served", p99 < LATENCY, p99)

    async def _ordinary(self, count):
        """How long each of so many requests took; a failed one fails the course."""
        connection, latencies = hub_client.Connection(self._port, timeout=30), []
        for number in range(count):
            started = time.monotonic()
            body = json.dumps({"installationId": f"i{number}", "platform": "apns", "pushChannel": "ab" * 32}).encode()
            target = f"/{HUB}/installations/i{number}?{hub_client.API_VERSION}"
            fields = {"Authorization": self._token, "Content-Type": "application/json"}
            status, _, content = await connection.request("PUT", target, fields, body)
            if status != 200:
                raise processes.Failed(f"an ordinary request is answered {status}: {content}")
            latencies.append(time.monotonic() - started)
        connection.close()
        return latencies

    async def _nothing_stays(self):
        deadline = time.monotonic() + 20
        while (held := self._held("body") + self._held("answer")) and time.monotonic() < deadline:
            await asyncio.sleep(0.1)
        checks.equal("no memory stays reserved for bodies and answers", held, 0)

    def _held(self, what):
        text = processes.martlet(self._binary, "metrics", "--data", self._data)
        pattern = rf'^martlet_http_{what}_bytes\{{listener="public"\}} (\S+)'
        return sum(float(value) for value in re.findall(pattern, text, re.M))


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    checks.finish_on_a_server(Course)
