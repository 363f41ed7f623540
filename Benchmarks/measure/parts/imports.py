"""Registrations that a job imports from a file."""
from ..figures import Figure, cpu, rates
from ..imports import Imports, ImportsAmidSends
from ..rounds import alternate
from ..sink import Sink

SENDS_A_SECOND = 500


def measure(options):
    count = max(1, options.devices * 3 // 10)
    with Imports(count) as imports, Sink() as sink:
        amid = ImportsAmidSends(sink, count, SENDS_A_SECOND)
        samples = alternate({
            "floor of an import": imports.by_floor,
            "imported registrations": imports.by_job,
            "imported amid sends": amid.run,
        }, options.rounds)
    return [
        Figure("imported registrations", "1/s", [it.rate for it in samples["imported registrations"]], at_least=60_000),
        rates("  beside the floor", samples, "imported registrations", "floor of an import"),
        cpu("  its CPU per registration", samples, "imported registrations", "floor of an import"),
        Figure(
            f"amid {SENDS_A_SECOND} sends a second, into {count:,} registrations", "1/s",
            [it.rate for it in samples["imported amid sends"]], at_least=60_000),
        Figure(
            "  p99 of these sends, from request to wire", "ms", [it.wire_p99 for it in samples["imported amid sends"]],
            at_most=20),
    ]
