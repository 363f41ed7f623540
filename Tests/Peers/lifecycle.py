"""Certificates exchanged under load, wrong files, a thousand reloads, and what a service manager hears.

    lifecycle.py MARTLET
"""

import asyncio
import hashlib
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import time

import processes
from checks import Checks, eventually

checks = Checks("lifecycle")

RELOADS = 1000
CONNECTIONS = 50
REQUESTS = 20_000


def make_certificate(certificate, key, name="localhost", days=30):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", str(days),
         "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}", "-keyout", key, "-out", certificate],
        check=True, capture_output=True)


def fingerprint_of_file(path):
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(open(path).read())).hexdigest()


def fingerprint_shown(port):
    context = ssl._create_unverified_context()
    with socket.create_connection(("127.0.0.1", port), timeout=20) as plain:
        with context.wrap_socket(plain, server_hostname="localhost") as secure:
            return hashlib.sha256(secure.getpeercert(binary_form=True)).hexdigest()


class Manager:
    """Plays systemd: a datagram socket in the abstract namespace."""

    def __init__(self, name):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + name)
        self.socket.setblocking(False)
        self.heard = []

    def hear(self):
        while True:
            try:
                self.heard.append(self.socket.recv(4096).decode())
            except BlockingIOError:
                return self.heard


class Judged:
    def __init__(self, binary, directory):
        self._binary, self._directory = binary, directory
        self.data = os.path.join(directory, "data")
        self.certificate, self.key = (os.path.join(directory, name) for name in ("certa.pem", "key.pem"))
        self.log = os.path.join(directory, "server.log")
        name = f"martlet-lifecycle-{os.getpid()}"
        self.manager = Manager(name)
        environment = os.environ | {"NOTIFY_SOCKET": "@" + name, "WATCHDOG_USEC": "1000000"}
        self.server = processes.Server(
            binary, self.data, self.log, "--tls-listen", "127.0.0.1:0", "--tls-certificate", self.certificate,
            "--tls-key", self.key, environment=environment)

    def reload(self):
        return subprocess.run(
            [self._binary, "reload", "--data", self.data], capture_output=True, text=True, timeout=60)

    def replace(self, **options):
        """A new pair, each file by renaming, as certbot's hooks and Kubernetes do."""
        make_certificate(self.certificate + ".new", self.key + ".new", **options)
        os.rename(self.key + ".new", self.key)
        os.rename(self.certificate + ".new", self.certificate)

    async def run(self):
        make_certificate(self.certificate, self.key)
        await self.server.start()
        self.port = self.server.ports["https"]
        await self._service_manager()
        await self._under_load()
        self._wrong_files()
        self._many_reloads()
        await self._end()

    async def _service_manager(self):
        ready = await eventually(lambda: "READY=1" in self.manager.hear())
        checks.that("the service manager hears that the server is ready", ready, self.manager.heard)
        alive = await eventually(lambda: "WATCHDOG=1" in self.manager.hear())
        checks.that("the service manager hears that the server is alive", alive, self.manager.heard)
        checks.that("a start asks for time", self.manager.heard[0].startswith("EXTEND_TIMEOUT_USEC="),
                    self.manager.heard)
        checks.that("the status says how many hubs are served", "STATUS=serves 0 hubs" in self.manager.hear(),
                    self.manager.heard)

    async def _under_load(self):
        if not shutil.which("h2load"):
            return print("lifecycle: h2load is not installed and the load was left out", flush=True)
        load = await asyncio.create_subprocess_exec(
            "h2load", "-n", str(REQUESTS), "-c", str(CONNECTIONS), "-m", "4", "-t", "1",
            f"https://127.0.0.1:{self.port}/health/live", stdout=asyncio.subprocess.PIPE)
        swaps = 0
        longest = 0.0
        while load.returncode is None and swaps < 10:
            self.replace()
            began = time.monotonic()
            done = await asyncio.to_thread(self.reload)
            checks.equal("a reload under load succeeds", done.returncode, 0)
            checks.equal("a new handshake shows the new certificate", await asyncio.to_thread(
                fingerprint_shown, self.port), fingerprint_of_file(self.certificate))
            longest = max(longest, time.monotonic() - began)
            swaps += 1
        output = (await load.stdout.read()).decode()
        await load.wait()
        print(f"lifecycle: {swaps} certificates exchanged during {REQUESTS} requests on {CONNECTIONS} connections; "
              f"from 'martlet reload' to a handshake with the new one: at most {longest:.2f} s", flush=True)
        counts = re.search(r"requests: .* (\d+) succeeded, (\d+) failed, (\d+) errored", output)
        checks.that("certificates were exchanged while requests ran", swaps > 0, output)
        checks.equal("no request fails while certificates are exchanged", counts and counts.groups(),
                     (str(REQUESTS), "0", "0"))

    def _refused(self, sentence, expected):
        shown = fingerprint_shown(self.port)
        done = self.reload()
        checks.equal(f"{sentence}: the reload fails", done.returncode, 1)
        checks.equal(f"{sentence}: it says why", done.stderr, f"martlet: {expected}\n")
        checks.equal(f"{sentence}: the old certificate is shown", fingerprint_shown(self.port), shown)

    def _wrong_files(self):
        good = {path: open(path).read() for path in (self.certificate, self.key)}
        make_certificate(self.certificate, os.path.join(self._directory, "other.pem"))
        self._refused("another key", f"{self.key} is not the key of the certificate in {self.certificate}.")
        open(self.certificate, "w").write(good[self.certificate][:200])
        self._refused("half a file", f"{self.certificate} has no certificate: expected -----BEGIN CERTIFICATE-----.")
        open(self.certificate, "w").write(good[self.certificate])
        os.unlink(self.key)
        self._refused("a missing file", f"Cannot read {self.key}: there is no such file.")
        open(self.key, "w").write(good[self.key])
        checks.equal("a reload of what is served succeeds", self.reload().stdout, "Reloaded: nothing has changed.\n")

    def _descriptors(self):
        return len(os.listdir(f"/proc/{self.server.process.pid}/fd"))

    def _memory(self):
        text = open(f"/proc/{self.server.process.pid}/status").read()
        return int(re.search(r"VmRSS:\s+(\d+)", text).group(1)) * 1024

    def _reload_by_socket(self, times):
        """By the admin socket on one connection: a process for each would measure the processes."""
        admin = socket.socket(socket.AF_UNIX)
        admin.connect(os.path.join(self.data, "admin.sock"))
        admin.settimeout(20)
        failures = 0
        for _ in range(times):
            admin.sendall(b"POST /reload HTTP/1.1\r\nHost: admin\r\nContent-Length: 0\r\n\r\n")
            head = b""
            while b"}" not in head:
                head += admin.recv(4096)
            failures += not head.startswith(b"HTTP/1.1 200")
        admin.close()
        return failures

    def _many_reloads(self):
        pairs = []
        for number in range(2):
            pair = [os.path.join(self._directory, f"{kind}{number}") for kind in ("certificate", "key")]
            make_certificate(*pair)
            pairs.append([open(path).read() for path in pair])

        def exchange(number):
            for path, text in zip((self.key, self.certificate), reversed(pairs[number % 2])):
                open(path, "w").write(text)
            return self._reload_by_socket(1)

        failures = sum(exchange(number) for number in range(100))
        before = self._descriptors(), self._memory()
        failures += sum(exchange(number) for number in range(RELOADS))
        after = self._descriptors(), self._memory()
        print(f"lifecycle: {RELOADS} exchanges: {before[0]} descriptors before, {after[0]} after; "
              f"{before[1] >> 10} KiB before, {after[1] >> 10} KiB after", flush=True)
        checks.equal("every reload succeeds", failures, 0)
        checks.that("reloads leave no descriptor open", after[0] <= before[0] + 2, (before, after))
        checks.that("reloads leave no memory behind", after[1] < before[1] + (4 << 20), (before, after))

    async def _end(self):
        self.manager.hear().clear()
        self.server.process.send_signal(signal.SIGHUP)
        await eventually(lambda: len([text for text in self.manager.hear() if text == "READY=1"]) > 0)
        told = [text for text in self.manager.heard if not text.startswith(("WATCHDOG", "STATUS"))]
        checks.that("a reload begins and ends for the service manager",
                    len(told) == 2 and told[0].startswith("RELOADING=1\nMONOTONIC_USEC=") and told[1] == "READY=1", told)
        code, _ = await self.server.stop()
        checks.equal("the server ends in good order", code, 0)
        checks.that("the service manager hears of the end", "STOPPING=1" in self.manager.hear(), self.manager.heard)


checks.finish_on_a_server(Judged)
