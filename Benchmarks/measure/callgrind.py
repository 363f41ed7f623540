"""Counts what the server executes while it broadcasts: instructions and allocations, by callgrind."""
import os
import re
import subprocess

from . import build
from .hub import Hub, set_credential
from .server import Server

ALLOCATORS = ("malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc")


def counts(sink, data, devices, kind="native"):
    """Instructions and allocations for a push of one broadcast, after another that nothing is counted of."""
    set_credential(data, sink)
    output = os.path.join(data, "callgrind.out")
    callgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={output}"]
    server = Server(data, under=callgrind)
    # As valgrind can read it: some of Swift's debugging information is newer.
    server.binary = os.path.join(data, "martlet")
    subprocess.run(["strip", "--strip-debug", "-o", server.binary, build.MARTLET], check=True)
    server.start()
    try:
        hub = Hub(sink, server, kind, devices)
        hub.broadcast()
        tell(server, "instrumentation", "on")
        hub.broadcast()
        tell(server, "instrumentation", "off")
        tell(server, "dump")
    finally:
        server.stop()
    instructions, allocations = read(output + ".1")
    return instructions / hub.audience, allocations / hub.audience


def tell(server, *command):
    subprocess.run(
        ["vgdb", f"--pid={server.pid}", *command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


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
