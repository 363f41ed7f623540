"""The floors: the smallest program that makes the system calls and the rows of an operation (`Benchmarks/Floor`)."""
import http.client
import subprocess

from . import build
from .server import Server


class FloorServer(Server):
    """Answers the requests of one operation in the place of the product, which has made the data directory."""

    def __init__(self, data, operation, *arguments):
        super().__init__(data)
        self._command = [build.FLOOR, operation, data, *arguments]

    def start(self):
        self._process = subprocess.Popen(
            build.on_core(self.cores, self._command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self._process.stdout.readline().split()[1])
        self._connection = http.client.HTTPConnection("127.0.0.1", self.port)

    def stop(self, how=None):
        """Without a signal it ends with its input, once it has written what it was about to."""
        if how:
            return super().stop(how)
        self._process.stdin.close()
        self._process.wait()


def upserts(data):
    return FloorServer(data, "upserts")


def sends(sink):
    return lambda data: FloorServer(data, "sends", str(sink.port), build.CERTIFICATE)


def broadcasts(sink):
    return lambda data: FloorServer(data, "broadcasts", str(sink.port), build.CERTIFICATE)
