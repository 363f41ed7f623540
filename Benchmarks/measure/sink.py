"""The sink as a process."""
import contextlib
import subprocess
import sys
from dataclasses import dataclass

from . import build
from .sample import Sample


class Sink:
    def __enter__(self):
        command = build.on_core(build.SINK_CORE, [build.SINK, build.CERTIFICATE, build.KEY])
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self._process.stdout.readline().split()[1])
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()

    def _say(self, line):
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()

    def totals(self):
        accepted, refused, failed, cpu = self._say("totals").split()
        return Totals(int(accepted), int(refused), int(failed), float(cpu))

    def limit_streams(self, number):
        """How many requests a new connection may have open."""
        self._say(f"streams {number}")

    @contextlib.contextmanager
    def delayed(self, milliseconds):
        """What the sink writes meanwhile takes so long to arrive."""
        self._say(f"delay {milliseconds}")
        yield
        self._say("delay 0")

    @contextlib.contextmanager
    def failing(self, percent, moment):
        """So many devices are answered meanwhile that they are unregistered since a moment, in Unix milliseconds."""
        self._say(f"failing {percent} {moment}")
        yield
        self._say("failing 0 0")

    def latencies(self, goes_on):
        """Count, median, 99th percentile and highest since the last call, in seconds."""
        count, *seconds = self._say(f"latencies {'on' if goes_on else 'off'}").split()
        return int(count), *map(float, seconds)

    @contextlib.contextmanager
    def expecting(self, requests, failed=0):
        """Yields where the measurer puts (seconds, cpu); becomes the sample, once the sink has counted the same."""
        before = self.totals()
        result = Result()
        yield result
        now = self.totals()
        counts = (now.accepted - before.accepted, now.refused - before.refused, now.failed - before.failed)
        if counts != (requests - failed, 0, failed):
            sys.exit(
                f"Benchmarks: {requests} requests were made, {failed} of them to fail, but those that the sink accepted, "
                f"refused and failed are {counts}")
        counted = result.counted or requests
        # Requests that make connections are not among those that were timed.
        sink_cpu = (now.cpu - before.cpu) * counted / requests
        result.sample = Sample(counted, result.seconds, result.cpu, sink_cpu)


@dataclass
class Totals:
    accepted: int
    refused: int
    failed: int
    # Seconds of the sink's.
    cpu: float

    @property
    def answered(self):
        return self.accepted + self.failed


class Result:
    counted = None
    seconds = cpu = sample = None
