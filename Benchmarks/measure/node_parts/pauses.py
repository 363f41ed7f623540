"""How long pushes of a broadcast go on to arrive after a pause was answered, at whichever of four nodes."""
import random
import re
import statistics
import sys
import time

from ..figures import Figure
from ..hub import FORMATS
from ..nodes import Nodes
from ..postgres import Cluster
from ..server import HUB
from ..sink import Sink

COUNT = 4
# In a second, in a page each quarter of a second: a pause that takes effect late is seen if a page comes meanwhile.
RATE = 1000
# More than are sent to in a round.
DEVICES = 20_000
PAUSES_OF_A_ROUND = 20
SILENCE_SECONDS = 0.3
PATIENCE_SECONDS = 10
LIMIT_MILLISECONDS = 100


def measure(options):
    with Cluster() as cluster, Sink() as sink, Nodes(cluster) as nodes:
        nodes.create_hub(sink.port, "native", DEVICES)
        nodes.run(COUNT)
        rounds = [round_of_pauses(sink, nodes) for _ in range(options.rounds)]
    stops = [stop for stops, _ in rounds for stop in stops]
    starts = [start for _, starts in rounds for start in starts]
    return [
        Figure(f"a pause at any of {COUNT} nodes: the last push after its answer, p99 of {len(stops)}", "ms",
               [percentile(stops, 0.99)], at_most=LIMIT_MILLISECONDS),
        Figure("  median", "ms", [statistics.median(stops) for stops, _ in rounds]),
        Figure("  a resume: the first push after its answer, p99", "ms", [percentile(starts, 0.99)]),
        Figure("  median", "ms", [statistics.median(starts) for _, starts in rounds]),
    ]


def round_of_pauses(sink, nodes):
    """Milliseconds until the last push after each pause, and until the first after each resume."""
    kind, body = FORMATS["native"]
    fields = {
        "ServiceBusNotification-Format": kind, "ServiceBusNotification-Tags": "a", "Martlet-Rollout": f"rate={RATE}",
        "Content-Type": "application/json;charset=utf-8",
    }
    headers, _ = nodes.first.call("POST", f"/{HUB}/messages", fields, body)
    target = f"/{HUB}/messages/" + re.search(r"/messages/([^?]+)", headers["Location"])[1]
    until_next(sink)
    stops, starts = [], []
    for number in range(PAUSES_OF_A_ROUND):
        nodes.running[number % COUNT].call("POST", f"{target}/pause")
        stops.append(1000 * until_silent(sink))
        nodes.running[(number + 1) % COUNT].call("POST", f"{target}/resume")
        starts.append(1000 * until_next(sink))
        # Not in step with the pages.
        time.sleep(random.uniform(0.1, 0.4))
    nodes.first.call("POST", f"{target}/cancel")
    until_silent(sink)
    return stops, starts


def until_next(sink):
    """Seconds until another push arrives."""
    begin, count = time.monotonic(), sink.totals().answered
    while sink.totals().answered == count:
        if time.monotonic() > begin + PATIENCE_SECONDS:
            sys.exit(f"Benchmarks: no push has come for {PATIENCE_SECONDS} s")
    return time.monotonic() - begin


def until_silent(sink):
    """Seconds until the last push arrives; 0 if there is none."""
    begin = last = time.monotonic()
    count = sink.totals().answered
    while time.monotonic() < last + SILENCE_SECONDS:
        if (answered := sink.totals().answered) != count:
            count, last = answered, time.monotonic()
            if last > begin + PATIENCE_SECONDS:
                sys.exit(f"Benchmarks: a paused broadcast goes on after {PATIENCE_SECONDS} s")
    return last - begin


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]
