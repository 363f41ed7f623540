"""A real server with one hub, and the REST calls that a measurement makes of it."""
import base64
import hashlib
import hmac
import http.client
import os
import re
import signal
import subprocess
import sys
import time
import urllib.parse

from . import build

HUB = "bench"


class Server:
    """Runs on the measured core, over a data directory that `prepare` has made."""

    binary = build.MARTLET
    cores = build.MEASURED_CORE

    def __init__(self, data, *options, under=()):
        """under: the command that runs it and watches it."""
        self.data, self._options, self._under = data, options, under
        with open(os.path.join(data, "connection-string")) as file:
            self._rule = rule(file.read())

    @staticmethod
    def prepare(data):
        """Makes a data directory with the hub, and keeps its connection string there."""
        line = create_hub(HUB, data)
        with open(os.path.join(data, "connection-string"), "w") as file:
            file.write(line)

    def start(self):
        command = [*self._under, self.binary, "serve", "--data", self.data, "--listen", "127.0.0.1:0", "--loops", "1"]
        # What it can do is measured, and not what it lets one key do.
        command += ["--request-rate", "1000000", "--user-request-rate", "1000000", "--backlog-limit", "10000000"]
        command += self._options
        self._process = subprocess.Popen(
            build.on_core(self.cores, command), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.port = int(re.search(r"http://127.0.0.1:(\d+)", self._process.stdout.readline())[1])
        self._connection = http.client.HTTPConnection("127.0.0.1", self.port)

    def start_seconds(self):
        """How long it takes from the process's beginning until it says that it is ready."""
        begin = time.monotonic()
        self.start()
        while True:
            self._connection.request("GET", "/health/ready")
            answer = self._connection.getresponse()
            answer.read()
            if answer.status == 200:
                return time.monotonic() - begin
            time.sleep(0.001)

    def stop(self, how=signal.SIGTERM):
        self._process.send_signal(how)
        self._process.wait()

    @property
    def pid(self):
        return self._process.pid

    def cpu_seconds(self):
        """Of all threads, by the scheduler's own clock; those of a running server do not end."""
        folder = f"/proc/{self._process.pid}/task"
        nanoseconds = 0
        for thread in os.listdir(folder):
            with open(f"{folder}/{thread}/schedstat") as file:
                nanoseconds += int(file.read().split()[0])
        return nanoseconds / 1e9

    def private_memory(self):
        """Megabytes that are the process's own: neither files nor what others have too."""
        with open(f"/proc/{self._process.pid}/status") as file:
            return int(re.search(r"RssAnon:\s+(\d+) kB", file.read())[1]) / 1024

    def signature(self, hub=HUB):
        name, key = self.rule(hub)
        resource = urllib.parse.quote(f"https://127.0.0.1:{self.port}/", safe="").lower()
        expiry = int(time.time()) + 24 * 3600
        digest = hmac.new(key.encode(), f"{resource}\n{expiry}".encode(), hashlib.sha256).digest()
        signed = urllib.parse.quote(base64.b64encode(digest), safe="")
        return f"SharedAccessSignature sr={resource}&sig={signed}&se={expiry}&skn={name}"

    def rule(self, hub):
        """Name and key of a rule that may do everything in the hub."""
        return self._rule

    def call(self, method, target, fields=(), body=None):
        try:
            answer = self._answer(method, target, fields, body)
        except http.client.RemoteDisconnected:
            # The server has closed a connection without requests: nobody has read this one.
            answer = self._answer(method, target, fields, body)
        content = answer.read().decode()
        if answer.status // 100 != 2:
            sys.exit(f"the hub answered {answer.status} to {method} {target}: {content}")
        return answer.headers, content

    def _answer(self, method, target, fields, body):
        signature = self.signature(target.split("/")[1])
        self._connection.request(
            method, f"{target}?api-version=2020-06", body, {"Authorization": signature, **dict(fields)})
        return self._connection.getresponse()

    def get(self, target):
        """The body that is answered to a request whose query is its own."""
        self._connection.request("GET", target, headers={"Authorization": self.signature()})
        answer = self._connection.getresponse()
        content = answer.read().decode()
        if answer.status != 200:
            sys.exit(f"the hub answered {answer.status} to {target}: {content}")
        return content

    def upload(self, url, content):
        """Puts a blob to a signed URL of this server."""
        self._connection.request("PUT", url.partition(f":{self.port}")[2], content, {"x-ms-blob-type": "BlockBlob"})
        answer = self._connection.getresponse()
        answer.read()
        if answer.status != 201:
            sys.exit(f"a blob was answered {answer.status}")


def create_hub(name, data):
    """The line with its connection string for everything."""
    printed = subprocess.run(
        [build.MARTLET, "hub", "create", name, "--data", data], check=True, capture_output=True, text=True).stdout
    return next(line for line in printed.splitlines() if "Full" in line)


def rule(line):
    """Name and key, from a line with a connection string."""
    parts = dict(part.split("=", 1) for part in line.strip().split(" ")[-1].split(";"))
    return parts["SharedAccessKeyName"], parts["SharedAccessKey"]
