"""Counts what the server executes: instructions and allocations, by callgrind."""
import contextlib
import os
import re
import subprocess

from . import build
from .hub import Hub, set_credential
from .server import Server

# An answer of telemetry costs as much as many pushes, so few are asked for.
POLL_SECONDS = 2
ALLOCATORS = ("malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc")


class Counted:
    """A server whose work is counted in portions."""

    def __init__(self, sink, data):
        set_credential(data, sink.port)
        self._output, self._portions = os.path.join(data, "callgrind.out"), 0
        callgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={self._output}"]
        self.server = Server(data, under=callgrind)
        # As valgrind can read it: some of Swift's debugging information is newer.
        self.server.binary = os.path.join(data, "martlet")
        strip = ["strip", "--strip-debug", "-o", self.server.binary, build.MARTLET]
        subprocess.run(strip, check=True)

    def __enter__(self):
        self.server.start()
        return self

    def __exit__(self, *_):
        self.server.stop()

    @contextlib.contextmanager
    def portion(self):
        """Counts what is executed meanwhile; the result is a list that gets instructions and allocations at the end."""
        result = []
        self._tell("instrumentation", "on")
        yield result
        self._tell("instrumentation", "off")
        self._tell("dump")
        self._portions += 1
        result += read(f"{self._output}.{self._portions}")

    def _tell(self, *command):
        vgdb = ["vgdb", f"--pid={self.server.pid}", *command]
        subprocess.run(vgdb, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def counts(sink, data, devices, kind="native"):
    """Instructions and allocations for a push of one broadcast, after another that nothing is counted of."""
    with Counted(sink, data) as counted:
        hub = Hub(sink, counted.server, kind, devices, POLL_SECONDS)
        hub.broadcast()
        with counted.portion() as found:
            hub.broadcast()
    return [count / hub.audience for count in found]


def read(path):
    """Functions are named where they first appear, by numbers from then on; "calls=" is of the function before it."""
    names, callee, instructions, allocations = {}, None, 0, 0
    with open(path) as lines:
        for line in lines:
            if found := re.match(r"(c?)fn=\((\d+)\)(?: (.*))?", line):
                is_called, number, name = found.groups()
                if name:
                    names[number] = name
                if is_called:
                    callee = names[number]
            elif line.startswith("calls=") and callee in ALLOCATORS:
                allocations += int(line[6:].split()[0])
            elif line.startswith("totals:"):
                instructions = int(line.split()[1])
    return instructions, allocations
