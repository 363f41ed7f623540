"""Registrations that a job imports from a file."""
from ..figures import Figure, cpu, rates
from ..imports import Imports
from ..rounds import alternate


def measure(options):
    count = max(1, options.devices * 3 // 10)
    with Imports(count) as imports:
        samples = alternate(
            {"floor of an import": imports.by_floor, "imported registrations": imports.by_job}, options.rounds)
    return [
        Figure("imported registrations", "1/s", [it.rate for it in samples["imported registrations"]], at_least=60_000),
        rates("  beside the floor", samples, "imported registrations", "floor of an import"),
        cpu("  its CPU per registration", samples, "imported registrations", "floor of an import"),
    ]
