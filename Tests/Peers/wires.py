"""The ways between nodes and database servers, as a process of its own: each can be cut, held up or slowed down.

    wires.py COUNT SOCKET...

listens on a port for each of COUNT nodes and each of the Unix sockets, and prints `wires: ready PORT,PORT... PORT,PORT...`:
for each node the ports that lead to the sockets, in their order. Each line of standard input is a command about the node
with that number, which is answered by `done`:

    cut N           ends the node's connections, and from now on every new one
    hold N          nothing arrives any more, in either direction, and nobody is told
    slow N SECONDS  all that is sent arrives so much later
    mend N          as in the beginning; what was held up arrives now
    reset N         the same, but connections that were held up are ended
"""

import asyncio
import collections
import sys

CHUNK = 65_536
# Of one direction of a connection: what is sent beyond it waits at the sender.
IN_HAND = 16


class Wire:
    """Everything between one node and the servers."""

    def __init__(self):
        self._is_cut = False
        self._delay = 0
        self._flows = asyncio.Event()
        self._flows.set()
        self._writers = set()

    async def carry(self, socket, reader, writer):
        """Serves one connection of the node."""
        if self._is_cut:
            writer.close()
            return
        # Who connects to a wire that is held up gets a connection, as by a firewall, and no answer.
        await self._flows.wait()
        try:
            far_reader, far_writer = await asyncio.open_unix_connection(socket)
        except OSError:
            writer.close()
            return
        ends = {writer, far_writer}
        self._writers |= ends
        tasks = [asyncio.create_task(self._pump(*way)) for way in ((reader, far_writer), (far_reader, writer))]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        # An end that closes is told at once, unless nothing arrives.
        await self._flows.wait()
        for end in ends:
            end.close()
        self._writers -= ends
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _pump(self, reader, writer):
        waiting = collections.deque()
        room, filled = asyncio.Semaphore(IN_HAND), asyncio.Event()
        arrival = asyncio.create_task(self._arrive(waiting, room, filled, writer))
        try:
            while data := await reader.read(CHUNK):
                await room.acquire()
                waiting.append((asyncio.get_running_loop().time() + self._delay, data))
                filled.set()
            waiting.append((0, b""))
            filled.set()
            await arrival
        except OSError:
            pass
        finally:
            arrival.cancel()

    async def _arrive(self, waiting, room, filled, writer):
        while True:
            await filled.wait()
            filled.clear()
            while waiting:
                due, data = waiting.popleft()
                if not data:
                    return
                if (left := due - asyncio.get_running_loop().time()) > 0:
                    await asyncio.sleep(left)
                await self._flows.wait()
                if writer.is_closing():
                    return
                writer.write(data)
                await writer.drain()
                room.release()

    def obey(self, command, *values):
        self._is_cut = command == "cut"
        self._delay = float(values[0]) if command == "slow" else 0
        if command in ("cut", "reset"):
            for writer in self._writers:
                writer.transport.abort()
        if command == "hold":
            self._flows.clear()
        else:
            self._flows.set()


def listener(wire, socket):
    return asyncio.start_server(lambda reader, writer: wire.carry(socket, reader, writer), "127.0.0.1", 0)


async def main(count, sockets):
    wires = [Wire() for _ in range(count)]
    servers = [[await listener(wire, socket) for socket in sockets] for wire in wires]
    ports = [",".join(str(server.sockets[0].getsockname()[1]) for server in each) for each in servers]
    print("wires: ready", *ports, flush=True)
    commands = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    while line := await commands.readline():
        command, number, *values = line.decode().split()
        wires[int(number)].obey(command, *values)
        print("done", flush=True)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2:]))
