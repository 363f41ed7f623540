"""Durable registration upserts through HTTP."""
from ..figures import Figure, cpu, rates
from ..rounds import alternate
from ..storm import Nginx, Upserts


def measure(options):
    with Upserts() as upserts, Nginx() as nginx:
        samples = alternate({"nginx, static": nginx.run, "upserts": upserts.run}, options.rounds)
        upserts.check()
    return [
        rates("registration upserts, 64 connections", samples, "upserts", "nginx, static", at_least=0.22),
        cpu("  its CPU per upsert", samples, "upserts", "nginx, static"),
        Figure("  p99", "ms", [it.p99 for it in samples["upserts"]]),
    ]
