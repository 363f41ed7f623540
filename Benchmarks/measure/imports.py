"""A file of registrations, imported into an empty hub by a job, and by the floor; and one imported amid sends to users."""
import contextlib
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass

from . import build, devices, prepared
from .rows import SameRows
from .sample import Sample
from .server import Server
from .users import UserSends

class Imports:
    def __init__(self, count):
        self._count = count
        self._rows = SameRows("channels", "registrations", "tags", "tag_members")

    def __enter__(self):
        self._scratch = tempfile.TemporaryDirectory(dir=build.WORK)
        self._file = os.path.join(self._scratch.name, "in.txt")
        with open(self._file, "w") as file:
            file.writelines(devices.of_user(device) for device in range(self._count))
        return self

    def __exit__(self, *_):
        self._scratch.cleanup()

    def by_job(self):
        """From the POST of the job until it is completed; both cores are the server's."""
        with self._data("job") as data:
            server = Server(data)
            server.cores = build.BOTH_CORES
            server.start()
            try:
                container, source = prepared.make_container(server, data)
                with open(self._file, "rb") as file:
                    server.upload(source, file.read())
                cpu, start = server.cpu_seconds(), time.monotonic()
                prepared.run_job(server, container, source, poll_seconds=0.02)
                return Sample(self._count, time.monotonic() - start, server.cpu_seconds() - cpu, 0)
            finally:
                server.stop()

    def by_floor(self):
        with self._data("floor") as data:
            before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
            subprocess.run(
                build.on_core(build.BOTH_CORES, [build.FLOOR, "import", data, self._file]), check=True,
                stdout=subprocess.DEVNULL)
            seconds, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
            return Sample(self._count, seconds, cpu, 0)

    @contextlib.contextmanager
    def _data(self, who):
        with tempfile.TemporaryDirectory(dir=self._scratch.name) as folder:
            data = os.path.join(folder, "data")
            Server.prepare(data)
            yield data
            made = self._rows.check("an import", who, data)
            if made["registrations"] != self._count:
                sys.exit(f"Benchmarks: {self._count} registrations were imported, but {made} rows were made")


@dataclass
class Amid:
    # Registrations in a second.
    rate: float
    # Milliseconds from the request of a send until its push is read by the service: of the worst storm.
    wire_p99: float

    def __str__(self):
        return f"{self.rate / 1000:8.1f} k/s, sends p99 {self.wire_p99:.1f} ms"


class ServerOnBothCores(Server):
    cores = build.BOTH_CORES


class ImportsAmidSends:
    """Imports new registrations into a hub whose users are sent to meanwhile."""

    def __init__(self, sink, count, rate):
        """count: of the devices that are there before, and of those that each run imports; rate: sends in a second."""
        self._sink, self._count, self._rate = sink, count, rate

    def run(self):
        """Sends in storms of some seconds until the import is completed. The last one, which outlives it, is not judged."""
        with UserSends(self._sink, self._count, ServerOnBothCores) as sends:
            server = sends.server
            container, source = prepared.make_container(server, server.data)
            lines = (devices.of_user(device) for device in range(self._count, 2 * self._count))
            server.upload(source, "".join(lines).encode())
            seconds = []
            job = threading.Thread(target=lambda: seconds.append(self._run_job(server, container, source)))
            job.start()
            storms = []
            while job.is_alive():
                storms.append(sends.run(rate=self._rate))
            if not seconds:
                sys.exit("Benchmarks: the import amid sends failed")
            return Amid(self._count / seconds[0], max(storm.wire_p99 for storm in storms[:-1] or storms))

    @staticmethod
    def _run_job(server, container, source):
        start = time.monotonic()
        prepared.run_job(server, container, source, poll_seconds=0.02)
        return time.monotonic() - start
