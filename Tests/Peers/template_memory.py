"""Broadcasts to installations each of which has a template of 55 KB of its own, several at a time: every device gets its
push, and the private memory of the server stays bounded and returns. A template whose constant part is as large is refused.

    template_memory.py MARTLET [--installations N] [--sends N]
"""

import argparse
import asyncio
import json
import os
import tempfile
import time

import hub_client
import process_figures
import processes
from checks import Checks

checks = Checks("template_memory")

FULL = "DefaultFullSharedAccessSignature"
HUB = "large"
TEMPLATE_BYTES = 55_000
CONNECTIONS = 4
WAIT = 240
# In MB: 64 for pages in hand, 16 for templates, the bodies of what is sent, the database's pages, and what the allocator keeps
# of it; a debug build has some 40 before it begins. Bounded by entries, it was thousands.
MOST, AFTERWARDS = 256, 160


def installation(number, alert):
    body = json.dumps({"aps": {"alert": alert}, "number": f"{number}"})
    return json.dumps({
        "installationId": f"i{number}", "platform": "apns", "pushChannel": f"{number:064x}", "tags": ["all"],
        "templates": {"t": {"body": body}}}).encode()


class Client:
    def __init__(self, port, key):
        self._connection = hub_client.Connection(port, timeout=WAIT)
        self._token = hub_client.signature(hub_client.namespace_resource(port), FULL, key)

    async def call(self, method, path, fields, body):
        fields = {"Authorization": self._token, "Content-Type": "application/json"} | fields
        status, _, content = await self._connection.request(
            method, f"/{HUB}/{path}?{hub_client.API_VERSION}", fields, body)
        return status, content.decode()


class Course:
    def __init__(self, binary, directory, options):
        self._binary, self._options = binary, options
        self._data = os.path.join(directory, "data")
        self._key = processes.create_hub(binary, self._data, HUB)[FULL]
        self._peer = processes.APNsPeer(os.path.join(directory, "peer"))
        self._server = processes.Server(binary, self._data, os.path.join(directory, "server.log"))
        self._most = 0

    async def run(self):
        try:
            await self._peer.start()
            processes.martlet(self._binary, "hub", "credential", "set", HUB, "apns",
                              *self._peer.credential_arguments(), "--data", self._data)
            await self._server.start()
            await self._refuse()
            await self._register()
            sampling = asyncio.create_task(self._sample())
            await self._send()
            sampling.cancel()
            await self._judge()
        finally:
            for program in [self._server, self._peer]:
                if program.process and program.process.returncode is None:
                    await program.kill()

    async def _refuse(self):
        client = Client(self._server.port, self._key)
        status, text = await client.call("PUT", "installations/i0", {}, installation(0, "x" * TEMPLATE_BYTES))
        checks.equal("a template with a constant part of 55 KB is refused", status, 400)
        checks.that("its size is named", "constant part makes a payload of 55" in text, text)

    async def _register(self):
        default = "x" * TEMPLATE_BYTES
        numbers = iter(range(1, self._options.installations + 1))

        async def register():
            client = Client(self._server.port, self._key)
            for number in numbers:
                status, text = await client.call(
                    "PUT", f"installations/i{number}", {}, installation(number, f"$(text:{{{default}}})"))
                if status != 200:
                    raise processes.Failed(f"an installation is answered {status}: {text}")

        await asyncio.gather(*[register() for _ in range(CONNECTIONS)])

    async def _send(self):
        client = Client(self._server.port, self._key)
        for number in range(self._options.sends):
            status, text = await client.call(
                "POST", "messages", {"ServiceBusNotification-Format": "template"},
                json.dumps({"text": f"send {number}"}).encode())
            checks.equal(f"send {number} is accepted", status, 201)
        wanted, deadline = self._options.installations * self._options.sends, time.monotonic() + WAIT
        while (found := self._arrived()) < wanted and time.monotonic() < deadline:
            await asyncio.sleep(0.2)
        checks.equal("every push arrives once", found, wanted)

    def _arrived(self):
        with open(self._peer.ledger, "rb") as ledger:
            return sum(chunk.count(b"\n") for chunk in iter(lambda: ledger.read(1 << 20), b""))

    async def _sample(self):
        while True:
            self._most = max(self._most, self._private())
            await asyncio.sleep(0.05)

    def _private(self):
        return process_figures.private_memory(self._server.process.pid) / 1024

    async def _judge(self):
        checks.that(f"private memory stays below {MOST} MB", self._most < MOST, f"{self._most:.0f} MB")
        afterwards, deadline = self._private(), time.monotonic() + 20
        while afterwards > AFTERWARDS and time.monotonic() < deadline:
            await asyncio.sleep(0.5)
            afterwards = self._private()
        checks.that(f"private memory returns below {AFTERWARDS} MB", afterwards < AFTERWARDS, f"{afterwards:.0f} MB")
        print(f"template_memory: {self._options.installations} installations, {self._options.sends} sends: "
              f"at most {self._most:.0f} MB, afterwards {afterwards:.0f} MB", flush=True)


async def course(options):
    with tempfile.TemporaryDirectory() as directory:
        os.mkdir(os.path.join(directory, "data"), 0o700)
        await Course(os.path.abspath(options.martlet), directory, options).run()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("martlet")
    parser.add_argument("--installations", type=int, default=1000)
    parser.add_argument("--sends", type=int, default=9)
    checks.finish(course(parser.parse_args()))
