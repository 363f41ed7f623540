"""Which process on this machine has the other end of a connection."""

import glob
import os


def process_of(connection, name):
    """The id of the process of that name; None where there is none any more."""
    node = _node(connection.getpeername()[1], connection.getsockname()[1])
    if node is None:
        return None
    wanted = f"socket:[{node}]"
    for place in glob.glob("/proc/[0-9]*"):
        try:
            with open(f"{place}/comm") as comm:
                if comm.read().strip() != name:
                    continue
            if any(os.readlink(f"{place}/fd/{number}") == wanted for number in os.listdir(f"{place}/fd")):
                return int(os.path.basename(place))
        except OSError:
            pass  # it has ended, or closed one of its files
    return None


def _node(port, remote):
    """The number by which the kernel knows the socket between these ports, 0 once its process is gone. A local port alone
    does not say which: connections to different places may share it."""
    with open("/proc/net/tcp") as table:
        for line in table.readlines()[1:]:
            fields = line.split()
            if [int(fields[place].rpartition(":")[2], 16) for place in (1, 2)] == [port, remote]:
                return int(fields[9])
    return None
