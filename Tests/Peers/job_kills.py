"""An import job through kills of the server: no line may be lost and none done twice.

    job_kills.py MARTLET [--count N] [--kills N]
"""

import argparse
import asyncio
import os
import random
import re
import tempfile

import mass_jobs
import processes
from checks import Checks

checks = Checks("job-kills")


async def course(binary, count, kills):
    with tempfile.TemporaryDirectory() as directory:
        data = os.path.join(directory, "data")
        key = processes.create_hub(binary, data, "mass")["DefaultFullSharedAccessSignature"]
        server = processes.Server(binary, data, os.path.join(directory, "log"))
        await server.start()
        try:
            url = processes.martlet(binary, "container", "create", "mass", "--data", data).strip()
            await storm(Place(server, key, url, directory), count, kills)
        finally:
            await server.stop()


class Place:
    """A server that comes back on another port."""

    def __init__(self, server, key, url, directory):
        self.server, self._key, self._url, self.directory = server, key, url, directory

    def hub(self):
        return mass_jobs.Hub(self.server.port, self._key)

    def blob(self, name=""):
        container = re.sub(r"//[^/]+/", f"//127.0.0.1:{self.server.port}/", self._url)
        return container.replace("?", f"/{name}?", 1) if name else container

    def read(self, name):
        path = os.path.join(self.directory, "read")
        status = mass_jobs.transfer(self.server.port, "GET", self.blob(name), path)
        if status != 200:
            raise processes.Failed(f"{name} was answered {status}")
        with open(path, encoding="ascii") as file:
            return file.read().splitlines()


async def storm(place, count, kills):
    lines = os.path.join(place.directory, "in.txt")
    mass_jobs.write_lines(lines, count)
    checks.equal(
        "the file is uploaded",
        mass_jobs.transfer(place.server.port, "PUT", place.blob("in.txt"), lines), 201)
    job = place.hub().post_job("ImportCreateRegistrations", place.blob(), place.blob("in.txt"))
    hits = 0
    while hits < kills:
        await asyncio.sleep(random.uniform(0.1, 0.6))
        if b"<Status>Completed" in place.hub().job(job):
            break
        await place.server.kill()
        await place.server.start()
        hits += 1
    checks.that("the job was hit before it was done", hits > 0)
    await asyncio.to_thread(place.hub().wait, job)
    told = [line.split("\t") for line in place.read(f"mass/{job}/Output.txt")]
    checks.equal("every line is told of once, in order", [int(line[0]) for line in told], list(range(1, count + 1)))
    checks.equal("no line failed", place.read(f"mass/{job}/Failed.txt"), [])
    seen, wrong = await asyncio.to_thread(mass_jobs.list_all, place.hub(), count)
    checks.equal("every registration is there once", (seen.count(1), sum(seen)), (count, count))
    checks.equal("with its tags", wrong, 0)
    print(f"job-kills: the server was killed {hits} times", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("martlet")
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--kills", type=int, default=5)
    arguments = parser.parse_args()
    checks.finish(course(arguments.martlet, arguments.count, arguments.kills))
