"""Storms of small requests from wrk: registration upserts to a hub, static answers from nginx."""
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import dataclass

from . import build
from .server import HUB, Server

CONNECTIONS = 64
SECONDS = 6
# For an answer on a machine that others keep busy.
TIMEOUT_SECONDS = 10
# Written in turn: the first round creates most of them, later ones change their tags.
REGISTRATIONS = 100_000
# As long as the hub's answer to an upsert, within a few bytes.
ANSWER = "x" * 1100

WRK_SCRIPT = """
local fields = {["Authorization"] = "%(signature)s", ["Content-Type"] = "application/atom+xml;type=entry;charset=utf-8"}
local head = '<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">'
    .. '<AppleRegistrationDescription xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">'
local count = %(first)d
request = function()
    count = count + 1
    local device = count %% %(registrations)d
    local body = head .. string.format(
        "<Tags>news,lang:en,username:u%%d,round:%%d</Tags><DeviceToken>%%064x</DeviceToken>", device, count, device)
        .. "</AppleRegistrationDescription></content></entry>"
    return wrk.format("PUT", "/%(hub)s/registrations/bench-" .. device .. "?api-version=2020-06", fields, body)
end
"""

NGINX = """
worker_processes 1;
daemon off;
pid %(folder)s/nginx.pid;
error_log %(folder)s/error.log crit;
events { worker_connections 1024; }
http {
    access_log off;
    sendfile on;
    tcp_nopush on;
    client_body_temp_path %(folder)s/body;
    proxy_temp_path %(folder)s/proxy;
    fastcgi_temp_path %(folder)s/fastcgi;
    uwsgi_temp_path %(folder)s/uwsgi;
    scgi_temp_path %(folder)s/scgi;
    keepalive_requests 1000000000;
    server { listen 127.0.0.1:%(port)d; root %(www)s; }
}
"""


@dataclass
class Storm:
    requests: int
    rate: float
    # Milliseconds.
    p50: float
    p99: float
    # Microseconds of the serving side.
    cpu_each: float

    def __str__(self):
        return f"{self.rate / 1000:8.1f} k/s {self.cpu_each:7.2f} us, p99 {self.p99:.1f} ms"


class Upserts:
    def __init__(self, serve=Server, hub=HUB):
        """serve: makes what answers, from a data directory."""
        self._serve, self._hub = serve, hub
        self._written = 0

    def __enter__(self):
        self._scratch = tempfile.TemporaryDirectory(dir=build.WORK)
        self._folder = os.path.join(self._scratch.name, "data")
        Server.prepare(self._folder)
        self._server = self._serve(self._folder)
        self._server.start()
        return self

    def __exit__(self, *_):
        self._server.stop()
        self._scratch.cleanup()

    def run(self):
        script = os.path.join(self._folder, "upserts.lua")
        values = {
            "signature": self._server.signature(self._hub), "hub": self._hub, "registrations": REGISTRATIONS,
            "first": self._written,
        }
        with open(script, "w") as file:
            file.write(WRK_SCRIPT % values)
        before = self._server.cpu_seconds()
        storm = wrk(f"http://127.0.0.1:{self._server.port}/", "--script", script)
        storm.cpu_each = (self._server.cpu_seconds() - before) / storm.requests * 1e6
        self._written += storm.requests
        return storm

    def check(self):
        """Kills what answered, and asks a server that succeeds it for what was answered with success."""
        self._server.stop(signal.SIGKILL)
        self._server = self._successor()
        self._server.start()
        # The last ones may have been under way when the storm ended.
        known = min(self._written - CONNECTIONS, REGISTRATIONS)
        # The first request is one that wrk looks at and does not make.
        for device in random.sample(range(2, known), min(500, known - 2)):
            _, entry = self._server.call("GET", f"/{self._hub}/registrations/bench-{device}")
            if f"username:u{device}," not in entry:
                sys.exit(f"registration bench-{device} is not what was written")
        return known

    def _successor(self):
        return Server(self._server.data)


class Nginx:
    """Serves a folder; one answer of an upsert's length where none is given."""

    def __init__(self, www=None):
        self._www = www
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self.address = f"http://127.0.0.1:{self._port}"

    def __enter__(self):
        self._folder = tempfile.mkdtemp(dir=build.WORK)
        www = self._www or os.path.join(self._folder, "www")
        os.makedirs(www, exist_ok=True)
        with open(os.path.join(www, "answer.xml"), "w") as file:
            file.write(ANSWER)
        # Where it begins as root its worker is somebody else, who must be able to read.
        for folder in (build.WORK, self._folder, www):
            os.chmod(folder, 0o755)
        configuration = os.path.join(self._folder, "nginx.conf")
        with open(configuration, "w") as file:
            file.write(textwrap.dedent(NGINX) % {"folder": self._folder, "port": self._port, "www": www})
        command = ["nginx", "-c", configuration, "-e", os.path.join(self._folder, "error.log")]
        self._process = subprocess.Popen(build.on_core(build.MEASURED_CORE, command))
        self._url = self.address + "/answer.xml"
        waiting = ["curl", "--silent", "--fail", "--retry", "20", "--retry-connrefused", "--retry-delay", "1", self._url]
        subprocess.run(waiting, check=True, stdout=subprocess.DEVNULL)
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait()
        shutil.rmtree(self._folder)

    def run(self):
        before = self._cpu_seconds()
        storm = wrk(self._url)
        storm.cpu_each = (self._cpu_seconds() - before) / storm.requests * 1e6
        return storm

    def _cpu_seconds(self):
        workers = subprocess.run(
            ["pgrep", "--parent", str(self._process.pid)], check=True, capture_output=True, text=True).stdout.split()
        nanoseconds = 0
        for worker in workers:
            with open(f"/proc/{worker}/schedstat") as file:
                nanoseconds += int(file.read().split()[0])
        return nanoseconds / 1e9


def wrk(url, *more):
    """One storm; every answer must be a success."""
    command = ["wrk", "--threads", "1", "--connections", str(CONNECTIONS), "--duration", f"{SECONDS}s", "--latency"]
    command += ["--timeout", f"{TIMEOUT_SECONDS}s"]
    output = subprocess.run(
        build.on_core(build.SINK_CORE, [*command, *more, url]), check=True, capture_output=True, text=True).stdout
    failures = re.search(r"Non-2xx or 3xx responses: (\d+)|Socket errors: .*", output)
    if failures:
        sys.exit(f"wrk: {failures[0]}")
    requests, seconds = re.search(r"(\d+) requests in ([\d.]+)s", output).groups()
    return Storm(
        int(requests), int(requests) / float(seconds), milliseconds("50%", output), milliseconds("99%", output), 0)


def milliseconds(share, output):
    number, unit = re.search(rf"{share}\s+([\d.]+)(us|ms|s)", output).groups()
    return float(number) * {"us": 1e-3, "ms": 1, "s": 1000}[unit]
