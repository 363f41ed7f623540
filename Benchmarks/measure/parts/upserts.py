"""Durable registration upserts through HTTP."""
from .. import floor
from ..figures import Figure, cpu, rates
from ..rounds import alternate
from ..storm import Nginx, Upserts


def measure(options):
    with Upserts() as upserts, Upserts(floor.upserts) as least, Nginx() as nginx:
        measures = {"nginx, static": nginx.run, "floor of an upsert": least.run, "upserts": upserts.run}
        samples = alternate(measures, options.rounds)
        upserts.check()
        least.check()
    return [
        rates("registration upserts, 64 connections", samples, "upserts", "nginx, static", at_least=0.22),
        cpu("  its CPU per upsert", samples, "upserts", "nginx, static"),
        Figure("  p99", "ms", [it.p99 for it in samples["upserts"]]),
        rates("  floor of an upsert", samples, "floor of an upsert", "nginx, static"),
        cpu("  its CPU per upsert", samples, "floor of an upsert", "nginx, static"),
    ]
