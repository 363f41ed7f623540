"""What a process takes, by /proc, and whether it takes more and more."""

import math
import os


def memory(pid):
    """KB by name: VmHWM, the most ever; RssAnon, what is its own now."""
    with open(f"/proc/{pid}/status") as status:
        found = dict(line.split(":", 1) for line in status if ":" in line)
    return {name: int(found[name].split()[0]) for name in ("VmHWM", "VmRSS", "RssAnon", "Threads")}


def private_memory(pid):
    """KB that no other process has and no file backs for good."""
    with open(f"/proc/{pid}/smaps_rollup") as rollup:
        return sum(int(line.split()[1]) for line in rollup if line.startswith("Private_"))


def processor_time(pid):
    """Seconds that its threads have had the processor, in the kernel too."""
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def open_files(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def directory_bytes(path):
    found = 0
    for place, _, names in os.walk(path):
        for name in names:
            try:
                found += os.stat(os.path.join(place, name)).st_blocks * 512
            except FileNotFoundError:
                pass  # gone since it was listed
    return found


def slope(points):
    """Of (x, y): the slope of the least squares and its standard error; None where there are too few."""
    count = len(points)
    if count < 3:
        return None
    middle = sum(x for x, _ in points) / count, sum(y for _, y in points) / count
    spread = sum((x - middle[0]) ** 2 for x, _ in points)
    rise = sum((x - middle[0]) * (y - middle[1]) for x, y in points) / spread
    rest = sum((y - middle[1] - rise * (x - middle[0])) ** 2 for x, y in points)
    return rise, math.sqrt(rest / (count - 2) / spread)


def quantiles(values):
    """The median, the 99th of a hundred and the largest."""
    ordered = sorted(values)
    return ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)], ordered[-1]
