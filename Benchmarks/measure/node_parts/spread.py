"""One, two and four nodes, with a push service that is far away, and with one that is near."""
import re
import sys
import time

from ..figures import Figure, cpu, rates
from ..hub import FORMATS
from ..nodes import Nodes, with_database
from ..postgres import Cluster
from ..rounds import alternate
from ..sink import Sink

# A node has 12 pages more on their way than broadcasts, so that many broadcasts at one node wait for each other.
HUBS_OF_A_NODE = 2
MOST_NODES = 4
HUBS = HUBS_OF_A_NODE * MOST_NODES
# So long that all nodes together do not use up the two cores, on which everything runs.
DELAY_MILLISECONDS = 1000
DEVICES_OF_A_HUB = 0.05  # of those of the whole measurement
BROADCASTS = 4
# Without a delay one is over soon.
NEAR_BROADCASTS = 8
POLL_SECONDS = 0.005
PATIENCE_SECONDS = 600


def measure(options):
    devices = max(100, round(options.devices * DEVICES_OF_A_HUB))
    with Cluster() as cluster, Sink() as sink, Nodes(cluster) as nodes:
        for number in range(HUBS):
            nodes.create_hub(sink.port, "native", devices, f"hub-{number}")

        def broadcasts(count, hubs, milliseconds, times):
            """By so many nodes, to so many hubs of each."""
            nodes.run(count)
            chosen = [hub for owned in nodes.owners().values() for hub in owned[:hubs]]
            with sink.delayed(milliseconds):
                send(sink, nodes, chosen, devices, 1)
                return with_database(cluster, lambda: send(sink, nodes, chosen, devices, times))

        far = DELAY_MILLISECONDS
        samples = alternate({
            "1 node": lambda: broadcasts(1, HUBS_OF_A_NODE, far, BROADCASTS),
            "1 node, all hubs": lambda: broadcasts(1, HUBS, far, BROADCASTS),
            "1 node, near": lambda: broadcasts(1, HUBS, 0, NEAR_BROADCASTS),
            "2 nodes": lambda: broadcasts(2, HUBS_OF_A_NODE, far, BROADCASTS),
            "4 nodes": lambda: broadcasts(4, HUBS_OF_A_NODE, far, BROADCASTS),
            "4 nodes, near": lambda: broadcasts(4, HUBS_OF_A_NODE, 0, NEAR_BROADCASTS),
        }, options.rounds)
    return [
        rates(f"2 nodes, {HUBS_OF_A_NODE} hubs each, answers after {far} ms", samples, "2 nodes", "1 node", at_least=1.8),
        rates("4 nodes", samples, "4 nodes", "2 nodes", at_least=1.8),
        Figure("  both cores busy with it", "", [it.busy for it in samples["4 nodes"]], at_most=0.8),
        rates("  the same hubs at one node", samples, "4 nodes", "1 node, all hubs"),
        cpu(f"4 nodes, {HUBS} hubs, no delay: CPU per push with the database's", samples, "4 nodes, near", "1 node, near",
            at_most=1.15),
        Figure("  the database's part", "us", [it.database_each for it in samples["4 nodes, near"]], "1 node, near",
               [it.database_each for it in samples["1 node, near"]]),
        rates("  its rate", samples, "4 nodes, near", "1 node, near"),
    ]


def send(sink, nodes, hubs, devices, times):
    """To everybody in each of the hubs, all at the same time; until all pushes are there and recorded."""
    with sink.expecting(devices * len(hubs) * times) as result:
        wanted = sink.totals().answered + devices * len(hubs) * times
        used, start = nodes.cpu_seconds(), time.monotonic()
        kind, body = FORMATS["native"]
        fields = {
            "ServiceBusNotification-Format": kind, "ServiceBusNotification-Tags": "a",
            "Content-Type": "application/json;charset=utf-8",
        }
        messages = []
        for hub in hubs * times:
            headers, _ = nodes.first.call("POST", f"/{hub}/messages", fields, body)
            messages.append((hub, re.search(r"/messages/([^?]+)", headers["Location"])[1]))
        while sink.totals().answered < wanted:
            wait(start)
        result.seconds = time.monotonic() - start
        for hub, message in messages:
            telemetry = ""
            while "<State>Completed</State>" not in telemetry:
                wait(start)
                _, telemetry = nodes.first.call("GET", f"/{hub}/messages/{message}")
            if f"<Name>Success</Name><Count>{devices}</Count>" not in telemetry:
                sys.exit(f"Benchmarks: {devices} devices were sent to, but the hub has recorded {telemetry}")
        result.cpu = nodes.cpu_seconds() - used
    return result.sample


def wait(start):
    if time.monotonic() > start + PATIENCE_SECONDS:
        sys.exit(f"Benchmarks: broadcasts were not complete after {PATIENCE_SECONDS} s")
    time.sleep(POLL_SECONDS)
