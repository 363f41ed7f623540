"""From what was measured in each round to the table and the JSON."""
import datetime
import json
import os
import platform
import statistics
from dataclasses import asdict, dataclass

from . import build
from .sample import Sample


@dataclass
class Figure:
    """One row: a value for each round, and where it is compared, the yardstick's of the same round."""
    name: str
    unit: str
    values: list
    yardstick: str = ""
    yardsticks: list = None
    # What the median of the ratios is to be, or that of the values where there is no yardstick.
    at_least: float = None
    at_most: float = None
    # How much of the time the sink's core was busy: near 1, the sink was the limit.
    sink_busy: float = None

    @property
    def ratios(self):
        """Made within a round, where both sides met the same neighbours."""
        return [value / base for value, base in zip(self.values, self.yardsticks)] if self.yardsticks else self.values

    @property
    def target(self):
        if self.at_least is not None:
            return f">= {self.at_least:g}"
        return f"<= {self.at_most:g}" if self.at_most is not None else ""

    @property
    def verdict(self):
        judged = statistics.median(self.ratios)
        if self.at_least is not None:
            return "met" if judged >= self.at_least else "falls short"
        if self.at_most is not None:
            return "met" if judged <= self.at_most else "falls short"
        return ""


def rates(name, samples, measure, yardstick, **target):
    """Of requests a second."""
    busy = [it.sink_share for it in samples[measure] if isinstance(it, Sample) and it.sink_cpu]
    return Figure(
        name, "1/s", [it.rate for it in samples[measure]], yardstick, [it.rate for it in samples[yardstick]],
        sink_busy=statistics.median(busy) if busy else None, **target)


def cpu(name, samples, measure, yardstick, **target):
    """Of microseconds on the processor for a request."""
    return Figure(
        name, "us", [it.cpu_each for it in samples[measure]], yardstick, [it.cpu_each for it in samples[yardstick]],
        **target)


def table(figures):
    rows = [["", "value", "", "yardstick", "its value", "ratio", "spread", "target", "", "sink busy"]]
    for it in figures:
        middle = statistics.median(it.values)
        row = [it.name, number(middle), it.unit, it.yardstick]
        if it.yardsticks:
            row += [number(statistics.median(it.yardsticks)), f"{statistics.median(it.ratios):.2f}"]
            row += [f"{min(it.ratios):.2f} - {max(it.ratios):.2f}"]
        else:
            row += ["", "", f"{number(min(it.values))} - {number(max(it.values))}"]
        rows.append(row + [it.target, it.verdict, "" if it.sink_busy is None else f"{it.sink_busy:.0%}"])
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    right = {1, 4, 5}
    return "\n".join(
        "  ".join(
            cell.rjust(width) if place in right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths))).rstrip()
        for row in rows)


def number(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def save(figures, more):
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H%M%SZ")
    folder = os.path.join(build.HOME, "results")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"targets-{now}.json")
    rows = [
        asdict(it) | {
            "median": statistics.median(it.values), "ratio": statistics.median(it.ratios) if it.yardsticks else None,
            "target": it.target, "verdict": it.verdict,
        } for it in figures]
    with open(path, "w") as file:
        json.dump({"time": now, "machine": machine(), **more, "rows": rows}, file, indent=2)
    return path


def machine():
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown")
    return {"processor": model, "cores": os.cpu_count(), "kernel": platform.release(), "load": os.getloadavg()[0]}
