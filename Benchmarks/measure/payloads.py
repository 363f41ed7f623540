"""A large payload on its way through the app backend, and nginx serving the same file."""
import contextlib
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

from . import build
from .server import HUB, Server
from .storm import Nginx

USER, PASSWORD = "alice", "wonderland"
PIECE = 1 << 20


class File:
    def __init__(self, folder, size):
        self.folder, self.path = folder, os.path.join(folder, "payload.bin")
        digest = hashlib.sha256()
        with open(self.path, "wb") as file:
            for _ in range(size // PIECE):
                piece = os.urandom(PIECE)
                digest.update(piece)
                file.write(piece)
        self.digest = digest.hexdigest()

    def part(self, start, count):
        with open(self.path, "rb") as file:
            file.seek(start)
            return file.read(count)


@contextlib.contextmanager
def make_file(size):
    with tempfile.TemporaryDirectory(dir=build.WORK) as folder:
        yield File(folder, size)


class Backend(Server):
    """One user, who sends to herself: the payload is what is measured, not the push."""

    def __init__(self, limit):
        self._scratch = tempfile.TemporaryDirectory(dir=build.WORK)
        data = os.path.join(self._scratch.name, "data")
        self.prepare(data)
        # Something to send with; nobody is registered.
        credential = ["hub", "credential", "set", HUB, "webpush", "--generate", "--subject", "mailto:push@example.com"]
        subprocess.run([build.MARTLET, *credential, "--data", data], check=True, stdout=subprocess.DEVNULL)
        super().__init__(data, "--payload-limit", f"{limit // 10**6 + 1}M", "--payload-quota", f"{limit // 10**6 * 4}M")
        subprocess.run(
            [build.MARTLET, "user", "add", USER, "--password-stdin", "--data", data], check=True, input=PASSWORD, text=True,
            stdout=subprocess.DEVNULL)

    def __enter__(self):
        self.start()
        self._url = f"http://127.0.0.1:{self.port}/api/notifications"
        self.download_of("/api/openapi.json")  # what a first request costs is not the payload's
        return self

    def __exit__(self, *_):
        self.stop()
        self._scratch.cleanup()

    def upload(self, file):
        """Megabytes in a second, until the answer says that it is on disk."""
        answer = os.path.join(self._scratch.name, "answer")
        rate = curl(
            self._url + "/rich", "--user", f"{USER}:{PASSWORD}", "--header", "Expect:", "--form",
            f"file=@{file.path};type=application/octet-stream", "--output", answer, direction="upload")
        with open(answer) as text:
            self._id = json.load(text)["id"]
        return rate

    def download(self, *options):
        return curl(f"{self._url}/{self._id}", "--user", f"{USER}:{PASSWORD}", *options)

    def download_of(self, path):
        return curl(f"http://127.0.0.1:{self.port}{path}")

    def part(self, start, count):
        path = os.path.join(self._scratch.name, "part")
        self.download("--range", f"{start}-{start + count - 1}", "--output", path)
        with open(path, "rb") as file:
            return file.read()

    def check(self, file):
        """What comes back must be what was sent."""
        command = ["curl", "--silent", "--fail", "--user", f"{USER}:{PASSWORD}", f"{self._url}/{self._id}"]
        digest = hashlib.sha256()
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            while piece := process.stdout.read(PIECE):
                digest.update(piece)
        if digest.hexdigest() != file.digest:
            sys.exit("the payload is not what was sent")

    def peak_memory(self):
        """The most that was resident at a time, in bytes."""
        with open(f"/proc/{self._process.pid}/status") as status:
            return int(re.search(r"VmHWM:\s+(\d+) kB", status.read())[1]) * 1024


class FileServer(Nginx):
    """nginx over an existing folder."""

    def __init__(self, folder):
        super().__init__(www=folder)
        self.url = self.address + "/payload.bin"


def curl(url, *options, direction="download"):
    """One transfer; megabytes in a second."""
    command = ["curl", "--silent", "--show-error", "--fail", "--write-out", f"%{{speed_{direction}}}"]
    if "--output" not in options:
        command += ["--output", "/dev/null"]
    done = subprocess.run([*command, *options, url], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"curl: {done.stderr}")
    return float(done.stdout) / 1e6
