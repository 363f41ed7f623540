"""What loads the sink directly: h2load, and the batch API."""
import os
import re
import resource
import subprocess

from . import build

PUSHES = 1_000_000
REQUESTS = 400_000
# As long as Apple's: a header, claims and an ES256 signature.
TOKEN = "eyJhbGciOiJFUzI1NiIsImtpZCI6IktFWTEyMzQ1NjcifQ.eyJpc3MiOiJURUFNMTIzNDU2IiwiaWF0IjoxNzYzNzIwMDAwfQ." + "b" * 86
PAYLOAD = '{"aps":{"alert":{"title":"News","body":"A message of usual length for everybody"},"sound":"default"}}'
FIELDS = {
    "authorization": f"bearer {TOKEN}", "apns-topic": "com.example.app", "apns-push-type": "alert",
    "apns-priority": "10", "apns-expiration": "1893456000", "apns-id": "01234567-89ab-8def-8123-0123456789ab",
}


class Yardstick:
    """h2load as it does best here: connections and streams are tried once, then kept.

    It sends one device and one id over and over, so it has less to do than what is compared with it.
    """

    SHAPES = [(4, 100), (4, 200), (8, 100), (8, 200), (4, 500)]

    def __init__(self, sink):
        self._sink = sink
        self._payload = os.path.join(build.WORK, "payload.json")
        with open(self._payload, "w") as file:
            file.write(PAYLOAD)
        self.shape = max(self.SHAPES, key=lambda shape: self._run(*shape).rate)

    def run(self):
        return self._run(*self.shape)

    def _run(self, connections, streams):
        target = f"https://127.0.0.1:{self._sink.port}/3/device/{'0123456789abcdef' * 4}"
        fields = [f"{name}: {value}" for name, value in FIELDS.items()]
        options = ["-c", str(connections), "-m", str(streams), "-d", self._payload]
        return h2load(self._sink, REQUESTS, [*options, target], fields)


def h2load(sink, requests, options, fields):
    command = ["h2load", "-n", str(requests), *options]
    for field in fields:
        command += ["-H", field]
    with sink.expecting(requests) as result:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        output = subprocess.run(
            build.on_core(build.MEASURED_CORE, command), check=True, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        number, unit = re.search(r"finished in ([\d.]+)(us|ms|s)", output.stdout).groups()
        result.seconds = float(number) * {"us": 1e-6, "ms": 1e-3, "s": 1}[unit]
        result.cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return result.sample


def batch_pushes(sink, lanes=4, loops=1, cores=build.MEASURED_CORE):
    warm_up = 2 * lanes * 5000
    command = [build.LOAD, "pushes", str(sink.port), build.CERTIFICATE, str(PUSHES), TOKEN, PAYLOAD]
    command += [str(lanes), str(loops)]
    with sink.expecting(PUSHES + warm_up) as result:
        output = subprocess.run(build.on_core(cores, command), check=True, capture_output=True, text=True)
        done, seconds, cpu = output.stdout.split()
        result.counted, result.seconds, result.cpu = int(done), float(seconds), float(cpu)
    return result.sample
