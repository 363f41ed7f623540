"""A hub whose devices are counted, and its database as the sqlite3 shell sees it."""
import json
import os
import re
import subprocess
import sys
import time
import urllib.parse

from . import build
from .devices import tags
from .prepared import copy, prepared
from .server import HUB, Server

EXPRESSIONS = ["(a && !b) || c", "", "a && b", "c"]
# Goes through every row and looks into it; a bare count(*) would only look at how many rows each page has.
SCAN = "SELECT max(length(tags)) FROM registrations NOT INDEXED"


class CountedHub:
    """Serves a copy of prepared data."""

    def __init__(self, devices):
        self._devices = devices

    def __enter__(self):
        self._copy = copy(prepared("native", self._devices))
        data = self._copy.__enter__()
        self._database = os.path.join(data, "martlet.db")
        self._server = Server(data)
        self._server.start()
        return self

    def __exit__(self, *_):
        self._server.stop()
        self._copy.__exit__(None, None, None)

    def scan(self):
        """Seconds, and those of the processor, as the shell measures them."""
        # Through a mapping and on the same core as the server, whose readers have one too.
        script = f"PRAGMA mmap_size=1073741824;\n.timer on\n{SCAN};\n"
        shell = build.on_core(build.MEASURED_CORE, ["sqlite3", "-readonly", self._database])
        said = subprocess.run(shell, input=script, check=True, capture_output=True, text=True).stdout
        real, user, system = map(float, re.search(r"real ([0-9.]+) user ([0-9.]+) sys ([0-9.]+)", said).groups())
        return real, user + system

    def count(self, expression):
        """Seconds from the request to the answer, and those of the server's processor."""
        target = f"/{HUB}/audience?" + (f"tags={urllib.parse.quote(expression)}" if expression else "everybody")
        cpu, start = self._server.cpu_seconds(), time.monotonic()
        said = json.loads(self._server.get(target))
        seconds, cpu = time.monotonic() - start, self._server.cpu_seconds() - cpu
        wanted = sum(matches(expression, set(tags(device))) for device in range(200)) * self._devices // 200
        if said["devices"] != wanted or not said["isOfOneMoment"]:
            sys.exit(f"Benchmarks/audience: {expression} was counted as {said}, not {wanted}")
        return seconds, cpu


def matches(expression, tags):
    """By Python's own operators."""
    if not expression:
        return True
    python = expression.replace("&&", " and ").replace("||", " or ").replace("!", " not ")
    return bool(eval(python, {}, {name: name in tags for name in "abc"}))  # one of EXPRESSIONS
