"""A real server with a hub of registered devices, sending to the sink."""
import contextlib
import json
import os
import re
import subprocess
import sys
import time

from . import build, devices
from .load import PAYLOAD
from .prepared import copy
from .server import HUB, Server

POLL_SECONDS = 0.002
POLLS_OF_A_LOOK_AT_THE_MEMORY = 10
PATIENCE_SECONDS = 900
# Everybody but a tenth; and others, who are sent to before anything is measured.
AUDIENCE, OTHERS = "a && !b", "c"
TITLE, TEXT = "News", "A message of usual length for everybody"
# What is sent, by the name of a measurement: the format and the body. A message shows what the native payload shows.
FORMATS = {
    "native": ("apple", PAYLOAD), "templates": ("template", devices.PROPERTIES),
    "a message": ("message", json.dumps({"title": TITLE, "text": TEXT, "sound": "default"})),
    "a message in five languages": ("message", json.dumps({
        "title": TITLE, "sound": "default", "language": "en",
        "text": {language: f"{TEXT}, {language}" for language in devices.LANGUAGES}})),
    "a message with a variable": ("message", json.dumps({
        "title": TITLE, "text": f"$(name), {TEXT}", "sound": "default", "variables": {"name": "Hello"}})),
}


class Hub:
    """Serves a copy of prepared data."""

    def __init__(self, sink, server, kind, count, poll_seconds=POLL_SECONDS):
        """poll_seconds: how often the telemetry is asked for, once all pushes have arrived."""
        self._sink, self.server, self._count, self._poll_seconds = sink, server, count, poll_seconds
        self._format, self._body = FORMATS[kind]
        self.audience = count - count // 10
        # Megabytes, the highest that was seen.
        self.peak_memory = 0

    @staticmethod
    @contextlib.contextmanager
    def serving(sink, kind, folder, count, serve=Server, check=lambda data: None):
        """serve: makes what answers, from a data directory; check: gets that directory when what answered has ended."""
        with copy(folder) as data:
            set_credential(data, sink.port)
            server = serve(data)
            server.start()
            try:
                yield Hub(sink, server, kind, count)
            finally:
                server.stop()
            check(data)

    def warm_up(self):
        """Connections are open, and what a first send reads is in memory."""
        self._send(OTHERS, self._count // 100, 0)

    def broadcast(self, times=1, failed=0):
        """From POST to the moment when telemetry says Completed, one after another; so many pushes of each fail."""
        with self._sink.expecting(self.audience * times, failed * times) as result:
            cpu, start = self.server.cpu_seconds(), time.monotonic()
            for _ in range(times):
                self._send(AUDIENCE, self.audience, failed)
            result.seconds, result.cpu = time.monotonic() - start, self.server.cpu_seconds() - cpu
        return result.sample

    def _send(self, expression, audience, failed):
        """Asks the sink until all pushes are there, which costs the hub nothing, and only then the telemetry."""
        wanted = self._sink.totals().answered + audience
        fields = {
            "ServiceBusNotification-Format": self._format, "ServiceBusNotification-Tags": expression,
            "Content-Type": "application/json;charset=utf-8",
        }
        headers, _ = self.server.call("POST", f"/{HUB}/messages", fields, self._body)
        message = re.search(r"/messages/([^?]+)", headers["Location"])[1]
        deadline, polls, telemetry = time.monotonic() + PATIENCE_SECONDS, 0, ""
        while "<State>Completed</State>" not in telemetry:
            if time.monotonic() > deadline:
                sys.exit(f"Benchmarks: a broadcast was not complete after {PATIENCE_SECONDS} s: {telemetry}")
            time.sleep(POLL_SECONDS)
            if polls % POLLS_OF_A_LOOK_AT_THE_MEMORY == 0:
                self.peak_memory = max(self.peak_memory, self.server.private_memory())
            polls += 1
            if self._sink.totals().answered >= wanted:
                time.sleep(self._poll_seconds - POLL_SECONDS)
                _, telemetry = self.server.call("GET", f"/{HUB}/messages/{message}")
        outcomes = dict(re.findall(r"<Name>(\w+)</Name><Count>(\d+)</Count>", telemetry))
        if int(outcomes.get("Success", 0)) != audience - failed or int(outcomes.get("ExpiredChannel", 0)) != failed:
            sys.exit(f"Benchmarks: {failed} of {audience} pushes failed, but the hub has recorded {outcomes}")


def set_credential(data, port, hub=HUB):
    credential = [
        "--key-file", os.path.join(data, "key.p8"), "--key-id", "KEY1234567", "--team-id", "TEAM123456",
        "--topic", "com.example.app", "--endpoint", f"https://127.0.0.1:{port}", "--ca-file", build.CERTIFICATE,
    ]
    subprocess.run(
        [build.MARTLET, "hub", "credential", "set", hub, "apns", "--data", data, *credential],
        check=True, stdout=subprocess.DEVNULL)
