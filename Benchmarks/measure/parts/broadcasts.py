"""POST /messages to everybody but a tenth of a million registrations in SQLite; a twentieth of the pushes fail."""
import time

from .. import devices, floor
from ..figures import Figure, cpu, rates
from ..hub import Hub
from ..load import Yardstick
from ..prepared import prepared
from ..rounds import alternate
from ..rows import SameRows
from ..server import Server
from ..sink import Sink

FAILING_PERCENT = 5
# Before anybody registered: who is said to be gone since then has come again since, and is kept.
LONG_AGO = 1_577_836_800_000
ROUND_TRIP_MILLISECONDS = 30
IDLE_SECONDS = 1
# How long a broadcast's memory may take to be given back.
MEMORY_SECONDS = 60
KEPT_MEGABYTES = 10
MEMORY_STEP = 0.5
# What a broadcast writes to.
TABLES = (
    "authors", "notifications", "messages", "deliveries", "outcome_counts", "ranges", "page_records", "reached",
    "channels", "registrations", "tags", "tag_members", "registration_history", "tombstones", "former_channels",
)


def measure(options):
    count = options.devices
    folders = {kind: prepared(kind, count) for kind in ("native", "templates")}
    gone = sum(devices.is_gone(device, FAILING_PERCENT) for device in range(count) if device % 10)
    idle, peaks, afterwards, rows = [], [], [], SameRows(*TABLES)
    with Sink() as sink:
        def serving(kind, check=lambda data: None, serve=Server):
            """Each begins with a fresh copy, because whoever was removed is to be there again."""
            return Hub.serving(sink, kind, folders[kind], count, serve, check)

        def has_made_rows(who, percent, is_removing):
            what = f"{percent} % are refused{' and removed' if is_removing else ''}"
            return lambda data: rows.check(what, who, data)

        def send(hub, percent, is_removing):
            hub.warm_up()
            with sink.failing(percent, int(time.time() * 1000) if is_removing else LONG_AGO):
                return hub.broadcast(failed=gone if percent else 0)

        def broadcast(kind="native", milliseconds=0, percent=FAILING_PERCENT, is_removing=False):
            check = has_made_rows("the product", percent, is_removing) if kind == "native" else lambda data: None
            with serving(kind, check) as hub, sink.delayed(milliseconds):
                time.sleep(IDLE_SECONDS)
                idle.append(hub.server.private_memory())
                sample = send(hub, percent, is_removing)
                peaks.append(hub.peak_memory)
                if not percent:
                    afterwards.append(memory_afterwards(hub.server, idle[-1] + KEPT_MEGABYTES) - idle[-1])
            return sample

        def least(percent=FAILING_PERCENT, is_removing=False):
            check = has_made_rows("the floor", percent, is_removing)
            with serving("native", check, floor.broadcasts(sink)) as hub:
                return send(hub, percent, is_removing)

        samples = alternate({
            "h2load": Yardstick(sink).run,
            "floor, nobody refused": lambda: least(percent=0),
            "nobody refused": lambda: broadcast(percent=0),
            "floor": least,
            "native": broadcast,
            "floor, removing": lambda: least(is_removing=True),
            "native, removing": lambda: broadcast(is_removing=True),
            "templates": lambda: broadcast("templates"),
            "native, 30 ms away": lambda: broadcast(milliseconds=ROUND_TRIP_MILLISECONDS),
        }, options.rounds)
    return [
        rates(f"POST /messages, {count:,} registrations", samples, "nobody refused", "h2load", at_least=2.8),
        cpu("  its CPU per push", samples, "nobody refused", "h2load"),
        *floors(samples, "floor, nobody refused"),
        rates(f"the same, {FAILING_PERCENT} % are refused", samples, "native", "h2load", at_least=2.2),
        cpu("  its CPU per push", samples, "native", "h2load", at_most=0.45),
        *floors(samples, "floor"),
        rates("the same, failed devices are removed", samples, "native, removing", "h2load", at_least=1.0),
        cpu("  its CPU per push", samples, "native, removing", "h2load"),
        *floors(samples, "floor, removing"),
        rates("with templates", samples, "templates", "native", at_least=0.9),
        cpu("  its CPU per push", samples, "templates", "native"),
        rates("30 ms round trip", samples, "native, 30 ms away", "native", at_least=0.8),
        Figure("private memory, idle", "MB", idle, at_most=10),
        Figure("  highest during a broadcast, of all", "MB", [max(peaks)], at_most=60),
        Figure(f"  more than idle within {MEMORY_SECONDS} s", "MB", afterwards, at_most=KEPT_MEGABYTES),
    ]


def floors(samples, name):
    return [
        rates("  floor of a broadcast", samples, name, "h2load"),
        cpu("  its CPU per push", samples, name, "h2load"),
    ]


def memory_afterwards(server, limit):
    """The private memory once it is under a limit, or when the time in which it is to be given back is over; megabytes."""
    deadline = time.monotonic() + MEMORY_SECONDS
    while (memory := server.private_memory()) > limit and time.monotonic() < deadline:
        time.sleep(MEMORY_STEP)
    return memory
