"""`martlet migrate azure` from one Martlet server, which plays Azure, to another, while sends go on.

Before the source stands a proxy that throttles (429 with Retry-After) and slows down listings. The migrating command is killed
every few seconds, and the target server now and then. By the simulator's ledger every send reaches each of its devices once: before the copy,
during it, after the senders have changed to the target, and after apps have. A source that answers without measure is
read within bounds.

    migration.py MARTLET [--devices N]
"""

import argparse
import asyncio
import collections
import http.client
import http.server
import json
import os
import socket
import subprocess
import tempfile
import threading
import time

import hub_client
import processes
import simulators
from checks import Checks, eventually

checks = Checks("migration")

HUB, RULE = "demo", "DefaultFullSharedAccessSignature"
TEMPLATES = {"apns": '{"aps":{"alert":"$(m)"}}', "fcmv1": '{"message":{"data":{"m":"$(m)"}}}'}
PATIENCE = 60  # seconds without a delivery
CONNECTIONS = 32


class Hub:
    """The hub on one of the servers."""

    def __init__(self, server, key):
        self._server, self._key = server, key

    async def call(self, connection, method, path, fields=None, body=b"", wanted=(200, 201, 204)):
        token = hub_client.signature(hub_client.namespace_resource(self._server.port), RULE, self._key)
        status, answered, content = await connection.request(
            method, f"/{HUB}/{path}?{hub_client.API_VERSION}", {"Authorization": token} | (fields or {}), body)
        if status not in wanted:
            raise processes.Failed(f"{method} {path.partition('/')[0]} was answered {status}: {content[:300]}")
        return status, answered, content

    async def one(self, *arguments, **options):
        connection = hub_client.Connection(self._server.port, timeout=60)
        try:
            return await self.call(connection, *arguments, **options)
        finally:
            connection.close()

    async def put(self, name, service, handle, tags, templates=None):
        fields = {"Content-Type": "application/json"}
        body = simulators.installation(name, service, handle, tags, templates)
        await self.one("PUT", f"installations/{name}", fields, body)

    async def put_all(self, devices):
        async def some(devices):
            connection = hub_client.Connection(self._server.port, timeout=60)
            for device in devices:
                if device.is_plain:
                    await self.call(
                        connection, "POST", "registrations", {"Content-Type": "application/atom+xml"},
                        hub_client.registration_entry(device.handle, ["all"]))
                else:
                    body = simulators.installation(
                        device.name, device.service, device.handle, ["all"], device.templates)
                    await self.call(
                        connection, "PUT", f"installations/{device.name}", {"Content-Type": "application/json"}, body)
            connection.close()

        await asyncio.gather(*(some(devices[start::CONNECTIONS]) for start in range(CONNECTIONS)))

    async def send(self, key, services):
        """To every device by its service's own format, and to templates."""
        forms = [(simulators.FORMS[name][:2], simulators.body(name, f"{key}-native")) for name in services]
        forms.append((("template", "application/json"), json.dumps({"m": simulators.word(f"{key}-template")}).encode()))
        for (form, kind), body in forms:
            fields = {"ServiceBusNotification-Format": form, "Content-Type": kind, "ServiceBusNotification-Tags": "all"}
            if form == "windows":
                fields["X-WNS-Type"] = "wns/toast"
            if form == "windowsphone":
                fields |= {"X-WindowsPhone-Target": "toast", "X-NotificationClass": "2"}
            await self.one("POST", "messages", fields, body)


class Device:
    def __init__(self, number, service, handle):
        self.name, self.service, self.handle = f"device-{number}", service, handle
        self.is_plain = service == "apns" and number % 2 == 0
        template = TEMPLATES.get(service) if number % 3 == 0 and not self.is_plain else None
        self.templates = {"note": {"body": template, "tags": ["all"]}} if template else {}


class Proxy:
    """Passes requests on to the source; every `throttled`th is answered 429, and listings take their time."""

    def __init__(self, throttled, delay):
        self._throttled, self._delay = throttled, delay
        self.requests = self.refusals = 0

    async def start(self, target):
        self._target = target
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _serve(self, reader, writer):
        upstream = None
        try:
            upstream_reader, upstream = await asyncio.open_connection("127.0.0.1", self._target)
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.requests += 1
                if self.requests % self._throttled == 0:
                    self.refusals += 1
                    writer.write(b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n")
                    continue
                if b"/registrations?" in head.partition(b"\r\n")[0]:
                    await asyncio.sleep(self._delay)
                upstream.write(head)
                answer = await upstream_reader.readuntil(b"\r\n\r\n")
                fields = dict(
                    line.lower().split(b": ", 1) for line in answer.split(b"\r\n")[1:] if b": " in line)
                writer.write(answer + await upstream_reader.readexactly(int(fields.get(b"content-length", 0))))
                await writer.drain()
        except (OSError, EOFError):
            pass
        finally:
            writer.close()
            if upstream:
                upstream.close()


def registration(number, tags):
    """An entry of a listing, as Azure writes it."""
    return ('<entry><content type="application/xml"><AppleRegistrationDescription '
            'xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"><ETag>1</ETag>'
            f"<RegistrationId>{7000000000000000000 + number}-{number + 1}-1</RegistrationId><Tags>{tags}</Tags>"
            f"<DeviceToken>{number:064x}</DeviceToken></AppleRegistrationDescription></content></entry>")


def feed(count, tags="all"):
    entries = "".join(registration(number, tags.format(number)) for number in range(count))
    return f'<feed xmlns="http://www.w3.org/2005/Atom">{entries}</feed>'.encode()


class Immoderate(http.server.BaseHTTPRequestHandler):
    """A source whose listings and installations are larger than any, or never end; the name of the hub says which."""
    protocol_version = "HTTP/1.1"
    pages = 0

    def do_GET(self):
        hub, fields = self.path.split("/")[1], {}
        if "/installations/" in self.path:
            body = b'{"pushChannel":"' + b"a" * 10_000_000 + b'"}'
        elif hub == "large":
            body = feed(100, "$InstallationId:{{i{}}}")
        elif hub == "circle":
            body, fields = feed(1), {"X-MS-ContinuationToken": "same"}
        elif hub == "empty":
            Immoderate.pages += 1
            body, fields = feed(0), {"X-MS-ContinuationToken": f"page-{Immoderate.pages}"}
        elif hub == "many":
            body = feed(101)
        else:
            body = feed(1) + b" " * 9_000_000
        try:
            self.send_response(200)
            for name, value in (fields | {"Content-Length": len(body)}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            self.close_connection = True

    def log_message(self, *_):
        pass


class Course:
    def __init__(self, binary, directory, count):
        self._binary, self._directory, self._count = binary, directory, count
        self._simulator = simulators.Simulator(binary, os.path.join(directory, "simulator"))
        self._arrived = collections.Counter()
        self._deliveries = 0
        # By key of a send: the handles that it must reach, each once.
        self._owed = {}
        self._servers = {}

    def _path(self, name):
        return os.path.join(self._directory, name)

    async def run(self):
        try:
            await self._simulator.start()
            self._arrivals = simulators.Arrivals(self._simulator.ledger)
            await self._story()
        finally:
            for program in [*self._servers.values(), self._simulator]:
                if program.process and program.process.returncode is None:
                    await program.kill()

    async def _hub(self, name):
        key = processes.create_hub(self._binary, self._path(name), HUB)[RULE]
        self._simulator.set_credentials(self._path(name), HUB)
        self._servers[name] = processes.Server(self._binary, self._path(name), self._path(f"{name}.log"))
        await self._servers[name].start()
        return Hub(self._servers[name], key), key

    def _owe(self, key, devices):
        for device in devices:
            self._owed.setdefault(f"{key}-native", collections.Counter())[device.handle] = 1
            if device.templates:
                self._owed.setdefault(f"{key}-template", collections.Counter())[device.handle] = 1

    async def _send(self, hub, key, devices):
        self._owe(key, devices)
        await hub.send(key, self._simulator.services)

    async def _migrate(self, *options, kill_after=None):
        process = await asyncio.create_subprocess_exec(
            self._binary, "migrate", "azure", HUB, "--data", self._path("martlet"), "--rate", "1000",
            "--connection-string-file", self._path("connection-string"), *options,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
        try:
            printed, complained = await asyncio.wait_for(process.communicate(), kill_after)
        except asyncio.TimeoutError:
            process.kill()
            await process.wait()
            return None
        if process.returncode:
            raise processes.Failed(f"migrate {options} exited with {process.returncode}: {complained.decode()}")
        return printed.decode()

    def _administer(self, method, path, body=None):
        """Makes a request to the administration API of the target server."""
        connection = http.client.HTTPConnection("localhost", timeout=60)
        connection.sock = socket.socket(socket.AF_UNIX)
        try:
            connection.sock.connect(os.path.join(self._path("martlet"), "admin.sock"))
            connection.request(method, f"/hubs/{HUB}/migration{path}", body and json.dumps(body))
            content = connection.getresponse().read()
            return json.loads(content) if content else None
        finally:
            connection.close()

    async def _judge_untrusted(self, port):
        """A source whose certificate nobody vouches for ends the command at once, without a second attempt."""
        path = self._path("untrusted")
        with open(path, "w", encoding="ascii") as file:
            file.write(f"Endpoint=sb://127.0.0.1:{port}/;SharedAccessKeyName={RULE};SharedAccessKey=secret")
        process = await asyncio.create_subprocess_exec(
            self._binary, "migrate", "azure", HUB, "--data", self._path("martlet"), "--connection-string-file", path,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
        _, complained = await process.communicate()
        checks.equal("an untrusted source: exit code", process.returncode, 1)
        checks.that("it is said to be untrusted, and nothing is waited for",
                    b"is not trusted" in complained and b"Asks again" not in complained, complained)

    def _copy_immoderate(self, port, hub):
        """Exit code, output and peak memory in bytes of a copy from a source that answers without measure."""
        path = self._path("immoderate")
        with open(path, "w", encoding="ascii") as file:
            file.write(f"Endpoint=http://127.0.0.1:{port}/;SharedAccessKeyName={RULE};SharedAccessKey=c2VjcmV0")
        with open(path + ".out", "w+", encoding="utf-8") as output:
            process = subprocess.Popen(
                [self._binary, "migrate", "azure", "immoderate", "--source-hub", hub, "--data", self._path("martlet"),
                 "--rate", "1000", "--connection-string-file", path], stdout=output, stderr=output)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            return process.returncode, output.read(), usage.ru_maxrss * 1024

    async def _judge_immoderate(self):
        site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Immoderate)
        threading.Thread(target=site.serve_forever, daemon=True).start()
        await asyncio.to_thread(
            processes.martlet, self._binary, "hub", "create", "immoderate", "--data", self._path("martlet"))

        async def copy(hub):
            return await asyncio.wait_for(asyncio.to_thread(self._copy_immoderate, site.server_port, hub), 120)

        code, said, memory = await copy("large")
        checks.that("installations that are too large are refused singly, and the copy ends well",
                    code == 0 and "100 refused" in said and "Installation 'i7' is larger" in said, (code, said[-400:]))
        checks.that("they do not fill the memory", memory < 120_000_000, memory)
        for hub, sentence in (("circle", "repeats a continuation token"), ("many", "has 101 registrations"),
                              ("empty", "1,001 pages without registrations"),
                              ("page", "answered 413")):
            code, said, _ = await copy(hub)
            checks.that(f"{hub}: the command ends with a sentence", code == 1 and sentence in said, (code, said[-400:]))
        site.shutdown()
        site.server_close()

    async def _copied(self):
        return json.loads(await self._migrate("--json"))

    async def _story(self):
        services = self._simulator.services
        started = time.monotonic()
        wanted = [services[number % len(services)] for number in range(self._count)]
        handles = await asyncio.to_thread(self._simulator.devices, wanted)
        devices = [Device(number, *each) for number, each in enumerate(zip(wanted, handles))]
        print(f"migration: {len(devices)} devices of {len(services)} platforms made up in "
              f"{time.monotonic() - started:.1f} s", flush=True)
        azure, key = await self._hub("azure")
        martlet, _ = await self._hub("martlet")
        await self._judge_untrusted(int(self._simulator.origin.rpartition(":")[2]))
        await self._judge_immoderate()
        started = time.monotonic()
        await azure.put_all(devices)
        print(f"migration: {len(devices)} devices at the source in {time.monotonic() - started:.1f} s", flush=True)
        # Every refusal costs a second: with many devices, as many refusals as with few would take most of the time.
        proxy = Proxy(throttled=max(97, self._count // 100), delay=0.05)
        await proxy.start(self._servers["azure"].port)
        with open(self._path("connection-string"), "w", encoding="utf-8") as file:
            file.write(f"Endpoint=http://127.0.0.1:{proxy.port}/;SharedAccessKeyName={RULE};SharedAccessKey={key}\n")

        await self._send(azure, "before", devices)
        started = time.monotonic()
        kills = restarts = 0
        checkpoint = None
        for number in range(max(3, min(20, self._count // 1000))):
            copying = asyncio.create_task(self._migrate(kill_after=1 + number % 5))
            if number % 16 == 1:
                await self._send(azure, f"during-{number}", devices)
            if number % 8 == 4:
                await asyncio.sleep(1)
                await self._servers["martlet"].kill()
                await self._servers["martlet"].start()
                restarts += 1
            if await copying is not None:
                break
            kills += 1
            checkpoint = self._administer("GET", "")["checkpoint"] or checkpoint
        running = asyncio.create_task(self._migrate())
        await asyncio.sleep(1)
        await self._send(azure, "during", devices)
        await self._servers["martlet"].kill()
        await asyncio.sleep(1)
        await self._servers["martlet"].start()
        await running
        print(f"migration: copied in {time.monotonic() - started:.1f} s; the command was killed {kills} times, the server "
              f"{restarts + 1} times; {proxy.requests} requests, {proxy.refusals} answered 429", flush=True)
        checks.that("the command was killed while it copied", kills > 0)
        checks.that("the source throttled", proxy.refusals > 0)
        started = time.monotonic()
        compared = json.loads(await self._migrate("--compare", "--json"))["counts"]
        checks.equal("everything is the same on both sides", {word for each in compared.values() for word in each}, {"same"})
        checks.equal("of every platform", sorted(compared), sorted(services))
        print(f"migration: compared in {time.monotonic() - started:.1f} s", flush=True)

        # Until the senders change, one device is new at the source, one goes, one has other tags.
        new, gone, moved = Device(self._count + 1, "apns", self._simulator.device("apns")), devices[1], devices[7]
        await azure.put_all([new])
        await azure.one("DELETE", f"installations/{gone.name}")
        kept = [new] + [device for device in devices if device is not gone]
        # A checkpoint whose continuation the source no longer knows: the pass begins again with the first page.
        checks.that("a killed command leaves a checkpoint", checkpoint and checkpoint.get("continuation"), checkpoint)
        self._administer("PUT", "/checkpoint", (checkpoint or {}) | {"continuation": "forgotten"})
        counts = await self._copied()
        checks.equal("a pass whose continuation is unknown reads everything",
                     sum(sum(each.values()) for each in counts["counts"].values()) >= self._count, True)
        checks.equal("one is deleted", counts["deleted"], 1)
        checks.equal("one is copied", sum(each.get("copied", 0) for each in counts["counts"].values()), 1)

        # The senders change.
        await self._send(martlet, "after", kept)
        # An app registers here, and its old version registers at the source once more.
        await martlet.put(moved.name, moved.service, moved.handle, ["all", "moved"], moved.templates)
        await azure.put(moved.name, moved.service, moved.handle, ["all", "old"], moved.templates)
        # Another one registers here under a new name.
        renamed = next(device for device in kept if device.templates)
        await martlet.put("renamed", renamed.service, renamed.handle, ["all"], renamed.templates)
        counts = await self._copied()
        checks.equal("nothing is copied over what apps have written",
                     sum(each.get("copied", 0) for each in counts["counts"].values()), 0)
        document = json.loads((await martlet.one("GET", f"installations/{moved.name}"))[2])
        checks.equal("the app's own tags stay", sorted(document["tags"]), ["all", "moved"])
        status, _, _ = await martlet.one("GET", f"installations/{renamed.name}", wanted=(200, 404))
        checks.equal("a copy whose handle an app has registered under another name is removed", status, 404)
        # The device that has moved goes from the source: it stays here.
        await azure.one("DELETE", f"installations/{moved.name}")
        checks.equal("what an app has written is not deleted", (await self._copied())["deleted"], 0)
        await self._send(martlet, "end", kept)
        await self._judge()

    async def _judge(self):
        def read():
            for line in self._arrivals.read():
                self._arrived[line["key"], line["handle"]] += 1
                self._deliveries += 1
            return self._deliveries

        wanted = sum(sum(each.values()) for each in self._owed.values())
        before = -1
        while before < read() < wanted:
            before = self._deliveries
            await eventually(lambda: read() > before, PATIENCE)
        await asyncio.sleep(1)
        read()
        found = collections.defaultdict(collections.Counter)
        for (key, handle), count in self._arrived.items():
            found[key][handle] += count
        missing = twice = strays = 0
        for key, owed in self._owed.items():
            missing += sum((owed - found[key]).values())
            twice += sum(count - 1 for count in found[key].values() if count > 1)
            strays += sum(1 for handle in found[key] if handle not in owed)
        checks.equal("nobody is missing", missing, 0)
        checks.equal("nobody gets it twice", twice, 0)
        checks.equal("nobody else gets it", strays, 0)
        print(f"migration: sends={len(self._owed)} deliveries={sum(self._arrived.values())} missing={missing} "
              f"twice={twice} strays={strays}", flush=True)


async def course(binary, count):
    with tempfile.TemporaryDirectory() as directory:
        await Course(binary, directory, count).run()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("martlet")
    parser.add_argument("--devices", type=int, default=2000)
    arguments = parser.parse_args()
    checks.finish(course(arguments.martlet, arguments.devices))
