"""What sends leave on disk for each device: a success, a refusal, and a device whose notification expired unsent."""
import re
import socket
import sys
import time

from .. import devices
from ..figures import Figure
from ..hub import FORMATS, Hub, set_credential
from ..prepared import copy, prepared, size
from ..server import HUB, Server
from ..sink import Sink
from .broadcasts import FAILING_PERCENT, LONG_AGO

EXPIRY_SECONDS = 5
PATIENCE_SECONDS = 120
POLL_SECONDS = 0.01


def measure(options):
    count = options.devices
    folder = prepared("native", count)
    audience = count - count // 10
    gone = sum(devices.is_gone(device, FAILING_PERCENT) for device in range(count) if device % 10)
    ends, abandoned, successes, refusals = [], [], [], []
    with Sink() as sink:
        for _ in range(options.rounds):
            success = growth(folder, lambda data: broadcast(sink, data, count, 0)) / audience
            successes.append(success)
            refusals.append((growth(folder, lambda data: broadcast(sink, data, count, gone)) - success * audience) / gone)
            abandoned.append(growth(folder, lambda data: ends.append(expire(data))) / count)
    return [
        Figure("on disk for a success", "bytes", successes, at_most=0.05),
        Figure("on disk for a refusal", "bytes", refusals, at_most=40),
        Figure(f"{count:,} devices expired unsent: end after the expiry", "s", ends, at_most=10),
        Figure("  on disk for each of them", "bytes", abandoned, at_most=20),
    ]


def growth(folder, work):
    """Bytes by which a copy of a data directory grows, beside what a start and an end without a send leave there."""
    with copy(folder) as data:
        server = Server(data)
        server.start()
        server.stop()
        before = size(data)
        work(data)
        return size(data) - before


def broadcast(sink, data, count, gone):
    set_credential(data, sink.port)
    server = Server(data)
    server.start()
    try:
        with sink.failing(FAILING_PERCENT if gone else 0, LONG_AGO):
            Hub(sink, server, "native", count).broadcast(failed=gone)
    finally:
        server.stop()


def expire(data):
    """Seconds from the expiry of a notification to all devices, whose service cannot be reached, to its end."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        set_credential(data, nobody.getsockname()[1])
        server = Server(data)
        server.start()
        try:
            kind, body = FORMATS["native"]
            fields = {
                "ServiceBusNotification-Format": kind, "ServiceBusNotification-Tags": "a",
                "Martlet-Expires": f"PT{EXPIRY_SECONDS}S", "Content-Type": "application/json;charset=utf-8",
            }
            headers, _ = server.call("POST", f"/{HUB}/messages", fields, body)
            expiry = time.monotonic() + EXPIRY_SECONDS
            message = re.search(r"/messages/([^?]+)", headers["Location"])[1]
            telemetry = ""
            while "<State>Abandoned</State>" not in telemetry:
                if time.monotonic() > expiry + PATIENCE_SECONDS:
                    sys.exit(f"Benchmarks: an expired notification had not ended after {PATIENCE_SECONDS} s: {telemetry}")
                time.sleep(POLL_SECONDS)
                _, telemetry = server.call("GET", f"/{HUB}/messages/{message}")
            return time.monotonic() - expiry
        finally:
            server.stop()
