"""Sends to one user's three devices each, and what a registration with four tags takes on disk."""
from .. import floor, prepared
from ..figures import Figure, cpu, rates
from ..rounds import alternate
from ..sink import Sink
from ..storm import Nginx
from ..users import UserSends


def measure(options):
    count = max(1, options.devices * 3 // 10)
    with (
        Sink() as sink, UserSends(sink, count) as sends, UserSends(sink, count, floor.sends(sink)) as least,
        Nginx() as nginx,
    ):
        samples = alternate({
            "nginx, static": nginx.run,
            "floor of a user's send": least.run,
            "sends to a user": sends.run,
            "sends at half the load": lambda: sends.run(rate=sends.last_rate / 2),
        }, options.rounds)
    half = samples["sends at half the load"]
    full, empty = (prepared.size(prepared.prepared("users", number)) for number in (count, 0))
    return [
        rates("sends to a user, 3 devices", samples, "sends to a user", "nginx, static", at_least=0.15),
        cpu("  its CPU per send", samples, "sends to a user", "nginx, static"),
        rates("  floor of a user's send", samples, "floor of a user's send", "nginx, static"),
        cpu("  its CPU per send", samples, "floor of a user's send", "nginx, static"),
        Figure("  p99 from request to wire at half load", "ms", [it.wire_p99 for it in half], at_most=5),
        Figure("  median", "ms", [it.wire_p50 for it in half]),
        Figure("  half load", "1/s", [it.rate for it in half]),
        Figure("on disk per registration, 4 tags", "bytes", [(full - empty) / count], at_most=320),
    ]
