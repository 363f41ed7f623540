"""The batch API of the network, sending to the sink."""
from ..build import BOTH_CORES
from ..figures import cpu, rates
from ..load import Yardstick, batch_pushes
from ..rounds import alternate
from ..sink import Sink

ROUND_TRIP_MILLISECONDS = 30
# Enough on its way for every connection to be wanted that the pools make.
LANES_OVER_A_LONG_WAY = 32


def measure(options):
    with Sink() as sink:
        def over_a_long_way():
            with sink.delayed(ROUND_TRIP_MILLISECONDS):
                return batch_pushes(sink, lanes=LANES_OVER_A_LONG_WAY)

        samples = alternate({
            "h2load": Yardstick(sink).run,
            "batch API": lambda: batch_pushes(sink),
            "batch API, 30 ms away": over_a_long_way,
            "one loop, all cores": lambda: batch_pushes(sink, cores=BOTH_CORES),
            "two loops, all cores": lambda: batch_pushes(sink, loops=2, cores=BOTH_CORES),
        }, options.rounds)
    return [
        rates("batch API to wire, APNs", samples, "batch API", "h2load", at_least=4.0),
        cpu("  its CPU per push", samples, "batch API", "h2load"),
        rates("batch API, 30 ms round trip", samples, "batch API, 30 ms away", "batch API", at_least=0.6),
        cpu("a second loop: CPU per push", samples, "two loops, all cores", "one loop, all cores", at_most=1.15),
        rates("  its rate", samples, "two loops, all cores", "one loop, all cores"),
    ]
