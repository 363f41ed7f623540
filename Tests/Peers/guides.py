"""The three guides and what goes beyond them, from start to finish: `martlet device` is the SDK on a phone of each of the
six platforms, `martlet notify` the SDK of who sends; server and simulator are processes of their own. What arrived is
counted by the phones and by the simulator, never by the hub.

    guides.py MARTLET
"""

import asyncio
import os
import re
import ssl
import sys
import tempfile

import httpx

import processes
from checks import Checks, eventually

checks = Checks("guides")

HUB = "demo"
PLATFORMS = ("apns", "fcmv1", "wns", "mpns", "browser", "adm")
PASSWORDS = {"alice": "wonderland", "bob": "builder-42", "carol": "carol-77"}
SECRET = "The vault opens at noon, code 4711"
ONCE = "This message will be read once"
PRIVATE = "Only two phones in the world can read this"
GENERIC = "There is something for you"
PATIENCE = 60


class Phone:
    """`martlet device`: its lines are what its user sees."""

    def __init__(self, world, user, platform, *options):
        self.user, self.platform = user, platform
        self.folder = os.path.join(world.directory, "-".join([user, platform, *options]))
        self._log = open(self.folder + ".log", "ab")
        self._command = [
            world.binary, "device", "--backend", world.backend, "--user", user, "--password-stdin", "--simulator",
            world.simulator, "--simulator-ca-file", world.authority, "--platform", platform, "--save", self.folder, *options]
        self.lines, self._seen = [], 0

    async def start(self):
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(*self._command, stdin=pipe, stdout=pipe, stderr=self._log)
        self._process.stdin.write(PASSWORDS[self.user].encode() + b"\n")
        self._process.stdin.close()
        first = (await asyncio.wait_for(self._process.stdout.readline(), PATIENCE)).decode().strip()
        registered, _, self.key = first.partition("; its key: ")
        checks.equal(f"{self.user} registers on {self.platform}", registered, f"{self.user}'s phone is registered")
        self._reading = asyncio.create_task(self._read())

    async def _read(self):
        while line := await self._process.stdout.readline():
            self.lines.append(line.decode().rstrip("\n"))

    async def shows(self, wanted):
        """Waits for the next line, which must then be this."""
        await eventually(lambda: len(self.lines) > self._seen, PATIENCE)
        found = self.lines[self._seen:self._seen + 1]
        self._seen += 1
        if found != [wanted]:
            raise AssertionError(f"{self.user}'s {self.platform} shows {found}, not {wanted!r}")
        checks.that(f"{self.user}'s {self.platform} shows {wanted}", True)

    async def stop(self):
        if self._process.returncode is None:
            self._process.terminate()
        await self._process.wait()


class World:
    def __init__(self, binary, directory):
        self.binary, self.directory = binary, directory
        self.data = os.path.join(directory, "data")

    async def start(self, *options):
        """A server with the simulator's services, a hub and the users."""
        log = os.path.join(self.directory, "server.log")
        server = processes.Server(
            self.binary, self.data, log, "--simulator", "--simulator-listen", "127.0.0.1:0", *options)
        processes.create_hub(self.binary, self.data, HUB)
        for user in PASSWORDS:
            self.add(user)
        ready = await server.start()
        self.server, self.backend = server, f"http://127.0.0.1:{server.port}"
        self.simulator = re.search(r" simulator=(\S+)", ready)[1]
        self.authority = os.path.join(self.data, "simulator-ca.pem")
        self._control = httpx.Client(
            base_url=self.simulator, verify=ssl.create_default_context(cafile=self.authority), timeout=PATIENCE)

    def add(self, user, *options):
        command = ["user", "add", user, "--password-stdin", *options, "--data", self.data]
        processes.martlet(self.binary, *command, stdin=PASSWORDS[user])

    def notify(self, user, text, *options):
        """What `martlet notify` prints: the id."""
        common = ["--backend", self.backend, "--user", user, "--password-stdin"]
        return processes.martlet(self.binary, "notify", *common, *options, text, stdin=PASSWORDS[user]).strip()

    def encrypted(self, *command):
        """What bob's `martlet` prints, which keeps the keys of others in one file."""
        common = ["--backend", self.backend, "--user", "bob", "--password-stdin", "--pins", self.directory + "/pins"]
        return processes.martlet(self.binary, *command, *common, stdin=PASSWORDS["bob"])

    def as_user(self, user):
        return httpx.Client(base_url=self.backend, auth=(user, PASSWORDS[user]), timeout=PATIENCE, trust_env=False)

    def pushes(self):
        """The page on which the simulator shows every push that its services were given, as text."""
        return self._control.get("/").text

    def audit(self, *options):
        return processes.martlet(self.binary, "audit", *options, "--data", self.data)


async def notify_users(world, phones):
    """The first guide: a message to a user reaches the user's devices on the platform, and nobody else's."""
    for platform in PLATFORMS:
        world.notify("bob", f"hello on {platform}", "--to", "alice", "--platform", platform)
    world.notify("alice", "and hello bob", "--to", "bob", "--platform", "apns")
    world.notify("alice", "nobody is called so", "--to", "nobody", "--platform", "apns")
    for platform in PLATFORMS:
        await phones["alice", platform].shows(f"From bob: hello on {platform}")
    await phones["bob", "apns"].shows("From alice: and hello bob")


async def rich_push(world, phones):
    """The second guide: the content stays at the backend, and the addressee's devices fetch it."""
    content = os.urandom(300_000)
    picture = os.path.join(world.directory, "picture.png")
    with open(picture, "wb") as file:
        file.write(content)
    number = world.notify("bob", "Look at this", "--rich", picture, "--to", "alice")
    for platform in PLATFORMS:
        phone = phones["alice", platform]
        path = f"{phone.folder}/rich-{number}"
        await phone.shows(f"rich {number} img image/png {path}: Look at this")
        with open(path, "rb") as file:
            checks.equal(f"{platform}: it is the picture", file.read(), content)
    with world.as_user("alice") as alice, world.as_user("carol") as carol, world.as_user("bob") as bob:
        answer = alice.get(f"/api/notifications/{number}", headers={"Range": "bytes=100-199"})
        checks.equal("a part of it", (answer.status_code, answer.content), (206, content[100:200]))
        checks.equal("its type is not guessed", answer.headers["x-content-type-options"], "nosniff")
        refused = [who.get(f"/api/notifications/{number}") for who in (carol, bob)]
        refused.append(carol.get("/api/notifications/2147483647"))
        checks.equal("others, the sender too, are told that it is not there",
                     {(one.status_code, one.content) for one in refused}, {(404, refused[0].content)})
        readers = bob.get(f"/api/notifications/{number}/readers").json()["readers"]
        checks.that("the sender sees that it was read", [one["user"] for one in readers if one["read"]] == ["alice"], readers)
        checks.equal("nobody else does", alice.get(f"/api/notifications/{number}/readers").status_code, 404)


async def secure_push(world, phones):
    """The third guide: what no push service may see."""
    number = world.notify("bob", SECRET, "--secure", "--to", "alice")
    for platform in PLATFORMS:
        await phones["alice", platform].shows(f"secure {number}: {SECRET}")
    seen = world.pushes()
    checks.that("each push service saw its number", seen.count(number) >= len(PLATFORMS), seen.count(number))
    checks.that("none saw the secret", SECRET not in seen and SECRET[:16] not in seen)
    with world.as_user("alice") as alice, world.as_user("carol") as carol:
        body = alice.get(f"/api/notifications/{number}").json()
        checks.equal("as the guides' clients read it", body, {"Id": int(number), "Payload": SECRET, "Read": True})
        checks.equal("another user is told that it is not there", carol.get(f"/api/notifications/{number}").status_code, 404)
    audit = world.audit("--payload", number)
    checks.that("the audit has both", "alice" in audit and "carol" in audit and "refused" in audit, audit)


async def read_once(world, phones):
    number = world.notify("bob", ONCE, "--secure", "--once", "--to", "carol", "--message", GENERIC)
    with world.as_user("carol") as carol:
        # Nobody of hers is registered: she looks by herself, from two places at the same moment.
        async def fetch(client):
            return (await client.get(f"/api/notifications/{number}")).status_code
        async with httpx.AsyncClient(base_url=world.backend, auth=("carol", PASSWORDS["carol"]), timeout=PATIENCE) as one:
            codes = await asyncio.gather(*[fetch(one) for _ in range(8)])
        checks.equal("it can be read once, however many ask", sorted(codes), [200] + 7 * [404])
        checks.equal("and then never again", carol.get(f"/api/notifications/{number}").status_code, 404)


async def end_to_end(world, phones):
    """Beyond the guides: ciphertext for each device, whose keys senders remember."""
    own = {platform: phones["alice", platform] for platform in PLATFORMS}
    trusted = world.encrypted("keys", "alice")
    checks.that("the sender sees the keys that the phones show", all(phone.key in trusted for phone in own.values()), trusted)
    for text in (PRIVATE, PRIVATE * 200):
        world.encrypted("send", "--encrypt", "--to", "alice", "--message", GENERIC, text)
        for phone in own.values():
            await phone.shows(f"encrypted: {text}")
    await new_key(world, own)
    seen = world.pushes()
    checks.that("no push service saw it", PRIVATE not in seen and PRIVATE[:16] not in seen)


async def new_key(world, own):
    """A phone that was not there before might be anybody's: the sender is asked, and nothing goes out meanwhile."""
    added = Phone(world, "alice", "apns", "--tags", "second")
    await added.start()
    try:
        send = ("send", "--encrypt", "--to", "alice", "now on two phones")
        refusal = checks.raises("a new key stops the message", processes.Failed, lambda: world.encrypted(*send))
        checks.that("and is shown", refusal and added.key in str(refusal), refusal)
        world.encrypted("keys", "alice", "--trust", added.key.replace(" ", ""))
        world.encrypted(*send)
        for phone in (added, *own.values()):
            await phone.shows("encrypted: now on two phones")
    finally:
        await added.stop()


async def log_in_prompt(world, phones):
    """Where the credentials have expired: neither silence nor the secret, but a word to log in."""
    number = world.notify("bob", SECRET, "--secure", "--to", "alice", "--message", GENERIC)
    for platform in PLATFORMS:
        await phones["alice", platform].shows(f"secure {number}: {SECRET}")
    PASSWORDS["alice"] = "looking-glass"
    world.add("alice")
    world.notify("bob", SECRET, "--secure", "--to", "alice", "--message", GENERIC)
    for platform in PLATFORMS:
        await phones["alice", platform].shows(f"log in to see it: {GENERIC}")


async def samples(binary, directory):
    """What the guides' own clients send: a bare POST, and GET with Basic."""
    for kind in ("rich", "secure"):
        folder = os.path.join(directory, kind)
        os.mkdir(folder)
        world = World(binary, folder)
        await world.start("--sample-notification", kind)
        phone = Phone(world, "alice", "apns")
        try:
            await phone.start()
            with world.as_user("alice") as alice:
                answer = alice.post("/api/notifications")
                checks.equal(f"{kind}: the bare request is taken", answer.status_code, 200)
                await eventually(lambda: phone.lines, PATIENCE)
                checks.that(f"{kind}: the phone shows it", len(phone.lines) == 1 and phone.lines[0].startswith(kind), phone.lines)
                number = phone.lines[0].split()[1].rstrip(":")
                found = alice.get(f"/api/notifications/{number}")
                type_ = found.headers["content-type"].partition(";")[0]
                checks.equal(f"{kind}: what is there", type_, {"rich": "image/png", "secure": "application/json"}[kind])
        finally:
            await phone.stop()
            await world.server.stop()


async def course(binary):
    with tempfile.TemporaryDirectory(prefix="martlet-guides-") as directory:
        world = World(binary, directory)
        await world.start()
        users = [("alice", platform) for platform in PLATFORMS] + [("bob", "apns")]
        phones = {(user, platform): Phone(world, user, platform) for user, platform in users}
        try:
            await asyncio.gather(*[phone.start() for phone in phones.values()])
            with world.as_user("alice") as alice:
                answer = alice.post("/api/notifications")
                checks.that("without a sample the bare request names the routes",
                            answer.status_code == 400 and "/api/notifications/rich" in answer.text, answer.text)
            for part in (notify_users, rich_push, secure_push, read_once, end_to_end, log_in_prompt):
                await part(world, phones)
            checks.equal("bob's phone saw nothing that was not his", phones["bob", "apns"].lines, ["From alice: and hello bob"])
        finally:
            for phone in phones.values():
                await phone.stop()
            await world.server.stop()
        await samples(binary, directory)


if __name__ == "__main__":
    checks.finish(course(sys.argv[1]))
