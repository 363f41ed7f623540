"""A real server with a hub of registered devices, sending to the sink."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from . import build
from .load import PAYLOAD
from .server import HUB, Server

DEVICES = 100_000
# Broadcasts in one measurement: one alone is over too soon to be measured well.
BROADCASTS = 5
POLL_SECONDS = 0.002
PATIENCE_SECONDS = 60


class Hub:
    """Devices are registered once, through the REST API; later runs begin with a copy of that data."""

    def __init__(self, sink):
        self._sink = sink

    def __enter__(self):
        prepared = os.path.join(build.WORK, f"hub-{DEVICES}")
        if not os.path.exists(prepared):
            self._prepare(prepared)
        self._scratch = tempfile.TemporaryDirectory(dir=build.WORK)
        data = os.path.join(self._scratch.name, "data")
        shutil.copytree(prepared, data, ignore=shutil.ignore_patterns("*.sock"))
        self._set_credential(data)
        self._server = Server(data)
        self._server.start()
        return self

    def __exit__(self, *_):
        self._server.stop()
        self._scratch.cleanup()

    def broadcast(self):
        """From POST to the moment when telemetry says Completed, one after another, with everybody as the audience."""
        self._send_to_all()  # connections are open, and what a first send reads is in memory
        with self._sink.expecting(DEVICES * BROADCASTS) as result:
            cpu, start = self._server.cpu_seconds(), time.monotonic()
            for _ in range(BROADCASTS):
                self._send_to_all()
            result.seconds, result.cpu = time.monotonic() - start, self._server.cpu_seconds() - cpu
        return result.sample

    # MARK: data

    def _prepare(self, prepared):
        print(f"registering {DEVICES} devices once", file=sys.stderr)
        unfinished = prepared + ".unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        Server.prepare(unfinished)
        key = ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
        subprocess.run([*key, "-out", os.path.join(unfinished, "key.p8")], check=True, stderr=subprocess.DEVNULL)
        server = Server(unfinished)
        server.start()
        try:
            load = [build.LOAD, "registrations", str(server.port), HUB, str(DEVICES), server.signature()]
            output = subprocess.run(load, check=True, capture_output=True, text=True).stdout.split()
        finally:
            server.stop()
        if int(output[0]) != DEVICES:
            sys.exit(f"Benchmarks/run: only {output[0]} of {DEVICES} devices could be registered")
        os.rename(unfinished, prepared)

    def _set_credential(self, data):
        credential = [
            "--key-file", os.path.join(data, "key.p8"), "--key-id", "KEY1234567", "--team-id", "TEAM123456",
            "--topic", "com.example.app", "--endpoint", f"https://127.0.0.1:{self._sink.port}",
            "--ca-file", build.CERTIFICATE,
        ]
        subprocess.run(
            [build.MARTLET, "hub", "credential", "set", HUB, "apns", "--data", data, *credential],
            check=True, stdout=subprocess.DEVNULL)

    # MARK: REST

    def _send_to_all(self):
        """Asks the sink until all pushes are there, which costs the hub nothing, and only then the telemetry."""
        wanted = self._sink.totals()[0] + DEVICES
        fields = {"ServiceBusNotification-Format": "apple", "Content-Type": "application/json;charset=utf-8"}
        headers, _ = self._server.call("POST", f"/{HUB}/messages", fields, PAYLOAD)
        message = re.search(r"/messages/([^?]+)", headers["Location"])[1]
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
            if self._sink.totals()[0] < wanted:
                continue
            _, telemetry = self._server.call("GET", f"/{HUB}/messages/{message}")
            if "<State>Completed</State>" in telemetry:
                return
        sys.exit(f"Benchmarks/run: a broadcast was not complete after {PATIENCE_SECONDS} s: {telemetry}")
