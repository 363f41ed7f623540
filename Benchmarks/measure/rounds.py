"""Alternating runs: what a neighbour on the machine takes, it takes from all."""
import sys


def alternate(measures, count):
    """The samples of each measure, one per round."""
    samples = {name: [] for name in measures}
    for number in range(1, count + 1):
        for name, measure in measures.items():
            sample = measure()
            samples[name].append(sample)
            print(f"round {number}: {name:32} {sample}", file=sys.stderr)
    return samples
