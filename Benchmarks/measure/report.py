"""From the samples of all platforms to a table and JSON."""
import datetime
import json
import os
import statistics

from . import build
from .figures import machine


def publish_pairs(samples, rounds, pairs):
    """Each measurement with a yardstick of its own: names to names."""
    rows = [row(name, samples[name], samples[yardstick]) for name, yardstick in pairs.items()]
    bases = [row(yardstick, samples[yardstick], samples[yardstick]) for yardstick in pairs.values()]
    print(f"{'':14} {'1/s':>8} {'of':>8} {'ratio':>6} {'spread':>12} {'CPU us':>7} {'of':>7} {'ratio':>6} {'sink busy':>9}")
    for it, base in zip(rows, bases):
        spread = f"{it['ratio_low']:.2f} - {it['ratio_high']:.2f}"
        print(
            f"{it['name']:14} {it['rate']:8.0f} {base['rate']:8.0f} {it['ratio']:6.2f} {spread:>12} "
            f"{it['cpu_us']:7.2f} {base['cpu_us']:7.2f} {it['cpu_ratio']:6.2f} {it['sink_busy']:9.0%}")
    print(f"Medians of {rounds} alternating rounds, with a load of {os.getloadavg()[0]:.0f} at the end.")
    save(rows + bases, rounds, {"yardsticks": pairs})


def row(name, series, yardstick):
    """Ratios are made within a round, where both sides met the same neighbours."""
    ratios = [sample.rate / base.rate for sample, base in zip(series, yardstick)]
    cpu_ratios = [sample.cpu_each / base.cpu_each for sample, base in zip(series, yardstick)]
    return {
        "name": name, "rate": statistics.median(sample.rate for sample in series),
        "ratio": statistics.median(ratios), "ratio_low": min(ratios), "ratio_high": max(ratios),
        "cpu_us": statistics.median(sample.cpu_each for sample in series),
        "cpu_ratio": statistics.median(cpu_ratios),
        "sink_busy": statistics.median(sample.sink_share for sample in series),
        "rates": [round(sample.rate) for sample in series],
    }


def save(rows, rounds, more):
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H%M%SZ")
    folder = os.path.join(build.HOME, "results")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"{now}.json")
    with open(path, "w") as file:
        json.dump(
            {"time": now, "machine": machine(), "rounds": rounds, **more, "rows": rows}, file, indent=2)
    print(f"Saved as {os.path.relpath(path)}")
