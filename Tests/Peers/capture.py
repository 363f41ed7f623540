"""What passes a place, and what a process has in its memory, to be searched."""

import contextlib
import os
import re
import signal
import socket
import threading

PIECE = 16
ROW = 1 << 16
ZEROS = bytes(ROW)


class Tap:
    """A TCP port on loopback that passes everything on to another one and keeps both directions."""

    def __init__(self, port):
        self._target = ("127.0.0.1", port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.sent, self.answered = bytearray(), bytearray()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._target)
                for source, sink, kept in ((client, server, self.sent), (server, client, self.answered)):
                    threading.Thread(target=self._pass, args=(source, sink, kept), daemon=True).start()

    @staticmethod
    def _pass(source, sink, kept):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                kept += data
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    def close(self):
        self._listener.close()


def files(directory):
    """Every file below a directory: its path and its bytes."""
    for folder, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    yield path, file.read()


def memory(process):
    """What a core dump of a process would hold, but for files that it has mapped and cannot write to: what each part
    is, and its bytes.

    The process is stopped meanwhile, so that nothing moves from what was not read yet to what was.
    """
    os.kill(process, signal.SIGSTOP)
    try:
        with open(f"/proc/{process}/maps") as maps, open(f"/proc/{process}/mem", "rb", buffering=0) as memory:
            for line in maps:
                start, end, access, name = re.match(r"(\w+)-(\w+) (\S+) \S+ \S+ \S+\s*(.*)", line).groups()
                if "r" not in access or name.startswith("[v") or (name.startswith("/") and "w" not in access):
                    continue
                with contextlib.suppress(OSError):
                    yield f"memory {name or start}", _read(memory, int(start, 16), int(end, 16))
    finally:
        os.kill(process, signal.SIGCONT)


def _read(memory, start, end):
    """The bytes of a part; long rows of zeros, which most of a process is, are one."""
    memory.seek(start)
    found = bytearray()
    while start < end:
        piece = memory.read(min(end - start, ROW))
        if not piece:
            break
        start += len(piece)
        found += piece if piece != ZEROS[: len(piece)] else b"\0"
    return bytes(found)


def holds(haystack, secret):
    """Whether 16 successive bytes of the secret, whichever, are there."""
    # Every such piece has one of these eights in it, at a multiple of eight.
    half = PIECE // 2
    for start in range(0, len(secret) - half + 1, half):
        place = haystack.find(secret[start : start + half])
        while place >= 0:
            before = after = 0
            while before < start and place > before and haystack[place - before - 1] == secret[start - before - 1]:
                before += 1
            behind = start + half
            while behind + after < len(secret) and haystack[place + half + after : place + half + after + 1] == secret[
                behind + after : behind + after + 1
            ]:
                after += 1
            if before + half + after >= PIECE:
                return True
            place = haystack.find(secret[start : start + half], place + 1)
    return False
