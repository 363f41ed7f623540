"""A hub whose devices are counted, and its database as the sqlite3 shell sees it."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
from xml.sax.saxutils import escape

from . import build
from .server import HUB, Server

EXPRESSIONS = ["(a && !b) || c", "", "a && b", "c"]
ATOM = "http://www.w3.org/2005/Atom"
SERVICE = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
# Goes through every row and looks into it; a bare count(*) would only look at how many rows each page has.
SCAN = "SELECT max(length(tags)) FROM registrations NOT INDEXED"


def tags(device):
    return ["a"] + (["b"] if device % 10 == 0 else []) + (["c"] if device % 100 == 0 else [])


class CountedHub:
    """Devices are imported once; later runs begin with a copy of that data."""

    def __init__(self, devices):
        self._devices = devices

    def __enter__(self):
        prepared = os.path.join(build.WORK, f"audience-{self._devices}")
        if not os.path.exists(prepared):
            self._prepare(prepared)
        self._scratch = tempfile.TemporaryDirectory(dir=build.WORK)
        data = os.path.join(self._scratch.name, "data")
        shutil.copytree(prepared, data, ignore=shutil.ignore_patterns("*.sock"))
        self._database = os.path.join(data, "martlet.db")
        self._server = Server(data)
        self._server.start()
        return self

    def __exit__(self, *_):
        self._server.stop()
        self._scratch.cleanup()

    def scan(self):
        """Seconds, as the shell measures them."""
        # Through a mapping and on the same core as the server, whose readers have one too.
        script = f"PRAGMA mmap_size=1073741824;\n.timer on\n{SCAN};\n"
        shell = build.on_core(build.MEASURED_CORE, ["sqlite3", "-readonly", self._database])
        said = subprocess.run(shell, input=script, check=True, capture_output=True, text=True).stdout
        return float(re.search(r"real ([0-9.]+)", said)[1])

    def count(self, expression):
        """Seconds from the request to the answer."""
        target = f"/{HUB}/audience?" + (f"tags={urllib.parse.quote(expression)}" if expression else "everybody")
        start = time.monotonic()
        said = json.loads(self._server.get(target))
        seconds = time.monotonic() - start
        wanted = sum(matches(expression, set(tags(device))) for device in range(200)) * self._devices // 200
        if said["devices"] != wanted or not said["isOfOneMoment"]:
            sys.exit(f"Benchmarks/audience: {expression} was counted as {said}, not {wanted}")
        return seconds

    # MARK: data

    def _prepare(self, prepared):
        print(f"importing {self._devices} devices once", file=sys.stderr)
        unfinished = prepared + ".unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        Server.prepare(unfinished)
        server = Server(unfinished)
        server.start()
        try:
            self._import(server, unfinished)
        finally:
            server.stop()
        os.rename(unfinished, prepared)

    def _import(self, server, data):
        made = subprocess.run(
            [build.MARTLET, "container", "create", "devices", "--data", data],
            check=True, capture_output=True, text=True).stdout
        container = re.sub(r"//[^/]+/", f"//127.0.0.1:{server.port}/", re.search(r"http\S+", made)[0])
        source = container.replace("?", "/in.txt?", 1)
        server.upload(source, self._lines())
        body = (
            f'<entry xmlns="{ATOM}"><content type="application/xml"><NotificationHubJob xmlns="{SERVICE}">'
            f"<Type>ImportCreateRegistrations</Type><OutputContainerUri>{escape(container)}</OutputContainerUri>"
            f"<ImportFileUri>{escape(source)}</ImportFileUri></NotificationHubJob></content></entry>")
        _, answer = server.call("POST", f"/{HUB}/jobs", {"Content-Type": "application/atom+xml"}, body)
        job = re.search(r"<JobId>([^<]+)", answer)[1]
        while "<Status>Completed" not in answer:
            if "<Status>Failed" in answer:
                sys.exit(f"Benchmarks/audience: the import failed: {answer}")
            time.sleep(0.5)
            _, answer = server.call("GET", f"/{HUB}/jobs/{job}")

    def _lines(self):
        head = f'<AppleRegistrationDescription xmlns="{SERVICE}">'
        return "".join(
            f"{head}<Tags>{','.join(tags(device))}</Tags><DeviceToken>{device:064x}</DeviceToken>"
            "</AppleRegistrationDescription>\n"
            for device in range(self._devices)).encode()


def matches(expression, tags):
    """By Python's own operators."""
    if not expression:
        return True
    python = expression.replace("&&", " and ").replace("||", " or ").replace("!", " not ")
    return bool(eval(python, {}, {name: name in tags for name in "abc"}))  # one of EXPRESSIONS
