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

HUBS_OF_A_NODE = 2
COUNTS = 1, 2, 4
HUBS = [f"hub-{number}" for number in range(HUBS_OF_A_NODE * max(COUNTS))]
DEVICES_OF_A_HUB = 0.04  # of those of the whole measurement
# At once to each hub. A hub makes up to 64 connections. With 60 streams on each it has 3,840 pushes on their way at most,
# 38,000 a second. So all nodes together need less than the two cores on which everything runs.
BROADCASTS = 4
DELAY_MILLISECONDS = 100
NEAR_BROADCASTS = 3
POLL_SECONDS = 0.005
PATIENCE_SECONDS = 600


def measure(options):
    devices = max(100, round(options.devices * DEVICES_OF_A_HUB))
    with Cluster() as cluster, Sink() as far, Sink() as near, Nodes(cluster) as nodes:
        far.limit_streams(options.streams)
        for hub in HUBS:
            nodes.create_hub(far.port, "native", devices, hub)

        def broadcasts(count, hubs, sink, times):
            """By so many nodes, to so many hubs of each, at the same time."""
            nodes.run(count)
            chosen = [hub for owned in nodes.owners().values() for hub in owned[:hubs]]
            send(sink, nodes, chosen, devices, times)  # until there are as many connections as it takes
            return with_database(cluster, lambda: send(sink, nodes, chosen, devices, times))

        with far.delayed(DELAY_MILLISECONDS):
            samples = alternate({
                f"nodes: {count}": lambda count=count: broadcasts(count, HUBS_OF_A_NODE, far, BROADCASTS)
                for count in COUNTS
            } | {"all hubs at one node": lambda: broadcasts(1, len(HUBS), far, BROADCASTS)}, options.rounds)
        for hub in HUBS:
            nodes.point(hub, near.port)
        samples |= alternate({
            f"near, nodes: {count}": lambda count=count: broadcasts(count, len(HUBS) // count, near, NEAR_BROADCASTS)
            for count in (1, 4)
        }, options.rounds)
    return [
        rates(f"{HUBS_OF_A_NODE} hubs a node, answers after {DELAY_MILLISECONDS} ms: 2 nodes", samples, "nodes: 2", "nodes: 1",
              at_least=1.8),
        rates("  4 nodes", samples, "nodes: 4", "nodes: 2", at_least=1.8),
        Figure("  how busy all cores are then", "", [it.busy for it in samples["nodes: 4"]], at_most=0.8),
        rates("  beside one node with all hubs", samples, "nodes: 4", "all hubs at one node"),
        cpu("without the delay, 4 nodes: CPU per push with the database's", samples, "near, nodes: 4", "near, nodes: 1",
            at_most=1.15),
        Figure("  the database's part", "us", [it.database_each for it in samples["near, nodes: 4"]], "near, nodes: 1",
               [it.database_each for it in samples["near, nodes: 1"]]),
        rates("  its rate", samples, "near, nodes: 4", "near, nodes: 1"),
    ]


def send(sink, nodes, hubs, devices, times):
    """To everybody in each of the hubs, all at the same time; until all pushes are there and recorded."""
    pushes = devices * len(hubs) * times
    with sink.expecting(pushes) as result:
        wanted = sink.totals().answered + pushes
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
