"""Sends to one user's three devices each, beside transactions of a row by pgbench."""
from .. import build
from ..figures import Figure, rates
from ..nodes import Nodes
from ..node_storms import NodeSends, databases
from ..postgres import Cluster
from ..rounds import alternate
from ..sink import Sink


def measure(options):
    count = max(30, options.devices // 10)
    # What answers has one core, whoever asks has the other.
    core = build.MEASURED_CORE
    with Cluster(cores=core) as cluster, Sink() as sink, Nodes(cluster, core) as nodes:
        sends = NodeSends(sink, nodes, count)
        samples = alternate({"pgbench": cluster.pgbench, "sends to a user": sends.run}, options.rounds)
    return [
        databases("a send to a user, 3 devices: the database's CPU", samples, "sends to a user", at_most=0.5),
        Figure("  the node's CPU", "us", [it.cpu_each for it in samples["sends to a user"]]),
        rates("  sends, node and database on one core", samples, "sends to a user", "pgbench"),
    ]
