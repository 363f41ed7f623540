"""Nodes of one database, as many as a measurement wants."""
import os
import sys
import tempfile
import time
from dataclasses import dataclass

from . import build, prepared, server
from .hub import set_credential
from .sample import Sample
from .server import HUB, Server

PATIENCE_SECONDS = 60
POLL_SECONDS = 0.1
# All nodes know of a change after a second, or serve nothing.
DIRECTORY_SECONDS = 1


class Node(Server):
    cores = build.BOTH_CORES

    def __init__(self, data, url, rules):
        """rules: name and key by hub."""
        self.data, self._under, self._rules = data, (), rules
        self._options = ("--database", url, "--node", os.path.basename(data))

    def rule(self, hub):
        return self._rules[hub]


class Nodes:
    """Node 0 runs all the time; the others where they are wanted."""

    def __init__(self, cluster, cores=build.BOTH_CORES):
        self.cluster, self._cores = cluster, cores

    def __enter__(self):
        self._scratch = tempfile.TemporaryDirectory(dir=build.WORK)
        self.running, self._made, self._rules = [], [], {}
        self.run(1)
        prepared.make_key(self.first.data)
        return self

    def __exit__(self, *_):
        for node in self.running:
            node.stop()
        self._scratch.cleanup()

    @property
    def first(self):
        return self.running[0]

    def run(self, count):
        """So many of them, once the hubs are spread over them."""
        while len(self.running) > count:
            self.running.pop().stop()
        while len(self.running) < count:
            node = self._node(len(self.running))
            node.start()
            self.running.append(node)
        if self._rules:
            self._wait("the hubs are not spread over the nodes", lambda: self._are_spread(count))

    def _node(self, number):
        if number == len(self._made):
            data = os.path.join(self._scratch.name, f"node-{number}")
            os.makedirs(data, mode=0o700)
            if number:  # the first has made it
                with open(os.path.join(self.first.data, "secret.key"), "rb") as made:
                    with open(os.open(os.path.join(data, "secret.key"), os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
                        file.write(made.read())
            node = Node(data, self.cluster.url, self._rules)
            node.cores = self._cores
            self._made.append(node)
        return self._made[number]

    def _are_spread(self, count):
        owned = [len(hubs) for hubs in self.owners().values()]
        return len(owned) == min(count, len(self._rules)) and max(owned) - min(owned) <= 1

    def _wait(self, failure, is_so):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not is_so():
            if time.monotonic() > deadline:
                sys.exit(f"Benchmarks: {failure} after {PATIENCE_SECONDS} s: {self.owners()}")
            time.sleep(POLL_SECONDS)

    def owners(self):
        """The hubs that each node sends for, by its name."""
        found = {}
        for line in self.cluster.query(
                "SELECT convert_from(nodes.name, 'UTF8'), convert_from(hubs.name, 'UTF8') FROM martlet.hubs"
                " JOIN martlet.send_ordinals ON shard = id JOIN martlet.nodes ON incarnation = node"
                " WHERE NOT is_dead ORDER BY 1, 2").splitlines():
            node, hub = line.split("|")
            found.setdefault(node, []).append(hub)
        return found

    def create_hub(self, port, kind, count, hub=HUB):
        """With so many devices, which are sent to at the sink."""
        self._rules[hub] = server.rule(server.create_hub(hub, self.first.data))
        self.point(hub, port)
        if count:
            prepared.run_jobs(self.first, self.first.data, kind, count, hub)
            self.settle()

    def point(self, hub, port):
        """Its pushes go to the sink at a port, from any node."""
        set_credential(self.first.data, port, hub)
        time.sleep(DIRECTORY_SECONDS)

    def settle(self):
        """Does at once what autovacuum does within a minute: plans that were made for empty tables are made anew."""
        self.cluster.query("VACUUM ANALYZE")

    def cpu_seconds(self):
        return sum(node.cpu_seconds() for node in self.running)


@dataclass
class Shared(Sample):
    """The processor time of the measured side is that of the nodes and of the database."""
    # The database's part of it.
    database: float

    @property
    def database_each(self):
        """Microseconds."""
        return self.database / self.requests * 1e6

    @property
    def busy(self):
        """How much of all cores was busy."""
        return (self.cpu + self.sink_cpu) / self.seconds / os.cpu_count()

    def __str__(self):
        return f"{super().__str__()}, database {self.database_each:.2f} us"


def with_database(cluster, measure):
    """What is measured of a node, with the database's processor time added."""
    before = cluster.cpu_seconds()
    sample = measure()
    used = cluster.cpu_seconds() - before
    return Shared(sample.requests, sample.seconds, sample.cpu + used, sample.sink_cpu, used)
