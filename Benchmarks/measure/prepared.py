"""Data directories with registered devices, made once through the jobs of the REST API; measurements have copies."""
import contextlib
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from xml.sax.saxutils import escape

from . import build, devices
from .server import HUB, Server

ATOM = "http://www.w3.org/2005/Atom"
LINES_OF_A_JOB = 500_000


def prepared(kind, count):
    """Where the data is; it is made if there is none."""
    name = os.path.join(build.WORK, f"{kind}-{count}-")
    folder = name + schema()
    if not os.path.exists(folder):
        for old in glob.glob(name + "*"):
            shutil.rmtree(old)
        prepare(folder, kind, count)
    return folder


def schema():
    """What tells apart data that one version of the server has made from another's."""
    digest = hashlib.sha256()
    storage = os.path.join(os.path.dirname(build.HOME), "Sources", "MartletStorage")
    for path in sorted(glob.glob(os.path.join(storage, "**", "Migration*.swift"), recursive=True)):
        with open(path, "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()[:8]


@contextlib.contextmanager
def copy(folder):
    """A copy that may be changed, on disk before anything is measured with it."""
    with tempfile.TemporaryDirectory(dir=build.WORK) as scratch:
        data = os.path.join(scratch, "data")
        subprocess.run(["cp", "--recursive", "--reflink=auto", folder, data], check=True)
        subprocess.run(["sync", os.path.join(data, "martlet.db")], check=True)
        yield data


def size(folder):
    """Bytes on disk."""
    return sum(
        os.stat(os.path.join(path, name)).st_blocks * 512 for path, _, names in os.walk(folder) for name in names)


def prepare(folder, kind, count):
    print(f"importing {count} devices once: {kind}", file=sys.stderr)
    unfinished = folder + ".unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    Server.prepare(unfinished)
    make_key(unfinished)
    server = Server(unfinished)
    server.start()
    try:
        if count:
            run_jobs(server, unfinished, kind, count)
    finally:
        server.stop()
    remove_files_of_jobs(os.path.join(unfinished, "storage", "containers"))
    os.rename(unfinished, folder)


def make_key(data):
    """The key of the APNs credential."""
    key = ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
    subprocess.run([*key, "-out", os.path.join(data, "key.p8")], check=True, stderr=subprocess.DEVNULL)


def remove_files_of_jobs(folder):
    for path, _, names in os.walk(folder):
        if "Failed.txt" in names and os.path.getsize(os.path.join(path, "Failed.txt")):
            sys.exit(f"Benchmarks: lines of an import failed, see {path}")
    shutil.rmtree(folder, ignore_errors=True)


def make_container(server, data, name="devices"):
    """The signed URLs of a container, and of a file there for jobs to read."""
    made = subprocess.run(
        [build.MARTLET, "container", "create", name, "--data", data], check=True, capture_output=True, text=True)
    container = re.sub(r"//[^/]+/", f"//127.0.0.1:{server.port}/", re.search(r"http\S+", made.stdout)[0])
    return container, container.replace("?", "/in.txt?", 1)


def run_jobs(server, data, kind, count, hub=HUB):
    container, source = make_container(server, data, f"devices-{hub}")
    line = devices.KINDS[kind]
    for first in range(0, count, LINES_OF_A_JOB):
        lines = "".join(line(device) for device in range(first, min(first + LINES_OF_A_JOB, count)))
        server.upload(source, lines.encode())
        run_job(server, container, source, hub=hub)


def run_job(server, container, source, poll_seconds=0.5, hub=HUB, kind="ImportCreateRegistrations"):
    body = (
        f'<entry xmlns="{ATOM}"><content type="application/xml"><NotificationHubJob xmlns="{devices.SERVICE}">'
        f"<Type>{kind}</Type><OutputContainerUri>{escape(container)}</OutputContainerUri>"
        f"<ImportFileUri>{escape(source)}</ImportFileUri></NotificationHubJob></content></entry>")
    _, answer = server.call("POST", f"/{hub}/jobs", {"Content-Type": "application/atom+xml"}, body)
    job = re.search(r"<JobId>([^<]+)", answer)[1]
    while "<Status>Completed" not in answer:
        if "<Status>Failed" in answer:
            sys.exit(f"Benchmarks: the import failed: {answer}")
        time.sleep(poll_seconds)
        _, answer = server.call("GET", f"/{hub}/jobs/{job}")
