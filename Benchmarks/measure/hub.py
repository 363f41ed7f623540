"""A real server with a hub of registered devices, sending to the sink."""
import base64
import hashlib
import hmac
import http.client
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse

from . import build
from .load import PAYLOAD

DEVICES = 100_000
# Broadcasts in one measurement: one alone is over too soon to be measured well.
BROADCASTS = 5
HUB = "bench"
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
        self._start(data)
        return self

    def __exit__(self, *_):
        self._stop()
        self._scratch.cleanup()

    def broadcast(self):
        """From POST to the moment when telemetry says Completed, one after another, with everybody as the audience."""
        self._send_to_all()  # connections are open, and what a first send reads is in memory
        with self._sink.expecting(DEVICES * BROADCASTS) as result:
            cpu, start = self._cpu_seconds(), time.monotonic()
            for _ in range(BROADCASTS):
                self._send_to_all()
            result.seconds, result.cpu = time.monotonic() - start, self._cpu_seconds() - cpu
        return result.sample

    # MARK: data

    def _prepare(self, prepared):
        print(f"registering {DEVICES} devices once", file=sys.stderr)
        unfinished = prepared + ".unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        strings = subprocess.run(
            [build.MARTLET, "hub", "create", HUB, "--data", unfinished], check=True, capture_output=True, text=True)
        with open(os.path.join(unfinished, "connection-string"), "w") as file:
            file.write(next(line for line in strings.stdout.splitlines() if "Full" in line))
        key = ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
        subprocess.run([*key, "-out", os.path.join(unfinished, "key.p8")], check=True, stderr=subprocess.DEVNULL)
        self._start(unfinished)
        try:
            load = [build.LOAD, "registrations", str(self._port), HUB, str(DEVICES), self._signature()]
            output = subprocess.run(load, check=True, capture_output=True, text=True).stdout.split()
        finally:
            self._stop()
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

    # MARK: process

    def _start(self, data):
        command = [build.MARTLET, "serve", "--data", data, "--listen", "127.0.0.1:0", "--loops", "1"]
        self._process = subprocess.Popen(
            build.on_core(build.MEASURED_CORE, command), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self._port = int(re.search(r"http://127.0.0.1:(\d+)", self._process.stdout.readline())[1])
        self._connection = http.client.HTTPConnection("127.0.0.1", self._port)
        with open(os.path.join(data, "connection-string")) as file:
            parts = dict(part.split("=", 1) for part in file.read().strip().split(" ")[-1].split(";"))
        self._rule, self._rule_key = parts["SharedAccessKeyName"], parts["SharedAccessKey"]

    def _stop(self):
        self._process.send_signal(signal.SIGTERM)
        self._process.wait()

    def _cpu_seconds(self):
        """Of all threads, by the scheduler's own clock; those of a running server do not end."""
        folder = f"/proc/{self._process.pid}/task"
        nanoseconds = 0
        for thread in os.listdir(folder):
            with open(f"{folder}/{thread}/schedstat") as file:
                nanoseconds += int(file.read().split()[0])
        return nanoseconds / 1e9

    # MARK: REST

    def _signature(self):
        resource = urllib.parse.quote(f"https://127.0.0.1:{self._port}/", safe="").lower()
        expiry = int(time.time()) + 24 * 3600
        digest = hmac.new(self._rule_key.encode(), f"{resource}\n{expiry}".encode(), hashlib.sha256).digest()
        signed = urllib.parse.quote(base64.b64encode(digest), safe="")
        return f"SharedAccessSignature sr={resource}&sig={signed}&se={expiry}&skn={self._rule}"

    def _call(self, method, target, fields=(), body=None):
        self._connection.request(
            method, f"{target}?api-version=2020-06", body, {"Authorization": self._signature(), **dict(fields)})
        answer = self._connection.getresponse()
        content = answer.read().decode()
        if answer.status // 100 != 2:
            sys.exit(f"Benchmarks/run: the hub answered {answer.status} to {method} {target}: {content}")
        return answer.headers, content

    def _send_to_all(self):
        """Asks the sink until all pushes are there, which costs the hub nothing, and only then the telemetry."""
        wanted = self._sink.totals()[0] + DEVICES
        fields = {"ServiceBusNotification-Format": "apple", "Content-Type": "application/json;charset=utf-8"}
        headers, _ = self._call("POST", f"/{HUB}/messages", fields, PAYLOAD)
        message = re.search(r"/messages/([^?]+)", headers["Location"])[1]
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
            if self._sink.totals()[0] < wanted:
                continue
            _, telemetry = self._call("GET", f"/{HUB}/messages/{message}")
            if "<State>Completed</State>" in telemetry:
                return
        sys.exit(f"Benchmarks/run: a broadcast was not complete after {PATIENCE_SECONDS} s: {telemetry}")
