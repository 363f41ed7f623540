"""The sink as a process."""
import contextlib
import signal
import subprocess
import sys

from . import build
from .sample import Sample


class Sink:
    def __enter__(self):
        command = build.on_core(build.SINK_CORE, [build.SINK, build.CERTIFICATE, build.KEY])
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.port = int(self._process.stdout.readline().split()[1])
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()

    def totals(self):
        """Accepted and refused requests, and the seconds of CPU."""
        self._process.send_signal(signal.SIGUSR1)
        accepted, refused, cpu = self._process.stdout.readline().split()
        return int(accepted), int(refused), float(cpu)

    @contextlib.contextmanager
    def expecting(self, requests):
        """Yields where the measurer puts (seconds, cpu); becomes the sample, once the sink has counted the same."""
        accepted, refused, cpu = self.totals()
        result = Result()
        yield result
        now_accepted, now_refused, now_cpu = self.totals()
        if (now_accepted - accepted, now_refused - refused) != (requests, 0):
            sys.exit(
                f"Benchmarks/run: {requests} requests were made, but the sink accepted {now_accepted - accepted} "
                f"and refused {now_refused - refused}")
        counted = result.counted or requests
        # Requests that make connections are not among those that were timed.
        sink_cpu = (now_cpu - cpu) * counted / requests
        result.sample = Sample(counted, result.seconds, result.cpu, sink_cpu)


class Result:
    counted = None
    seconds = cpu = sample = None
