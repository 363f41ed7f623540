"""A million registrations by jobs: imported from a file, listed by paging while one in a hundred changes, exported again.

Every registration must be there once, with the tags that were last written, in the listing and in the export. Prints
times, sizes and the server's peak memory.

    mass_jobs.py MARTLET [--count N]
"""

import argparse
import asyncio
import http.client
import os
import re
import tempfile
import threading
import time
from xml.sax.saxutils import escape

import hub_client
import process_figures
import processes
from checks import Checks

checks = Checks("mass-jobs")
HEAD = f'<AppleRegistrationDescription xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns="{hub_client.SERVICE}">'
MEGABYTE = 1e6


def token(number):
    return f"{number:064x}"


def tags(number, changed):
    mark = "changed" if changed else "first"
    return f"user:{number},city:{number % 1000},{mark}"


def write_lines(path, count):
    with open(path, "w", encoding="ascii") as file:
        for number in range(count):
            file.write(
                f"{HEAD}<Tags>{tags(number, False)}</Tags><DeviceToken>{token(number)}</DeviceToken>"
                "</AppleRegistrationDescription>\n")


IDLE_SECONDS = 20  # after which a connection is not used again: the server may be closing it


class Hub:
    """One hub, spoken to over one connection at a time."""

    def __init__(self, port, key):
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        self._asked = time.monotonic()
        resource = hub_client.namespace_resource(port)
        self._headers = {
            "Authorization": hub_client.signature(resource, "DefaultFullSharedAccessSignature", key),
        }

    def ask(self, method, path, body=None):
        return self.ask_with({}, method, path, body)

    def ask_with(self, fields, method, path, body=None):
        if time.monotonic() > self._asked + IDLE_SECONDS:
            self._connection.close()
        self._connection.request(method, path, body, self._headers | fields)
        answer = self._connection.getresponse()
        data = answer.read()
        self._asked = time.monotonic()
        return answer, data

    def post_job(self, kind, container, source=None):
        """The id of the job."""
        source = f"<ImportFileUri>{escape(source)}</ImportFileUri>" if source else ""
        body = (
            f'<entry xmlns="{hub_client.ATOM}"><content type="application/xml"><NotificationHubJob xmlns="'
            f'{hub_client.SERVICE}"><Type>{kind}</Type><OutputContainerUri>{escape(container)}</OutputContainerUri>'
            f"{source}</NotificationHubJob></content></entry>")
        answer, data = self.ask("POST", f"/mass/jobs?{hub_client.API_VERSION}", body)
        if answer.status != 201:
            raise processes.Failed(f"the job was answered {answer.status}: {data[:300]}")
        return re.search(rb"<JobId>([^<]+)", data)[1].decode()

    def job(self, identifier):
        """Its description."""
        return self.ask("GET", f"/mass/jobs/{identifier}?{hub_client.API_VERSION}")[1]

    def wait(self, identifier):
        """Returns when the job is done."""
        data = b""
        while b"<Status>Completed" not in data:
            time.sleep(0.1)
            data = self.job(identifier)
            if b"<Status>Failed" in data:
                raise processes.Failed(f"the job failed: {data[:2000]}")

    def run_job(self, kind, container, source=None):
        """The id of the job when it is done, and how long it took in seconds."""
        start = time.monotonic()
        identifier = self.post_job(kind, container, source)
        self.wait(identifier)
        return identifier, time.monotonic() - start


def transfer(port, method, url, path):
    """Streams a file to a signed URL (PUT), or what is there to a file (GET)."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    target = url.partition(f":{port}")[2]
    if method == "PUT":
        with open(path, "rb") as file:
            headers = {"x-ms-blob-type": "BlockBlob", "Content-Length": str(os.path.getsize(path))}
            connection.request("PUT", target, file, headers)
            answer = connection.getresponse()
            answer.read()
    else:
        connection.request("GET", target)
        answer = connection.getresponse()
        with open(path, "wb") as file:
            while piece := answer.read(1 << 20):
                file.write(piece)
    connection.close()
    return answer.status


def read_descriptions(data):
    """Number and tags of each description in a text."""
    pattern = rb"<Tags>([^<]*)</Tags><DeviceToken>([0-9a-fA-F]{64})</DeviceToken>"
    return [(int(found[2], 16), found[1].decode()) for found in re.finditer(pattern, data)]


def list_all(hub, count):
    """How often each number was seen, and how many had wrong tags; asks page by page."""
    seen, wrong, after = bytearray(count), 0, ""
    while True:
        answer, data = hub.ask("GET", f"/mass/registrations?{hub_client.API_VERSION}&$top=1000{after}")
        if answer.status != 200:
            raise processes.Failed(f"the listing answered {answer.status}: {data[:300]}")
        for number, found in read_descriptions(data):
            seen[number] += 1
            wrong += found not in (tags(number, False), tags(number, number % 100 == 0))
        following = answer.getheader("x-ms-continuationtoken")
        if not following:
            return seen, wrong
        after = f"&continuationtoken={following}"


def change(hub, identifiers):
    """Writes one in a hundred anew, with other tags."""
    for number, identifier in identifiers:
        body = hub_client.registration_entry(token(number), tags(number, True).split(","))
        answer, data = hub.ask("PUT", f"/mass/registrations/{identifier}?{hub_client.API_VERSION}", body)
        if answer.status != 200:
            raise processes.Failed(f"a change was answered {answer.status}: {data[:300]}")


def say(what, seconds, count, server, path=None):
    size = f", {os.path.getsize(path) / MEGABYTE:.0f} MB" if path else ""
    print(
        f"mass-jobs: {what}: {seconds:.1f} s, {count / seconds:,.0f} a second{size}; the server so far: "
        f"{process_figures.processor_time(server.process.pid):.1f} s of processor, peak memory {process_figures.memory(server.process.pid)['VmHWM'] / 1024:.0f} MB",
        flush=True)


class Run:
    def __init__(self, server, key, url, directory, count):
        self._server, self._port, self._count = server, server.port, count
        self._hub, self._changer = Hub(self._port, key), Hub(self._port, key)
        self._container = re.sub(r"//[^/]+/", f"//127.0.0.1:{self._port}/", url)
        self._directory = directory

    def blob(self, name):
        return self._container.replace("?", f"/{name}?", 1)

    def file(self, name):
        return os.path.join(self._directory, name)

    def run(self):
        output = self._import()
        self._list(output)
        self._export()

    def _import(self):
        path = self.file("in.txt")
        write_lines(path, self._count)
        start = time.monotonic()
        checks.equal("the file is uploaded", transfer(self._port, "PUT", self.blob("in.txt"), path), 201)
        say("upload of the file", time.monotonic() - start, self._count, self._server, path)
        job, seconds = self._hub.run_job("ImportCreateRegistrations", self._container, self.blob("in.txt"))
        say("import", seconds, self._count, self._server)
        output, failed = self.file("imported.txt"), self.file("failed.txt")
        transfer(self._port, "GET", self.blob(f"mass/{job}/Output.txt"), output)
        transfer(self._port, "GET", self.blob(f"mass/{job}/Failed.txt"), failed)
        checks.equal("no line failed", os.path.getsize(failed), 0)
        return output

    def _list(self, output):
        identifiers, lines = [], 0
        with open(output, encoding="ascii") as file:
            for line in file:
                number, _, identifier = line.rstrip("\n").split("\t")
                lines += 1
                if (int(number) - 1) % 100 == 0:
                    identifiers.append((int(number) - 1, identifier))
        checks.equal("every line is told of", lines, self._count)
        failures = []

        def changing():
            try:
                change(self._changer, identifiers)
            except Exception as error:  # shown below: a thread's own would be lost
                failures.append(error)

        changer = threading.Thread(target=changing)
        start = time.monotonic()
        changer.start()
        seen, wrong = list_all(self._hub, self._count)
        seconds = time.monotonic() - start
        changer.join()
        say("listing while 1 % change", seconds, self._count, self._server)
        checks.equal("the changes are taken", failures, [])
        checks.equal("every registration is listed once", seen.count(1), self._count)
        checks.equal("with the tags it had then", wrong, 0)

    def _export(self):
        job, seconds = self._hub.run_job("ExportRegistrations", self._container)
        path = self.file("out.txt")
        start = time.monotonic()
        status = transfer(self._port, "GET", self.blob(f"mass/{job}/Output.txt"), path)
        downloaded = time.monotonic() - start
        say("export", seconds, self._count, self._server, path)
        say("download of the file", downloaded, self._count, self._server, path)
        checks.equal("the export is downloaded", status, 200)
        seen, wrong, lines = bytearray(self._count), 0, 0
        with open(path, "rb") as file:
            for line in file:
                lines += 1
                for number, found in read_descriptions(line):
                    seen[number] += 1
                    wrong += found != tags(number, number % 100 == 0)
        checks.equal("a line for each", lines, self._count)
        checks.equal("every registration is exported once", seen.count(1), self._count)
        checks.equal("as it was last written", wrong, 0)


async def course(binary, count):
    with tempfile.TemporaryDirectory() as directory:
        data = os.path.join(directory, "data")
        rules = processes.create_hub(binary, data, "mass")
        server = processes.Server(binary, data, os.path.join(directory, "log"))
        await server.start()
        try:
            url = processes.martlet(binary, "container", "create", "mass", "--data", data).strip()
            await asyncio.to_thread(
                Run(server, rules["DefaultFullSharedAccessSignature"], url, directory, count).run)
        finally:
            await server.stop()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("martlet")
    parser.add_argument("--count", type=int, default=1_000_000)
    arguments = parser.parse_args()
    checks.finish(course(arguments.martlet, arguments.count))
