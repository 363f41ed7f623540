"""Sends to users with a synchronous standby, and without one."""
from ..figures import Figure, rates
from ..node_storms import NodeSends
from ..nodes import Nodes
from ..postgres import Cluster
from ..rounds import alternate
from ..sink import Sink


def measure(options):
    count = max(30, options.devices // 30)
    with (
        Sink() as sink, Cluster() as alone, Cluster("--standby") as followed, Nodes(alone) as node,
        Nodes(followed) as node_of_followed,
    ):
        sends = {"alone": NodeSends(sink, node, count), "a standby": NodeSends(sink, node_of_followed, count)}
        samples = alternate({name: it.run for name, it in sends.items()}, options.rounds)
    return [
        rates("sends to a user with a synchronous standby", samples, "a standby", "alone", at_least=0.6),
        Figure("  CPU of both database servers for a send", "us", [it.database_each for it in samples["a standby"]],
               "alone", [it.database_each for it in samples["alone"]]),
    ]
