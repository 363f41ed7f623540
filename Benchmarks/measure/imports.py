"""A file of registrations, imported into an empty hub by a job, and by the floor."""
import contextlib
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time

from . import build, devices, prepared
from .sample import Sample
from .server import Server

# What an import writes to.
TABLES = ("channels", "registrations", "tags", "tag_members")


class Imports:
    def __init__(self, count):
        self._count = count
        # Rows of each table, by who has imported.
        self._rows = {}

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
            self._check(who, data)

    def _check(self, who, data):
        """Everybody must have made the same rows."""
        with contextlib.closing(sqlite3.connect(os.path.join(data, "martlet.db"))) as database:
            rows = [database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in TABLES]
        self._rows[who] = rows
        if any(other != rows for other in self._rows.values()) or rows[1] != self._count:
            sys.exit(f"Benchmarks: imports have made different rows of {', '.join(TABLES)}: {self._rows}")
