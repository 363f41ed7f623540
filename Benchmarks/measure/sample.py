"""One measurement."""
from dataclasses import dataclass


@dataclass
class Sample:
    requests: int
    seconds: float
    # Of the measured side, and of the sink.
    cpu: float
    sink_cpu: float

    @property
    def rate(self):
        return self.requests / self.seconds

    @property
    def cpu_each(self):
        """Microseconds."""
        return self.cpu / self.requests * 1e6

    @property
    def sink_share(self):
        """How much of the time the sink's core was busy: near 1, the sink was the limit."""
        return self.sink_cpu / self.seconds

    def __str__(self):
        return f"{self.rate / 1000:8.1f} k/s {self.cpu_each:7.2f} us, sink {self.sink_share:4.0%}"
