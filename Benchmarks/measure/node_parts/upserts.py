"""Registrations that are written: by jobs, beside transactions of a row by pgbench; and through HTTP, beside nginx."""
import sys
import time

from .. import build, devices, prepared
from ..figures import Figure, rates
from ..node_storms import NodeUpserts, databases
from ..nodes import Nodes, with_database
from ..postgres import Cluster
from ..rounds import alternate
from ..sample import Sample
from ..server import HUB
from ..sink import Sink
from ..storm import Nginx

# Of the devices of the whole measurement, so many are new in each round.
SHARE = 0.05
BYTES = 650


def measure(options):
    # What answers has one core, whoever asks has the other.
    core = build.MEASURED_CORE
    with Cluster(cores=core) as cluster, Sink() as sink, Nodes(cluster, core) as nodes, Nginx() as nginx:
        nodes.create_hub(sink.port, "users", 0)
        jobs = Jobs(nodes, max(100, round(options.devices * SHARE)))
        samples = alternate({
            "pgbench": cluster.pgbench, "new": jobs.new, "repeated": jobs.repeated, "changed": jobs.changed,
        }, options.rounds)
        changed = jobs.bytes_each()
        nodes.create_hub(sink.port, "users", 0, "storms")
        upserts = NodeUpserts(nodes, "storms")
        samples |= alternate({"nginx, static": nginx.run, "upserts": upserts.run}, options.rounds)
        upserts.check()
    return [
        databases("an imported registration that is new: the database's CPU", samples, "new", at_most=0.35),
        databases("  that was there already", samples, "repeated", at_most=0.2),
        databases("  with another tag", samples, "changed", at_most=0.5),
        *[Figure(f"  the node's CPU, {name}", "us", [it.cpu_each - it.database_each for it in samples[name]])
          for name in ("new", "repeated", "changed")],
        rates("upserts through HTTP, 64 connections", samples, "upserts", "nginx, static", at_least=0.1),
        Figure("  the node's CPU", "us", [it.cpu_each for it in samples["upserts"]]),
        Figure("  the database's CPU", "us", [it.database_each for it in samples["upserts"]]),
        Figure("  p99", "ms", [it.p99 for it in samples["upserts"]]),
        Figure("on disk for a registration with four tags", "bytes", [jobs.fresh], at_most=BYTES),
        Figure("  after most were written again twice, once with another tag", "bytes", [changed], at_most=BYTES),
    ]


class Jobs:
    """Import registrations with ids of their own, in each round others; then the same once more, then with another tag."""

    def __init__(self, nodes, count):
        self._nodes, self._count = nodes, count
        self._container, self._source = prepared.make_container(nodes.first, nodes.first.data)
        self._empty = nodes.cluster.bytes_of_devices()
        # The first ones are not measured, because plans are made for empty tables.
        self._rounds = 1
        self._run(0)
        nodes.settle()
        # Bytes on disk for each.
        self.fresh = self.bytes_each()

    def new(self):
        self._rounds += 1
        return self._run(0)

    def repeated(self):
        return self._run(0)

    def changed(self):
        return self._run(1)

    def bytes_each(self):
        """Of all that were imported."""
        return (self._nodes.cluster.bytes_of_devices() - self._empty) / (self._rounds * self._count)

    def _run(self, change):
        first = (self._rounds - 1) * self._count
        lines = (devices.numbered(device, change) for device in range(first, first + self._count))
        self._nodes.first.upload(self._source, "".join(lines).encode())
        sample = with_database(self._nodes.cluster, self._job)
        self._check(change)
        # So that what is replaced next finds the room of what was replaced now, as autovacuum would have it.
        self._nodes.settle()
        return sample

    def _job(self):
        used, start = self._nodes.cpu_seconds(), time.monotonic()
        prepared.run_job(
            self._nodes.first, self._container, self._source, poll_seconds=0.05, kind="ImportUpsertRegistrations")
        return Sample(self._count, time.monotonic() - start, self._nodes.cpu_seconds() - used, 0)

    def _check(self, change):
        """Every line must have been written."""
        last = self._rounds * self._count - 1
        found = int(self._nodes.cluster.query("SELECT count(*) FROM martlet.registrations"))
        _, entry = self._nodes.first.call("GET", f"/{HUB}/registrations/bench-{last}")
        if found != self._rounds * self._count or f"version:{change}<" not in entry.replace(",", "<"):
            sys.exit(f"Benchmarks: {self._rounds * self._count} registrations were imported, not {found}: {entry}")
