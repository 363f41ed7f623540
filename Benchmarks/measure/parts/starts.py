"""From the beginning of the process until /health/ready is 200."""
import sys

from ..figures import Figure
from ..prepared import copy, prepared
from ..server import Server


def measure(options):
    full, empty = [], []
    with copy(prepared("native", options.devices)) as many, copy(prepared("native", 0)) as none:
        for number in range(options.rounds):
            for data, times in ((many, full), (none, empty)):
                server = Server(data)
                times.append(1000 * server.start_seconds())
                server.stop()
            print(f"round {number + 1}: ready after {full[-1]:.1f} ms, empty {empty[-1]:.1f} ms", file=sys.stderr)
    return [Figure(f"start to ready, {options.devices:,} registrations", "ms", full, "empty", empty, at_most=2)]
