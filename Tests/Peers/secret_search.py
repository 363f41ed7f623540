"""Where a text is that was sent end to end encrypted: with its sender and on its recipient's device, and nowhere else.
A real `martlet serve` between `martlet notify --encrypt` and a device in Python (PyPI's http-ece), and between a sender
in Python and `martlet device`; then everything is searched that the server has, hears and says.

    secret_search.py MARTLET
"""

import asyncio
import base64
import hashlib
import json
import os
import random
import re
import string
import sys
import tempfile

import http_ece
import httpx
from cryptography.hazmat.primitives.asymmetric import ec

import capture
import processes
from checks import Checks, eventually
from web_push_peer import Browser, decode, encode

checks = Checks("secret-search")
HUB = "demo"
USERS = ("alice", "bob", "carol")


def new_secret():
    """Characters that no encoding of texts changes."""
    return "".join(random.SystemRandom().choices(string.ascii_letters + string.digits, k=64))


def fingerprint(keys):
    """Eight groups of five digits, from the documented rule alone."""
    digest = hashlib.sha256(decode(keys.p256dh) + decode(keys.auth)).digest()
    return " ".join(f"{int.from_bytes(digest[start:start + 4]) % 100_000:05}" for start in range(0, 32, 4))


class App:
    """A user's app in Python, made from NotificationHubs.md alone."""

    def __init__(self, user, port):
        auth = (user, f"password of {user}")
        self._client = httpx.Client(base_url=f"http://127.0.0.1:{port}/api", auth=auth, trust_env=False)
        self.keys = None

    def call(self, method, path, body=None):
        answer = self._client.request(method, path, json=body)
        if answer.status_code >= 300:
            raise processes.Failed(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer.json() if answer.content else None

    def register(self, token):
        """Registers a telephone with a key of its own, another each time."""
        self.keys = Browser("")
        name = self.call("POST", f"register?handle={token}")
        body = {"Platform": "apns", "Handle": token, "Tags": []}
        keys = {"PublicKey": self.keys.p256dh, "AuthSecret": self.keys.auth}
        self.call("PUT", f"register/{name}", body | keys)

    def read(self, payload):
        """What a push brings, fetched where it is not in there."""
        text = payload.get("encrypted")
        if text is None:
            text = self.call("GET", f"notifications/{payload['encryptedId']}")["Ciphertext"]
        return self.keys.open(base64.b64decode(text)).decode()

    def send_encrypted(self, user, text):
        entries = []
        for device in self.call("GET", f"users/{user}/keys")["devices"]:
            key, secret = decode(device["publicKey"]), decode(device["authSecret"])
            record = http_ece.encrypt(
                text.encode(), private_key=ec.generate_private_key(ec.SECP256R1()), dh=key, auth_secret=secret,
                version="aes128gcm")
            entries.append({
                "device": device["device"], "fingerprint": encode(hashlib.sha256(key + secret).digest()),
                "ciphertext": base64.b64encode(record).decode()})
        return self.call("POST", "notifications/encrypted", {"to": user, "ciphertexts": entries})["devices"]


class Course:
    def __init__(self, binary, directory):
        self._binary, self._directory = binary, directory
        self._data, self._log = os.path.join(directory, "data"), os.path.join(directory, "server.log")
        self._captured = os.path.join(directory, "to-apns")
        self._peer = processes.APNsPeer(os.path.join(directory, "apns"), "--capture", self._captured)
        self._pins = os.path.join(directory, "pins.json")
        self._seen = 0
        self._programs = [self._peer]

    async def run(self):
        await self._peer.start()
        processes.create_hub(self._binary, self._data, HUB)
        self._martlet("hub", "credential", "set", HUB, "apns", *self._peer.credential_arguments(), "--data", self._data)
        for user in USERS:
            self._martlet("user", "add", user, "--password-stdin", "--data", self._data, user=user)
        self._server = processes.Server(self._binary, self._data, self._log)
        self._programs.append(self._server)
        await self._server.start()
        self._tap = capture.Tap(self._server.port)
        self._alice, self._bob = App("alice", self._tap.port), App("bob", self._tap.port)
        self._alice.register("ab" * 32)
        secrets = await self._a_device_in_python_reads() + await self._a_sender_in_python_is_read()
        self._nothing_holds(secrets)
        await self._a_swapped_key_is_noticed()
        await self._the_search_finds_what_is_there()
        await self._a_secure_push_keeps_its_secret_from_push_services()
        checks.equal("SIGTERM ends the server with 0", (await self._server.stop())[0], 0)
        checks.equal("nothing is left on disk", [self._found(secret, self._on_disk()) for secret in secrets], [[]] * 4)
        checks.equal("APNs has nothing to say against it", (await self._peer.stop())[0], 0)
        self._tap.close()

    async def clear(self):
        """Ends what a course that broke off has left running."""
        for program in self._programs:
            if program.process and program.process.returncode is None:
                await program.stop()

    def _martlet(self, *arguments, user=None):
        return processes.martlet(self._binary, *arguments, stdin=user and f"password of {user}\n")

    def _as_bob(self, *arguments):
        backend = ["--backend", f"http://127.0.0.1:{self._tap.port}", "--user", "bob", "--password-stdin"]
        return self._martlet(*arguments, *backend, "--pins", self._pins, user="bob")

    async def _pushes(self, count=1):
        """The payloads of the pushes that have come since the last time."""
        def all_of_them():
            with open(self._peer.ledger) as ledger:
                return [json.loads(line)["payload"] for line in ledger]

        await eventually(lambda: len(all_of_them()) >= self._seen + count, 60)
        new = [json.loads(payload) for payload in all_of_them()[self._seen :]]
        self._seen += len(new)
        return new

    # What is sent

    async def _a_device_in_python_reads(self):
        short, long = new_secret(), new_secret()
        shown = self._as_bob("keys", "alice")
        checks.that("the sender sees the device's fingerprint", fingerprint(self._alice.keys) in shown, shown)
        printed = self._as_bob("send", "--encrypt", "--to", "alice", "--message", "Something came.", short)
        checks.that("a short text travels in the push", printed.endswith("  in the push\n"), printed)
        [push] = await self._pushes()
        checks.equal("the push is shown", push["aps"], {"alert": "Something came.", "mutable-content": 1})
        checks.equal("http-ece reads it", self._alice.read(push), short)
        printed = self._as_bob("send", "--encrypt", "--to", "alice", long + "." * 4000)
        checks.that("a long one goes by id", re.search(r"  by id \d+\n$", printed), printed)
        [push] = await self._pushes()
        checks.equal("http-ece reads it, too", self._alice.read(push), long + "." * 4000)
        return [short, long]

    async def _a_sender_in_python_is_read(self):
        command = [self._binary, "simulate", "--listen", "127.0.0.1:0"]
        simulator = processes.Program(
            [*command, "--ca-file", os.path.join(self._directory, "simulator.pem")],
            os.path.join(self._directory, "simulator.log"))
        self._programs.append(simulator)
        line = await simulator.start()
        address = ["--simulator", re.search(r" simulator=(\S+)", line)[1]]
        authority = ["--simulator-ca-file", re.search(r" ca-file=(\S+)", line)[1]]
        self._martlet("hub", "credential", "set", HUB, "fcmv1", *address, *authority, "--data", self._data)
        backend = ["--backend", f"http://127.0.0.1:{self._tap.port}", "--user", "carol", "--password-stdin"]
        device = Phone()
        self._programs.append(device)
        await device.start(self._binary, *backend, *address, *authority, "--platform", "fcmv1")
        short, long = new_secret(), new_secret()
        [sent] = self._bob.send_encrypted("carol", short)
        checks.equal("http-ece's short text travels in the push", sent["id"], None)
        checks.equal("martlet device reads it", await device.line(), f"encrypted: {short}")
        [sent] = self._bob.send_encrypted("carol", long + "." * 4000)
        checks.that("http-ece's long text goes by id", sent["id"], sent)
        checks.equal("martlet device reads it, too", await device.line(), f"encrypted: {long}{'.' * 4000}")
        await device.stop()
        await simulator.stop()
        return [short, long]

    async def _a_swapped_key_is_noticed(self):
        before = fingerprint(self._alice.keys)
        self._alice.register("ab" * 32)
        after = fingerprint(self._alice.keys)
        send = ["send", "--encrypt", "--to", "alice", "Is it you?"]
        refusal = str(checks.raises("another key stops the sending", processes.Failed, lambda: self._as_bob(*send)))
        checks.that("both fingerprints are shown", before in refusal and after in refusal, refusal)
        checks.raises(
            "a fingerprint of nobody's trusts nothing", processes.Failed,
            lambda: self._as_bob(*send, "--trust", before))
        checks.equal("nothing was sent", await self._pushes(0), [])
        self._as_bob(*send, "--trust", after)
        [push] = await self._pushes()
        checks.equal("the key that was compared is sent to", self._alice.read(push), "Is it you?")

    async def _a_secure_push_keeps_its_secret_from_push_services(self):
        secret = new_secret()
        name = self._bob.call("POST", "notifications/secure", {"to": ["alice"], "payload": secret})["id"]
        [push] = await self._pushes()
        checks.equal("the push carries the id", push["secureId"], str(name))
        checks.equal("the recipient reads it", self._alice.call("GET", f"notifications/{name}")["Payload"], secret)
        checks.equal("a secure secret is in nothing that leaves for APNs", self._found(secret, self._to_services()), [])
        checks.equal("nor on disk", self._found(secret, self._on_disk()), [])
        checks.equal("but in what its users say and hear", len(self._found(secret, self._with_clients())), 2)

    # What is searched

    def _nothing_holds(self, secrets):
        for sentence, places in {
            "on disk": self._on_disk, "between the server and its clients": self._with_clients,
            "in what leaves for APNs": self._to_services, "in the server's memory": self._in_memory,
        }.items():
            # Read once, searched for each.
            read = list(places())
            size = sum(len(data) for _, data in read)
            print(f"secret-search: {len(read)} places, {size} bytes searched {sentence}", flush=True)
            checks.that(f"there is something {sentence}", size > 1000, size)
            checks.equal(
                f"no piece of a secret is {sentence}", [self._found(secret, read) for secret in secrets], [[]] * 4)

    async def _the_search_finds_what_is_there(self):
        control = new_secret()
        self._bob.call("POST", "notifications?pns=apns&to_tag=alice", control)
        await self._pushes()
        checks.that("a plain text is on disk", self._found(control, self._on_disk()))
        checks.equal("it is in what the sender says", len(self._found(control, self._with_clients())), 1)
        checks.that("it is in what leaves for APNs", self._found(control, self._to_services()))
        # The storage keeps the pages that it wrote last.
        checks.that("it is in the server's memory", self._found(control, self._in_memory()))

    def _found(self, secret, places):
        """The places that hold 16 bytes of a secret, as they are or in base 64."""
        forms = [secret.encode()]
        for shift in range(3):
            # The characters that hold the secret's bits alone.
            text = base64.b64encode(b"\0" * shift + secret.encode() + b"\0" * 3)
            forms.append(text[(shift * 8 + 5) // 6 : (shift + len(secret)) * 8 // 6])
        return [name for name, data in places if any(capture.holds(data, form) for form in forms)]

    def _on_disk(self):
        yield from capture.files(self._data)
        with open(self._log, "rb") as log:
            yield self._log, log.read()

    def _with_clients(self):
        return [("from clients", bytes(self._tap.sent)), ("to clients", bytes(self._tap.answered))]

    def _to_services(self):
        with open(self._captured, "rb") as file:
            return [("to APNs", file.read())]

    def _in_memory(self):
        return capture.memory(self._server.process.pid)


class Phone:
    """`martlet device`, line by line."""

    process = None

    async def start(self, binary, *options):
        self.process = await asyncio.create_subprocess_exec(
            binary, "device", *options, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
        self.process.stdin.write(b"password of carol\n")
        if "registered" not in await self.line():
            raise processes.Failed("martlet device did not register")

    async def line(self):
        return (await self.process.stdout.readline()).decode().rstrip("\n")

    async def stop(self):
        self.process.terminate()
        await self.process.wait()


async def course(binary):
    with tempfile.TemporaryDirectory() as directory:
        course = Course(binary, directory)
        try:
            await course.run()
        finally:
            await course.clear()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    checks.finish(course(os.path.abspath(sys.argv[1])))
