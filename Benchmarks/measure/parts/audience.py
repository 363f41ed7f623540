"""An audience counted, and the whole table read by the sqlite3 shell."""
import sys

from ..audience import EXPRESSIONS, CountedHub
from ..figures import Figure

EXPRESSION = EXPRESSIONS[0]
# Each is over soon.
COUNTS_OF_A_ROUND = 3


def measure(options):
    scans, counts = [], []
    with CountedHub(options.devices) as hub:
        for number in range(options.rounds):
            pairs = [(hub.scan()[0], hub.count(EXPRESSION)[0]) for _ in range(COUNTS_OF_A_ROUND)]
            scans.append(1000 * min(scan for scan, _ in pairs))
            counts.append(1000 * min(count for _, count in pairs))
            print(f"round {number + 1}: scan {scans[-1]:.0f} ms, count {counts[-1]:.0f} ms", file=sys.stderr)
    return [Figure(f"audience of {EXPRESSION}", "ms", counts, "full scan, sqlite3", scans, at_most=2)]
