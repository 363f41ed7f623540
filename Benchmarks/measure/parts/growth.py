"""Broadcasts of a hub with very many registrations and of one with few."""
from ..figures import cpu, rates
from ..hub import Hub
from ..prepared import prepared
from ..rounds import alternate
from ..sink import Sink

FEW = 10_000
# As many pushes as take a second or two.
BROADCASTS_TO_FEW = 200


def measure(options):
    many = options.grown
    with (
        Sink() as sink, Hub.serving(sink, "native", prepared("native", many), many) as large,
        Hub.serving(sink, "native", prepared("native", FEW), FEW) as small,
    ):
        large.warm_up()
        small.warm_up()
        samples = alternate(
            {"few": lambda: small.broadcast(times=BROADCASTS_TO_FEW), "many": large.broadcast}, options.rounds)
    return [
        cpu(f"{many:,} registrations: CPU per push", samples, "many", "few", at_most=1.15),
        rates("  its rate", samples, "many", "few"),
    ]
