"""A broadcast by one node on PostgreSQL, and by a server on SQLite; and what a refused push costs the database."""
from .. import devices
from ..figures import Figure, cpu, rates
from ..hub import Hub, set_credential
from ..nodes import Nodes, with_database
from ..postgres import Cluster
from ..prepared import copy, prepared
from ..rounds import alternate
from ..server import Server
from ..sink import Sink
from .. import build
from ..parts.broadcasts import LONG_AGO

# More than elsewhere, because a difference is measured.
FAILING_PERCENT = 20
TIMES = 3
MICROSECONDS = 1e6


def measure(options):
    count = max(1000, options.devices * 3 // 10)
    gone = sum(devices.is_gone(device, FAILING_PERCENT) for device in range(count) if device % 10)
    with Cluster() as cluster, Sink() as sink, Nodes(cluster) as nodes, copy(prepared("native", count)) as data:
        nodes.create_hub(sink.port, "native", count)
        set_credential(data, sink.port)
        server = Server(data)
        server.cores = build.BOTH_CORES
        server.start()
        try:
            node, sqlite = Hub(sink, nodes.first, "native", count), Hub(sink, server, "native", count)
            for hub in (node, sqlite):
                hub.warm_up()

            def refused():
                with sink.failing(FAILING_PERCENT, LONG_AGO):
                    return node.broadcast(TIMES, gone)

            samples = alternate({
                "SQLite": lambda: sqlite.broadcast(TIMES),
                "PostgreSQL": lambda: with_database(cluster, lambda: node.broadcast(TIMES)),
                "PostgreSQL, refused": lambda: with_database(cluster, refused),
            }, options.rounds)
        finally:
            server.stop()
    plain = samples["PostgreSQL"]
    refusals = [
        (it.database - base.database) / gone / TIMES * MICROSECONDS
        for it, base in zip(samples["PostgreSQL, refused"], plain)]
    return [
        cpu(f"a broadcast to {node.audience:,}, CPU per push with the database's", samples, "PostgreSQL", "SQLite",
            at_most=2.2),
        Figure("  the database's part", "us", [it.database_each for it in plain]),
        rates("  its rate", samples, "PostgreSQL", "SQLite", at_least=round(1 / 2.2, 2)),
        Figure("a refused push: the database's CPU more than for another", "us", refusals, at_most=3),
    ]
