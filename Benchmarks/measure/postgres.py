"""A PostgreSQL that is made for a measurement (Scripts/test-cluster), and pgbench as its yardstick."""
import glob
import os
import re
import subprocess
import sys
import urllib.parse

from . import build
from .sample import Sample

SCRIPT = os.path.join(os.path.dirname(build.HOME), "Scripts", "test-cluster")
SECONDS = 6
CLIENTS = 64
# What is kept of devices; blobs and jobs, for example, are not.
TABLES_OF_DEVICES = (
    "ordinals", "tags", "channels", "former_channels", "contents", "installations", "registrations", "device_keys",
    "tombstones", "registration_history")
# The yardstick: a transaction that inserts a row and reads one, of what a small notification has.
ENTRIES = """
    CREATE TABLE IF NOT EXISTS entries (
        number int8 PRIMARY KEY GENERATED ALWAYS AS IDENTITY, moment timestamptz NOT NULL, body bytea NOT NULL)"""
TRANSACTION = r"""
\set place random(1, 1000)
BEGIN;
INSERT INTO entries (moment, body) VALUES (clock_timestamp(), decode(repeat('6d', 200), 'hex'));
SELECT moment, body FROM entries WHERE number = :place;
COMMIT;
"""


class Cluster:
    """Flushes to disk what is committed. It ends with this program, in whatever way that ends."""

    def __init__(self, *options, cores=build.BOTH_CORES):
        self._command = build.on_core(cores, [SCRIPT, "--durable", *options])

    def __enter__(self):
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self._process.stdout.readline().strip()
        if not line.startswith("/"):
            sys.exit(f"Benchmarks: there is no PostgreSQL: {line or 'it did not start'}")
        self._folders = line.split()
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        self._process.wait()

    @property
    def url(self):
        hosts = ",".join(urllib.parse.quote(folder, safe="") for folder in self._folders)
        return f"postgres://postgres@/martlet?host={hosts}"

    def query(self, statement, database="martlet"):
        """What psql prints, without decoration."""
        command = ["psql", "-h", self._folders[0], "-U", "postgres", "-d", database, "-qAtc", statement]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"Benchmarks: psql failed: {done.stderr}")
        return done.stdout.strip()

    def cpu_seconds(self):
        """Of all processes of all its servers, also of those that have ended."""
        servers, total = set(), 0
        for folder in self._folders:
            with open(os.path.join(folder, "data", "postmaster.pid")) as file:
                servers.add(int(file.readline()))
        for path in glob.glob("/proc/[0-9]*/stat"):
            try:
                with open(path) as file:
                    number, rest = file.read().split(" ", 1)
                fields = rest.rsplit(") ", 1)[1].split()
                if int(number) not in servers and int(fields[1]) not in servers:
                    continue
                with open(path.replace("stat", "schedstat")) as file:
                    total += int(file.read().split()[0]) / 1e9
            except OSError:  # it has ended meanwhile
                continue
            if int(number) in servers:  # what it has waited for
                total += sum(map(int, fields[13:15])) / os.sysconf("SC_CLK_TCK")
        return total

    def bytes_of_devices(self):
        """With indexes, and without what the next vacuum gives back for new rows."""
        self.query("VACUUM")
        return int(self.query(
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relnamespace = 'martlet'::regnamespace"
            f" AND relkind = 'r' AND relname IN ({', '.join(map(repr, TABLES_OF_DEVICES))})"))

    def pgbench(self):
        """Transactions of a row, by as many clients as storms have."""
        self.query(ENTRIES, "postgres")
        script = os.path.join(build.WORK, "transaction.sql")
        with open(script, "w") as file:
            file.write(TRANSACTION)
        command = ["pgbench", "-h", self._folders[0], "-U", "postgres", "--no-vacuum", "--protocol", "prepared"]
        command += ["--client", str(CLIENTS), "--time", str(SECONDS), "--file", script, "postgres"]
        before = self.cpu_seconds()
        printed = subprocess.run(
            build.on_core(build.SINK_CORE, command), check=True, capture_output=True, text=True).stdout
        used = self.cpu_seconds() - before
        rate = re.search(r"tps = ([\d.]+)", printed)
        if not rate:
            sys.exit(f"Benchmarks: pgbench has made no transaction: {printed}")
        count = int(re.search(r"actually processed: (\d+)", printed)[1])
        return Sample(count, count / float(rate[1]), used, 0)
