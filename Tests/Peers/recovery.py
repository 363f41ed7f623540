"""The drill of Docs/Recovery.md: each loss happens to a server under load, is recovered as the document says, and what was
promised is counted afterwards.

The machine is lost, the database is damaged, the key is lost: a backup is restored on another port. Every send that was accepted
before the backup reaches everybody; every send that was accepted later is sent again by its sender. A wrong credential and an
ended certificate lose nothing. The full disk is the course of disk_full.py, which mounts a small one.

    recovery.py MARTLET
"""

import asyncio
import datetime
import os
import re
import shutil
import ssl
import subprocess
import time

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

import backups
import certificates
import hub_client
import processes
from checks import Checks, eventually

checks = Checks("recovery")

HUB = "vault"
DEVICES = 200
PATIENCE = 20
FULL = "DefaultFullSharedAccessSignature"


class Drill:
    def __init__(self, binary, directory):
        self.binary, self.directory = binary, directory
        self.tokens = [f"{number:064x}" for number in range(1, DEVICES + 1)]
        # Slow enough that a loss finds sends unfinished.
        self.peer = processes.APNsPeer(os.path.join(directory, "peer"), "--streams=50", "--delay=0.05")
        self.server = processes.Server(binary, self.path("data"), self.path("data.log"))
        self.accepted = []
        self.rule = None

    def path(self, name):
        return os.path.join(self.directory, name)

    def martlet(self, *words):
        began = time.monotonic()
        printed = processes.martlet(self.binary, *words)
        self.tell(began, words)
        return printed

    def tell(self, began, words):
        """Which command ran, and for how long."""
        text = re.sub(r"(--\S+-file \S+|--key-id|--team-id|--topic|--endpoint).*", "…", " ".join(words)) \
            .replace(self.directory + "/", "")
        print(f"recovery: {time.monotonic() - began:6.2f} s  martlet {text}", flush=True)

    def refusal(self, *words):
        """What a command that must fail says."""
        began = time.monotonic()
        done = subprocess.run([self.binary, *words], capture_output=True, text=True, timeout=60)
        self.tell(began, words)
        checks.that(f"{' '.join(words[:2])} fails", done.returncode not in (0, None) and done.returncode > 0, done)
        return done.stdout + done.stderr

    async def run(self):
        await self.peer.start()
        try:
            rules = processes.create_hub(self.binary, self.path("data"), HUB)
            self.rule = FULL, rules[FULL]
            self.set_credential("data")
            await self.server.start()
            checks.equal("a server without a backup has no age of one", self.backup_age(), None)
            await backups.Vault(self.server, self.rule).register(self.tokens)
            shutil.copy(self.path("data/secret.key"), self.path("secret.key"))
            for loss in (self.machine_lost, self.database_damaged, self.key_lost, self.wrong_credential,
                         self.certificate_ended):
                started = time.monotonic()
                await loss()
                print(f"recovery: {loss.__name__} took {time.monotonic() - started:.1f} s", flush=True)
        finally:
            await self.peer.stop()

    def set_credential(self, data):
        self.martlet("hub", "credential", "set", HUB, "apns", *self.peer.credential_arguments(), "--data", self.path(data))

    def backup_age(self):
        found = re.search(r"^martlet_backup_age_seconds (\S+)$", self.martlet("metrics", "--data", self.server.data), re.M)
        return found and float(found[1])

    def reached(self, key):
        return set(backups.deliveries(self.peer)[key])

    def have_arrived(self, keys):
        """Whether everybody got all of them."""
        found = backups.deliveries(self.peer)
        return all(len(found[key]) == DEVICES for key in keys)

    async def load(self, prefix):
        """Sends to everybody until it is cancelled; the keys that were accepted are in `accepted`."""
        vault = backups.Vault(self.server, self.rule)
        connection, number = vault.connect(), 0
        try:
            while True:
                key = f"{prefix} {number}"
                try:
                    await vault.send(connection, key)
                except (hub_client.Disconnected, processes.Failed):
                    return
                self.accepted.append(key)
                number += 1
                await asyncio.sleep(0.04)
        finally:
            connection.close()

    async def under_load(self, prefix, loss):
        """Runs a loss while sends come in. The keys that were accepted before the backup that it makes."""
        self.accepted = []
        sending = asyncio.create_task(self.load(prefix))
        await eventually(lambda: len(self.accepted) > 5)
        promised = list(self.accepted)
        backup = self.path(f"{prefix}.backup")
        command = await asyncio.create_subprocess_exec(
            self.binary, "backup", backup, "--data", self.server.data, stdout=asyncio.subprocess.PIPE)
        await command.communicate()
        checks.equal("the backup is made", command.returncode, 0)
        age = self.backup_age()
        checks.that("its age is a metric", age is not None and age < 60, age)
        await loss()
        await sending
        return promised, backup

    async def restore(self, prefix, backup, promised):
        """On another port, with the key that lies elsewhere; and counts."""
        report = self.martlet("restore", backup, "--check", "--key-file", self.path("secret.key"))
        checks.that("the check opens the credential", "The credential of hub" in report, report)
        checks.that("the check counts", "1 hub" in report, report)
        data, before = self.path(prefix), self.server.port
        self.martlet("restore", backup, "--data", data)
        shutil.copy(self.path("secret.key"), os.path.join(data, "secret.key"))
        self.server = processes.Server(self.binary, data, data + ".log")
        began = time.monotonic()
        await self.server.start()
        self.tell(began, ["serve", "--data", data, "(until it is ready)"])
        checks.that("it is another port", self.server.port != before)
        later = [key for key in self.accepted if key not in promised]
        await eventually(lambda: self.have_arrived(promised), timeout=PATIENCE)
        lost = [key for key in promised if self.reached(key) != set(self.tokens)]
        checks.equal("nothing that was promised is lost", lost, [])
        # What was accepted after the backup is the sender's to send again.
        vault = backups.Vault(self.server, self.rule)
        connection, again = vault.connect(), 0
        for key in later:
            if self.reached(key) != set(self.tokens):
                await vault.send(connection, key)
                again += 1
        connection.close()
        await eventually(lambda: self.have_arrived(later), timeout=PATIENCE)
        checks.that("what came later arrives once it is sent again",
                    all(self.reached(key) == set(self.tokens) for key in later))
        print(f"recovery: {prefix}: promised={len(promised)} lost={len(lost)} later={len(later)} sent-again={again}",
              flush=True)

    async def machine_lost(self):
        async def loss():
            await asyncio.sleep(0.2)
            await self.server.kill()
            shutil.rmtree(self.server.data)

        promised, backup = await self.under_load("machine", loss)
        await self.restore("machine", backup, promised)

    async def database_damaged(self):
        async def loss():
            await asyncio.sleep(0.2)
            await self.server.kill()
            path = os.path.join(self.server.data, "martlet.db")
            for name in (path + "-wal", path + "-shm"):
                if os.path.exists(name):
                    os.unlink(name)
            with open(path, "r+b") as file:
                file.truncate(os.path.getsize(path) // 2)
                file.write(bytes(4096))

        promised, backup = await self.under_load("database", loss)
        said = self.refusal("serve", "--data", self.server.data, "--listen", "127.0.0.1:0")
        checks.that("a damaged database is not served", "martlet: " in said, said)
        await self.restore("database", backup, promised)

    async def key_lost(self):
        """Without any copy of the key, what it sealed is lost: keys of hubs, credentials. The rest is served again."""
        data = self.server.data
        await self.stop_under_load("key")
        os.rename(os.path.join(data, "secret.key"), self.path("lost.key"))
        said = self.refusal("serve", "--data", data, "--listen", "127.0.0.1:0")
        checks.that("the start says which file is missing", "secret.key" in said, said)
        with open(self.path("other.key"), "w", encoding="ascii") as file:
            file.write("ab" * 32 + "\n")
        backup = self.path("key.backup")
        shutil.copy(self.path("secret.key"), os.path.join(data, "secret.key"))
        os.chmod(os.path.join(data, "secret.key"), 0o600)
        self.martlet("backup", backup, "--data", data)
        said = self.refusal("restore", backup, "--check", "--key-file", self.path("other.key"))
        checks.that("the check tells of a wrong key", "problem: " in said, said)
        checks.that("no secret is told", "ab" * 8 not in said)
        await self.server.start()
        await self.all_accepted_arrive("key")

    async def wrong_credential(self):
        """What is accepted meanwhile waits, and goes out once the credential is right."""
        arguments = self.peer.credential_arguments()
        wrong = [word if index == 0 or arguments[index - 1] != "--key-id" else "WRONGKEY00"
                 for index, word in enumerate(arguments)]
        self.martlet("hub", "credential", "set", HUB, "apns", *wrong, "--data", self.server.data)
        self.accepted = []
        sending = asyncio.create_task(self.load("credential"))
        patience = time.monotonic() + 30
        while len(self.accepted) <= 5 and time.monotonic() < patience:
            await asyncio.sleep(0.05)
        checks.that("sends are accepted with a wrong credential", len(self.accepted) > 5, self.accepted)
        checks.equal("nobody is reached with it", [key for key in self.accepted if self.reached(key)], [])
        self.martlet(
            "hub", "credential", "set", HUB, "apns", *self.peer.credential_arguments(), "--data", self.server.data)
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        await self.all_accepted_arrive("credential")

    async def certificate_ended(self):
        """The start is refused; a new pair is served."""
        await self.stop_under_load("certificate")
        data = self.server.data
        for name, days in (("ended", -1), ("new", 30)):
            self.make_certificate(name, days)

        def tls(name):
            return ["--tls-listen", "127.0.0.1:0", "--tls-certificate", self.path(f"{name}.pem"), "--tls-key",
                    self.path(f"{name}.key")]

        said = self.refusal("serve", "--data", data, *tls("ended"))
        checks.that("the start says when it ended", re.search(r"ended on \d{4}-\d\d-\d\d", said) is not None, said)
        self.server = processes.Server(self.binary, data, data + ".log", *tls("new"))
        await self.server.start()
        context = ssl.create_default_context(cafile=self.path("new.pem"))
        _, writer = await asyncio.open_connection(
            "127.0.0.1", self.server.ports["https"], ssl=context, server_hostname="localhost")
        writer.close()
        await self.all_accepted_arrive("certificate")
        await self.server.stop()

    def make_certificate(self, name, days):
        """Valid for 60 days until so many days from now."""
        key, end = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.UTC) + datetime.timedelta(days)
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
        certificate = (
            x509.CertificateBuilder().subject_name(subject).issuer_name(subject).public_key(key.public_key())
            .serial_number(x509.random_serial_number()).not_valid_before(end - datetime.timedelta(60)).not_valid_after(end)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
            .sign(key, hashes.SHA256()))
        certificates.write_private(self.path(f"{name}.key"), certificates.key_pem(key))
        certificates.write_private(
            self.path(f"{name}.pem"), certificate.public_bytes(serialization.Encoding.PEM))

    async def stop_under_load(self, prefix):
        """Stops the server while sends come in; those that were accepted are in `accepted`."""
        self.accepted = []
        sending = asyncio.create_task(self.load(prefix))
        await eventually(lambda: len(self.accepted) > 5)
        await self.server.stop()
        await sending

    async def all_accepted_arrive(self, prefix):
        """Also one that is sent now."""
        vault = backups.Vault(self.server, self.rule)
        connection = vault.connect()
        await vault.send(connection, f"after {prefix}")
        connection.close()
        keys = self.accepted + [f"after {prefix}"]
        await eventually(lambda: self.have_arrived(keys), timeout=PATIENCE)
        lost = [key for key in keys if self.reached(key) != set(self.tokens)]
        checks.equal(f"{prefix}: nothing that was accepted is lost", lost, [])
        print(f"recovery: {prefix}: promised={len(keys)} lost={len(lost)}", flush=True)


if __name__ == "__main__":
    checks.finish_on_a_server(Drill)
