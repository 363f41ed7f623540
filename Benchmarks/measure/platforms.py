"""Each platform's translator against h2load, which sends one of its requests over and over."""
import os
import re
import subprocess
import sys

from . import build
from .load import h2load
from .sample import Sample

# What a measurement sends: enough to last a second or more.
PUSHES = {"apns": 400_000, "fcmv1": 200_000, "wns": 60_000, "mpns": 60_000, "browser": 40_000, "adm": 200_000}
WARM_UP = 20_000
# What h2load sends, so that connecting counts for little.
REQUESTS = {"h2": 200_000, "http/1.1": 60_000}
# Connections and streams that h2load may have: the best that Benchmarks/run has found here, and as many connections as
# Martlet makes where one has one request at a time.
SHAPES = {"h2": (4, 100), "http/1.1": (32, 1)}
ENCRYPTED_SECONDS = 2
MESSAGE = '{"title":"News","body":"A message of usual length for everybody, with a few words more"}'


class Platform:
    def __init__(self, name, sink):
        self._name, self._sink, self._pushes = name, sink, PUSHES[name]
        self._body = os.path.join(build.WORK, f"{name}.body")
        request = [build.LOAD, "request", name, str(sink.port), build.CERTIFICATE, self._body]
        output = subprocess.run(request, check=True, capture_output=True, text=True).stdout
        self._version, self._path, *self._fields = output.splitlines()

    def yardstick(self):
        connections, streams = SHAPES[self._version]
        options = ["-c", str(connections), "-m", str(streams), "-d", self._body]
        if self._version == "http/1.1":
            options.append("--h1")
        target = f"https://127.0.0.1:{self._sink.port}{self._path}"
        return h2load(self._sink, REQUESTS[self._version], [*options, target], self._fields)

    def pushes(self, loops=1, cores=build.MEASURED_CORE):
        command = [build.LOAD, "platform", self._name, str(self._sink.port), build.CERTIFICATE, str(self._pushes)]
        command.append(str(loops))
        with self._sink.expecting(self._pushes + WARM_UP) as result:
            output = subprocess.run(build.on_core(cores, command), check=True, capture_output=True, text=True)
            done, seconds, cpu = output.stdout.split()
            if int(done) != self._pushes:
                sys.exit(f"Benchmarks/platforms: {self._pushes} pushes were made, but {done} read as accepted")
            result.counted, result.seconds, result.cpu = int(done), float(seconds), float(cpu)
        return result.sample


def agreements():
    """Derivations by OpenSSL itself, by the second on the processor, as it counts."""
    command = ["openssl", "speed", "-seconds", str(ENCRYPTED_SECONDS), "ecdhp256"]
    output = subprocess.run(
        build.on_core(build.MEASURED_CORE, command), check=True, capture_output=True, text=True)
    count, seconds = re.search(r"(\d+) 256-bits ECDH ops in ([\d.]+)s", output.stderr).groups()
    return Sample(int(count), float(seconds), float(seconds), 0)


def agreements_everywhere():
    """Derivations on all cores at once, by the wall clock."""
    command = ["openssl", "speed", "-elapsed", "-seconds", str(ENCRYPTED_SECONDS), "-multi", str(os.cpu_count())]
    command.append("ecdhp256")
    output = subprocess.run(command, check=True, capture_output=True, text=True)
    rate = float(re.search(r"256 bits ecdh \(nistp256\)\s+[\d.]+s\s+([\d.]+)", output.stdout)[1])
    count = int(rate * ENCRYPTED_SECONDS)
    return Sample(count, ENCRYPTED_SECONDS, ENCRYPTED_SECONDS * os.cpu_count(), 0)


def encryptions():
    """By the second on the processor too."""
    command = [build.LOAD, "encryptions", str(ENCRYPTED_SECONDS), MESSAGE]
    output = subprocess.run(
        build.on_core(build.MEASURED_CORE, command), check=True, capture_output=True, text=True)
    done, _, cpu = output.stdout.split()
    return Sample(int(done), float(cpu), float(cpu), 0)
