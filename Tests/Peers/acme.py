"""A real `martlet serve` gets and renews its certificate from pebble, the test authority of Let's Encrypt: the first
certificate, a renewal under load, refused nonces, a refused challenge, a restart in the middle of an order, and a
directory that answers nothing.

    acme.py MARTLET
"""

import asyncio
import hashlib
import http.server
import json
import os
import re
import shutil
import socket
import ssl
import stat
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

import certificates
import processes
from checks import Checks, eventually

checks = Checks("acme")
DOMAIN = "push.example.org"
OTHER = "api.example.org"
RENEWED_LIFE = 60
LOAD_CONNECTIONS = 20


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


async def listening(port):
    """Whether something accepts connections at the port before long."""
    def attempt():
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        except OSError:
            return False

    return await eventually(attempt)


class Door:
    """Passes connections on to a port. While it is shut they wait, so that an authority looks for a challenge only when
    the test lets it."""

    def __init__(self, target):
        self._target, self._open, self._server = target, asyncio.Event(), None
        self.port, = free_ports(1)

    async def start(self):
        self._server = await asyncio.start_server(self._pass_on, "127.0.0.1", self.port)
        return self

    def open(self):
        self._open.set()

    async def stop(self):
        self._server.close()

    async def _pass_on(self, reader, writer):
        await self._open.wait()
        try:
            target_reader, target_writer = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.close()
            return
        await asyncio.gather(self._copy(reader, target_writer), self._copy(target_reader, writer))

    async def _copy(self, reader, writer):
        try:
            while piece := await reader.read(65536):
                writer.write(piece)
                await writer.drain()
        except OSError:
            pass
        writer.close()


class Authority:
    """pebble in strict mode and its DNS server, which resolves every name to loopback."""

    def __init__(self, directory, tls_port, life=None, environment=None):
        os.makedirs(directory, exist_ok=True)
        self._directory, self._tls_port, self._life = directory, tls_port, life
        self._environment = os.environ | {"PEBBLE_VA_NOSLEEP": "1", "PEBBLE_AUTHZREUSE": "0"} | (environment or {})
        certificates.make_authority(directory)
        self.trusted = os.path.join(directory, "ca.pem")
        self.port, self._management, self._dns, self._dns_management = free_ports(4)
        self.url = f"https://127.0.0.1:{self.port}/dir"
        self._processes = []

    async def start(self):
        config = {
            "listenAddress": f"127.0.0.1:{self.port}", "managementListenAddress": f"127.0.0.1:{self._management}",
            "certificate": os.path.join(self._directory, "server.pem"),
            "privateKey": os.path.join(self._directory, "server.key"), "httpPort": 5002, "tlsPort": self._tls_port,
            "ocspResponderURL": "", "externalAccountBindingRequired": False,
        }
        if self._life:
            config["certificateValidityPeriod"] = self._life
        path = os.path.join(self._directory, "pebble.json")
        with open(path, "w") as file:
            json.dump({"pebble": config}, file)
        self.log = os.path.join(self._directory, "pebble.log")
        with open(self.log, "ab") as log:
            resolver = await asyncio.create_subprocess_exec(
                "pebble-challtestsrv", "-defaultIPv6", "", "-dns01", f"127.0.0.1:{self._dns}", "-http01", "",
                "-https01", "", "-tlsalpn01", "", "-management", f"127.0.0.1:{self._dns_management}", stdout=log,
                stderr=log)
            authority = await asyncio.create_subprocess_exec(
                "pebble", "-strict", "-config", path, "-dnsserver", f"127.0.0.1:{self._dns}", stdout=log, stderr=log,
                env=self._environment)
        self._processes = [resolver, authority]
        for port in (self.port, self._management, self._dns_management):
            if not await listening(port):
                raise processes.Failed("pebble does not listen:\n" + open(self.log).read()[-2000:])
        return self

    def root(self):
        """The root certificate that pebble made for itself."""
        context = ssl.create_default_context(cafile=self.trusted)
        with urllib.request.urlopen(f"https://127.0.0.1:{self._management}/roots/0", context=context) as answer:
            return answer.read().decode()

    def count(self, text):
        with open(self.log, errors="replace") as log:
            return log.read().count(text)

    async def stop(self):
        for process in self._processes:
            if process.returncode is None:
                process.kill()
                await process.wait()


class Server(processes.Server):
    def __init__(self, binary, directory, tls_port, url, trusted, domains=DOMAIN):
        self.directory, self.tls_port = directory, tls_port
        os.makedirs(directory, exist_ok=True)
        self.data, self.log = os.path.join(directory, "data"), os.path.join(directory, "server.log")
        super().__init__(
            binary, self.data, self.log, "--tls-listen", f"127.0.0.1:{tls_port}", "--acme-domain", domains,
            "--acme-contact", "mailto:ops@example.org", "--acme-directory", url, "--acme-ca-file", trusted,
            "--acme-agree-to-terms", "--loops", "1")

    def ready(self):
        """Status and text of the readiness check, in clear text."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/health/ready")
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, answer.read().decode().strip()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode().strip()

    def handshake(self, protocols=("http/1.1",), context=None):
        """The certificate that a client gets, DER."""
        context = context or ssl._create_unverified_context()
        context.set_alpn_protocols(list(protocols))
        with socket.create_connection(("127.0.0.1", self.tls_port), timeout=10) as plain:
            with context.wrap_socket(plain, server_hostname=DOMAIN) as secure:
                return secure.getpeercert(binary_form=True)

    def refuses(self, **how):
        try:
            self.handshake(**how)
            return False
        except (ssl.SSLError, ConnectionError):
            return True

    def shown(self):
        return hashlib.sha256(self.handshake()).hexdigest()

    def state(self):
        with open(os.path.join(self.data, "acme", DOMAIN, "state.json")) as file:
            return json.load(file)

    def words(self):
        with open(self.log, errors="replace") as log:
            return log.read()

    async def certified(self, timeout=60):
        return await eventually(lambda: self.ready()[0] == 200, timeout)


class Judged:
    def __init__(self, binary, directory):
        self._binary, self._directory, self._parts = binary, directory, []

    async def authority(self, name, port, **how):
        made = Authority(os.path.join(self._directory, name), port, **how)
        self._parts.append(made)
        return await made.start()

    def server(self, name, port, authority, **how):
        made = Server(self._binary, os.path.join(self._directory, name), port, authority.url, authority.trusted, **how)
        self._parts.append(made)
        return made

    async def run(self):
        try:
            await asyncio.gather(self._renewal_under_load(), self._others())
        finally:
            for part in self._parts:
                if isinstance(part, Authority):
                    await part.stop()
                elif part.process and part.process.returncode is None:
                    part.process.kill()
                    await part.process.wait()

    async def _others(self):
        """One after another, beside the renewal, which waits until a certificate is about to expire."""
        await self._first_certificate()
        await self._refused_challenge()
        await self._restart()
        await self._silent_directory()
        await self._misleading_directory()

    async def _first_certificate(self):
        """With half of all good nonces refused, and two names."""
        port, = free_ports(1)
        authority = await self.authority("first", port, environment={"PEBBLE_WFE_NONCEREJECT": "50"})
        server = self.server("first-server", port, authority, domains=f"{DOMAIN},{OTHER}")
        await server.start()
        certified = await server.certified()
        checks.that("the first certificate is issued, with half of the nonces refused", certified, server.words())
        # An order takes nine signed requests.
        checks.that("requests were repeated", authority.count("POST /") > 12, authority.count("POST /"))
        context = ssl.create_default_context(cadata=authority.root())
        shown = server.handshake(context=context)
        text = subprocess.run(["openssl", "x509", "-inform", "DER", "-noout", "-ext", "subjectAltName"], input=shown,
                              capture_output=True).stdout.decode()
        checks.that("a client that trusts the authority is content", DOMAIN in text and OTHER in text, text)
        checks.that("acme-tls/1 is refused without an order", server.refuses(protocols=["acme-tls/1"]))
        folder = os.path.join(server.data, "acme")
        for path in (folder + "/account.key", f"{folder}/{DOMAIN}/chain.pem", f"{folder}/{DOMAIN}/key.pem",
                     f"{folder}/{DOMAIN}/state.json"):
            checks.equal(f"{os.path.basename(path)} is its owner's alone", stat.S_IMODE(os.stat(path).st_mode), 0o600)
        key = subprocess.run(["openssl", "pkey", "-in", f"{folder}/{DOMAIN}/key.pem", "-noout", "-text"],
                             capture_output=True, text=True).stdout
        checks.that("the key is of P-256", "prime256v1" in key, key.splitlines()[-2:])
        checks.that("the key of an order is gone", not os.path.exists(f"{folder}/{DOMAIN}/next.key"))
        before = server.shown()
        await server.stop()
        await server.start()
        checks.equal("a restart serves at once", server.ready()[0], 200)
        checks.equal("a restart serves the same certificate", server.shown(), before)
        checks.equal("a restart makes no order", len(server.state()["orders"]), 1)
        checks.that("no secret is in the log", "PRIVATE KEY" not in server.words() and "nonce" not in server.words())
        code, _ = await server.stop()
        checks.equal("the server ends in good order", code, 0)
        await authority.stop()

    async def _renewal_under_load(self):
        port, = free_ports(1)
        authority = await self.authority("renewal", port, life=RENEWED_LIFE)
        server = self.server("renewal-server", port, authority)
        await server.start()
        checks.that("a certificate of a minute is issued", await server.certified(), server.words())
        first = server.shown()
        began = time.monotonic()
        key = os.path.join(server.data, "acme", DOMAIN, "key.pem")
        first_key = open(key).read()
        load = await asyncio.create_subprocess_exec(
            "h2load", "--duration", str(RENEWED_LIFE - 5), "-c", str(LOAD_CONNECTIONS), "-m", "2", "-t", "1",
            "--rps", "20", f"https://127.0.0.1:{port}/health/live", stdout=asyncio.subprocess.PIPE)
        failures = handshakes = 0
        renewed = None
        while load.returncode is None and time.monotonic() - began < RENEWED_LIFE + 30:
            try:
                shown = await asyncio.to_thread(server.shown)
                if shown != first and renewed is None:
                    renewed = time.monotonic() - began
            except OSError as error:
                print(f"acme: a handshake failed: {error}", flush=True)
                failures += 1
            handshakes += 1
            await asyncio.sleep(0.1)
        output = (await load.stdout.read()).decode()
        await load.wait()
        counts = re.search(r"requests: .* (\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout", output)
        checks.that("the certificate is renewed", renewed is not None, server.words())
        checks.that("it is renewed at two thirds of its life", renewed and 38 <= renewed <= 50, renewed)
        checks.equal("no handshake fails", failures, 0)
        checks.that("requests were made all the time", counts and int(counts[1]) > 1000, output)
        checks.equal("no request fails", counts and counts.groups()[1:], ("0", "0", "0"))
        checks.that("a new certificate has a new key", open(key).read() != first_key)
        print(f"acme: renewed after {renewed or 0:.0f} s under {counts and counts[1]} requests and {handshakes} "
              "handshakes", flush=True)
        await server.stop()
        await authority.stop()

    async def _refused_challenge(self):
        """The authority looks for the names elsewhere."""
        port, elsewhere = free_ports(2)
        authority = await self.authority("refused", elsewhere)
        server = self.server("refused-server", port, authority)
        await server.start()
        checks.equal("without a certificate the server is not ready", server.ready()[0], 503)
        checks.that("without a certificate a handshake is refused", server.refuses())
        said = await eventually(lambda: "the authority says" in server.ready()[1], 60)
        status, text = server.ready()
        checks.that("the health check repeats the authority's words", said and text.startswith(
            f"There is no certificate for {DOMAIN} yet: the authority says") and "onnect" in text, text)
        checks.equal("a refused challenge is a warning of the log", server.words().count("was not issued"), 1)
        checks.equal("the failed order is forgotten", server.state().get("order"), None)
        health = subprocess.run([self._binary, "health", "--data", server.data], capture_output=True, text=True)
        checks.equal("martlet health fails", health.returncode, 1)
        checks.equal("the server still answers in clear text", status, 503)
        await server.stop()
        await authority.stop()

    async def _restart(self):
        """Kills the server at several moments of an order."""
        for attempt in range(3):
            port, = free_ports(1)
            door = await Door(port).start()
            authority = await self.authority(f"restart-{attempt}", door.port)
            server = self.server(f"restart-server-{attempt}", port, authority)
            await server.start()
            path = os.path.join(server.data, "acme", DOMAIN, "state.json")
            begun = await eventually(lambda: os.path.exists(path) and server.state().get("order"), 30)
            checks.that("an order is under way", begun, server.words())
            await server.kill()
            await server.start()
            # The authority looks when the server answers the challenge again, and not before it has continued the order.
            await eventually(lambda: not server.refuses(protocols=("acme-tls/1",)), 60)
            door.open()
            certified = await server.certified()
            # On a busy machine the start can take longer than the authority waits for the challenge. Then the order has
            # failed, and says nothing about the restart.
            if "was not issued" not in server.words() or attempt == 2:
                break
            await server.kill()
            await authority.stop()
            await door.stop()
        checks.that("an order is continued after a kill", certified, server.words())
        checks.equal("it was continued, and no second one was made", len(server.state()["orders"]), 1)
        shown = server.shown()
        await server.kill()
        # The certificate was exchanged and its key was not yet, as a kill between the two files leaves it.
        folder = os.path.join(server.data, "acme", DOMAIN)
        os.rename(f"{folder}/key.pem", f"{folder}/next.key")
        await server.start()
        checks.equal("half an exchange is completed", server.shown(), shown)
        await server.kill()
        # An order that the authority does not know any more, and a certificate that is lost.
        state = json.load(open(path)) | {"order": authority.url.replace("/dir", "/my-order/gone")}
        json.dump(state, open(path, "w"))
        os.rename(f"{folder}/key.pem", f"{folder}/next.key")
        os.unlink(f"{folder}/chain.pem")
        await server.start()
        checks.that("a lost order begins anew", await server.certified(), server.words())
        checks.equal("that is the second order", len(server.state()["orders"]), 2)
        await server.kill()
        state = json.load(open(path))
        state["orders"] = [int(time.time() * 1000) - 1000 * second for second in range(5)]
        json.dump(state, open(path, "w"))
        os.unlink(f"{folder}/chain.pem")
        await server.start()
        await asyncio.sleep(2)
        checks.equal("a sixth order on one day is not made", len(server.state()["orders"]), 5)
        checks.equal("meanwhile the server is not ready", server.ready()[0], 503)
        await server.stop()
        await authority.stop()
        await door.stop()

    async def _silent_directory(self):
        port, = free_ports(1)
        folder = os.path.join(self._directory, "silent")
        os.makedirs(folder)
        certificates.make_authority(folder)
        silent = socket.socket()
        silent.bind(("127.0.0.1", 0))
        silent.listen()

        class Silent:
            url = f"https://127.0.0.1:{silent.getsockname()[1]}/dir"
            trusted = os.path.join(folder, "ca.pem")

        server = self.server("silent-server", port, Silent)
        await server.start()
        said = await eventually(lambda: "cannot be reached" in server.ready()[1], 45)
        checks.that("the health check says that the directory does not answer", said, server.ready())
        checks.that("the log says when it is tried again", "Next attempt: " in server.words(), server.words())
        code, _ = await server.stop()
        checks.equal("the server ends in good order meanwhile", code, 0)
        silent.close()

    async def _misleading_directory(self):
        """A directory whose answers lead to another port of this machine."""
        port, = free_ports(1)
        folder = os.path.join(self._directory, "misleading")
        os.makedirs(folder)
        certificates.make_authority(folder)
        victim = socket.socket()
        victim.bind(("127.0.0.1", 0))
        victim.listen()
        victim.setblocking(False)
        elsewhere = f"https://127.0.0.1:{victim.getsockname()[1]}"
        body = json.dumps({name: f"{elsewhere}/{name}" for name in ("newNonce", "newAccount", "newOrder")}).encode()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(folder, "server.pem"), os.path.join(folder, "server.key"))
        site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        site.socket = context.wrap_socket(site.socket, server_side=True)
        threading.Thread(target=site.serve_forever, daemon=True).start()

        class Misleading:
            url = f"https://127.0.0.1:{site.server_port}/dir"
            trusted = os.path.join(folder, "ca.pem")

        server = self.server("misleading-server", port, Misleading)
        await server.start()
        said = await eventually(lambda: elsewhere in server.ready()[1], 45)
        checks.that("an answer that leads into a private network is not followed", said, server.ready())
        try:
            victim.accept()
            checks.that("nothing connects to where it leads", False)
        except BlockingIOError:
            checks.that("nothing connects to where it leads", True)
        await server.stop()
        site.shutdown()
        victim.close()


async def course(binary, directory):
    await Judged(binary, directory).run()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if not all(map(shutil.which, ("pebble", "pebble-challtestsrv", "h2load"))):
        sys.exit("acme: pebble or h2load is not installed (Scripts/setup test)")
    with tempfile.TemporaryDirectory() as directory:
        checks.finish(course(os.path.abspath(sys.argv[1]), directory))
