"""`martlet move` of a server that serves: part of moves.py.

Clients register, delete, send, schedule, pause and cancel through the server while its data is moved. The command that
asked for the move is killed at its beginning, in the middle and while the server is stopped; the server is killed while it
is stopped. Each time the server goes on from its directory. Then a move succeeds, the server ends by itself, and a node
goes on at its port. All that was answered with success is there, every push has arrived at all devices it was for, and
nothing came twice but what a killed server had in hand. After its move the server has sent nothing.

A server whose PostgreSQL hangs goes on after a limit; two commands, the wrong admin socket, and hubs that come and go while
a move is held change nothing for others; SIGTERM waits for a COMMIT.
"""

import asyncio
import collections
import os
import random
import shutil
import signal
import time

import hub_client
import mass_jobs
import nodes
import processes
from checks import eventually

RULE = "DefaultFullSharedAccessSignature"
HUB = "busy"
CLIENTS = 6
CROWD = 40           # devices that stay, and get every broadcast
PAUSE = 0.15         # seconds of a client between its steps, on average
IN_HAND = 3          # seconds before a kill from which a push may come again
STOPPED = "takes no changes now"
SETTLING = 150       # seconds in which all that was accepted must have been sent, or throttled a second time
WAITING = 5          # notifications that may wait for the end of a second throttling
UNFINISHED = "SELECT count(*) FROM martlet.notifications WHERE finished_at IS NULL"


class Place:
    """Where clients send their requests: the server, and later the node that has its port."""

    def __init__(self, port):
        self.name, self.port = "server", port


class Mover:
    """One run of the command."""

    def __init__(self, binary, data, url, *options):
        self._command = [binary, "move", "--from", data, "--to", url, *options]
        self.said, self.code = "", None

    async def start(self):
        self._process = await asyncio.create_subprocess_exec(
            *self._command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE)
        self._reading = asyncio.create_task(self._read())
        self._stopped = asyncio.Event()

    async def _read(self):
        while line := await self._process.stderr.readline():
            self.said += line.decode()
            if STOPPED in self.said:
                self._stopped.set()
        self.code = await self._process.wait()
        self._stopped.set()

    async def until_stopped(self):
        """Returns when the server is stopped for the move; whether it is."""
        await asyncio.wait_for(self._stopped.wait(), 600)
        return STOPPED in self.said

    async def end(self):
        await asyncio.wait_for(self._reading, 600)
        return self.code

    @property
    def has_ended(self):
        return self._process.returncode is not None

    def interrupt(self):
        self._process.send_signal(signal.SIGINT)

    async def kill(self):
        if self._process.returncode is None:
            self._process.kill()
        await self.end()


async def until_ready(server):
    deadline = time.monotonic() + 60
    while await readiness(server) != 200:
        if time.monotonic() > deadline:
            raise processes.Failed(f"the server does not go on\n{server.log_tail()}")
        await asyncio.sleep(0.1)


async def readiness(server):
    connection = hub_client.Connection(server.port, 10)
    try:
        status, _, _ = await connection.request("GET", "/health/ready", {})
    except hub_client.Disconnected:
        status = None
    connection.close()
    return status


class Course:
    def __init__(self, checks, binary, folder, cluster, count):
        self._checks, self._binary, self._cluster, self._count = checks, binary, cluster, count
        self._data, self._node = (os.path.join(folder, name) for name in ("online", "online-node"))
        self._lines = os.path.join(folder, "online.txt")
        self._peer = processes.APNsPeer(
            os.path.join(folder, "online-apns"), "--throttle-every", "97", "--client", os.path.basename(binary)[:15])
        self._kills = []
        self._server = None

    async def run(self, until_no_session, has_schema):
        self._until_no_session, self._has_schema = until_no_session, has_schema
        key = processes.create_hub(self._binary, self._data, HUB)[RULE]
        try:
            await self._peer.start()
            processes.martlet(self._binary, "hub", "credential", "set", HUB, "apns", "--data", self._data,
                              *self._peer.credential_arguments())
            self._server = processes.Server(self._binary, self._data, f"{self._data}.log")
            await self._server.start()
            self._server.listen_again()
            await asyncio.to_thread(mass_jobs.write_lines, self._lines, self._count)
            # Of another platform than that of the clients' devices, so that no broadcast goes to them.
            await self._import()
            self._place = Place(self._server.port)
            self._load = nodes.Load([self._place], 11)
            self._hub = nodes.Hub(HUB, key)
            self._arrivals = nodes.Arrivals(self._peer.ledger)
            await self._course()
        finally:
            for program in (self._server, self._peer):
                if program and program.process and program.process.returncode is None:
                    program.process.kill()

    async def _import(self):
        with open(self._lines) as file:
            text = file.read()
        with open(self._lines, "w") as file:
            file.write(text.replace("Apple", "FcmV1").replace("DeviceToken", "FcmV1RegistrationId"))
        await asyncio.to_thread(
            processes.martlet, self._binary, "import", HUB, self._lines, "--data", self._data)

    async def _course(self):
        clients = [nodes.Client(self._load, self._hub, number) for number in range(CLIENTS)]
        crowd = [clients[0].device("crowd") for _ in range(CROWD)]
        for device in crowd:
            await clients[0].put(device)
        tasks = [asyncio.create_task(client.run(PAUSE)) for client in clients]
        await asyncio.sleep(2)
        chance = random.Random(3)
        for moment in (0.1, 0.7, 2 * chance.random()):
            await self._interrupt(moment)
        await self._interrupt(None)
        await self._kill_server()
        old = self._server.process.pid
        seconds = await self._move()
        node = await self._serve()
        moved = time.time()
        await asyncio.sleep(4)
        self._load.is_over = True
        done = await asyncio.gather(*tasks, return_exceptions=True)
        for each in done:
            self._checks.that("a client of the moves ends in order", not isinstance(each, BaseException), repr(each))
        for client in clients:
            await client.read_all()
            client.close()
        await self._settle()
        await self._judge(old, node.process.pid, moved, clients[0])
        clients[0].close()
        await self._server.stop()
        print(f"moves: while it serves: changes were refused for {seconds} s; {dict(self._load.counts)}", flush=True)

    # Moves

    def _mover(self):
        return Mover(self._binary, self._data, self._cluster.url)

    def _begin(self):
        """From now on requests may be refused."""
        disturbance = [None, time.time(), None]
        self._load.disturbances.append(disturbance)
        return disturbance

    async def _interrupt(self, moment):
        """Kills the command some seconds after its start, or while the server is stopped."""
        mover, disturbance = self._mover(), self._begin()
        await mover.start()
        if moment is None:
            is_stopped = await mover.until_stopped()
            self._checks.that("a move stops the server", is_stopped, mover.said)
        else:
            await asyncio.sleep(moment)
        await mover.kill()
        await self._goes_on(f"a move killed at {moment or 'its stop'}", disturbance)

    async def _kill_server(self):
        mover, disturbance = self._mover(), self._begin()
        await mover.start()
        await mover.until_stopped()
        self._kills.append(time.time())
        await self._server.kill()
        code = await mover.end()
        self._checks.that("the command says that the server is gone", code == 1 and "log" in mover.said, mover.said)
        await self._server.start()
        await self._goes_on("a server killed while it is stopped", disturbance)

    async def _goes_on(self, name, disturbance):
        await until_ready(self._server)
        disturbance[2] = time.time()
        await asyncio.to_thread(self._until_no_session, self._cluster)
        self._checks.that(f"{name}: the database is empty", not self._has_schema(self._cluster))
        self._checks.that(f"{name}: the directory is not marked",
                          not os.path.exists(os.path.join(self._data, "moved")))
        self._checks.that(f"{name}: no copy is left", await no_copy(self._data))
        await asyncio.sleep(1)

    async def _move(self):
        mover, self._last = self._mover(), self._begin()
        await mover.start()
        code = await mover.end()
        self._checks.equal("a move of a server that serves", (code, mover.said[-300:] if code else ""), (0, ""))
        self._checks.equal("the server ends by itself",
                           await asyncio.wait_for(self._server.process.wait(), 60), 0)
        self._checks.that("and its directory is marked", os.path.exists(os.path.join(self._data, "moved")))
        self._checks.that("no copy is left", not os.path.exists(os.path.join(self._data, "snapshot")))
        return next((line.split("for ")[1].split(" s")[0] for line in mover.said.splitlines() if "changes for" in line), "?")

    async def _serve(self):
        os.makedirs(self._node, mode=0o700)
        shutil.copy(os.path.join(self._data, "secret.key"), self._node)
        port = self._place.port
        self._server = processes.Server(self._binary, self._node, f"{self._node}.log", "--database", self._cluster.url)
        self._server.port = port
        self._server.listen_again()
        await self._server.start()
        await until_ready(self._server)
        self._last[2] = time.time()
        return self._server

    # What must hold

    async def _settle(self):
        """Returns when every notification has ended, and nothing has arrived for a while. A throttled push comes a minute
        later."""
        quiet = time.monotonic()
        deadline = quiet + SETTLING
        while time.monotonic() < deadline:
            if self._arrivals.read():
                quiet = time.monotonic()
            if time.monotonic() > quiet + 3 and await asyncio.to_thread(self._cluster.query, UNFINISHED) == "0":
                break
            await asyncio.sleep(0.5)
        self._arrivals.read()

    async def _judge(self, old, new, moved, client):
        checks, load, arrivals = self._checks, self._load, self._arrivals
        for kind, texts in load.failures.items():
            checks.that(f"online: nothing {kind}", False, "; ".join(texts[:5]))
        lost, waiting = [], set()
        latest = collections.defaultdict(int)
        for message in load.messages.values():
            if message.place and message.accepted:
                latest[message.tag] = max(latest[message.tag], message.place)
        for message in load.messages.values():
            is_replaced = message.place and message.place < latest[message.tag]
            if not message.accepted or message.is_canceled or message.is_spared or is_replaced:
                continue
            for token in message.owed:
                device = self._hub.devices[token]
                if device.leaving_since is not None or (message.key, token) in arrivals.seen:
                    continue
                if message.key in waiting or await client.state(message) == "Processing":
                    waiting.add(message.key)
                else:
                    lost.append((message.key, token[:8], message.accepted - moved))
        checks.that("online: no accepted push is lost", not lost, f"{len(lost)}: {lost[:5]}")
        checks.that("online: hardly anything waits", len(waiting) <= WAITING, str(waiting))
        known = load.messages
        first, twice = {}, []
        for push in arrivals.pushes:
            place = (push.key, push.token)
            if place in first:
                before = first[place]
                if not any(before.arrived - 1 < kill < before.arrived + IN_HAND for kill in self._kills):
                    twice.append((push.key, before.process, push.process, round(push.arrived - before.arrived, 1)))
            else:
                first[place] = push
        checks.that("online: no push comes twice", not twice, f"{len(twice)}: {twice[:5]}")
        canceled = [push.key for push in arrivals.pushes if known[push.key].is_canceled]
        checks.that("online: nothing comes that was canceled", not canceled, str(canceled[:5]))
        of_new = [push.arrived for push in arrivals.pushes if push.process == new]
        of_old = [push.arrived for push in arrivals.pushes if push.process == old]
        checks.that("online: the node sends", bool(of_new) and bool(of_old), f"{len(of_old)}, {len(of_new)}")
        if of_new and of_old:
            checks.that("online: the server sends nothing after its move", max(of_old) < min(of_new),
                        f"{max(of_old) - min(of_new)} s")
        for name in ("registrations", "sends", "broadcasts", "schedules"):
            checks.that(f"online: there are {name}", load.counts[name] > 0)


# Rows of every kind

#: What happens to a directory with rows of every kind between the snapshot and the stop, for each hub: rows are changed,
#: removed and added. `{base}` is where the numbers of the hub's devices begin, `{hub}` its number.
CHANGES = """
    DELETE FROM tag_members WHERE registration = {base} + 1;
    DELETE FROM device_keys WHERE registration = {base} + 1;
    DELETE FROM tags WHERE hub = {hub} AND name = 'user:ann';
    UPDATE registrations SET tags = 'News', version = 9, updated_at = updated_at + 1 WHERE sequence = {base} + 1;
    INSERT INTO tag_members (tag, channel, registration) SELECT id, {base} + 1, {base} + 1 FROM tags
        WHERE hub = {hub} AND name IN ('*', 'news') AND is_template = 0 AND platform = 'apns';
    INSERT INTO registration_history (hub, sequence, id, platform, channel, handle, tags, created_at, ended_at, cause)
        SELECT hub, sequence, id, 'apns', channel, x'0102', 'News,user:Ann', created_at, updated_at, 'updated'
        FROM registrations WHERE sequence = {base} + 1;
    UPDATE tag_counter SET last = last + 2;
    INSERT INTO tags (hub, name, is_template, platform, id) SELECT {hub}, 'user:ann', 0, 'apns', last - 1 FROM tag_counter;
    INSERT INTO tags (hub, name, is_template, platform, id) SELECT {hub}, 'forgotten', 0, 'apns', last FROM tag_counter;
    INSERT INTO registrations (sequence, hub, id, channel, version, tags, created_at, updated_at)
        VALUES ({base} + 20, {hub}, 'another', {base} + 1, 1, 'user:Ann,Forgotten', {now}, {now});
    INSERT INTO tag_members (tag, channel, registration) SELECT id, {base} + 1, {base} + 20 FROM tags
        WHERE hub = {hub} AND name IN ('*', 'user:ann', 'forgotten') AND is_template = 0 AND platform = 'apns';
    UPDATE channels SET handle = lower(handle) WHERE id = {base} + 2;
    UPDATE installations SET document = x'7b7d', version = version + 1 WHERE hub = {hub};
    DELETE FROM dead_slots WHERE slot = 'old one';
    DELETE FROM tombstones WHERE hub = {hub} AND id = 'former';
    DELETE FROM registration_history WHERE change = (SELECT min(change) FROM registration_history WHERE hub = {hub});
    UPDATE notifications SET control = 'canceled', has_refusals = 1 WHERE hub = {hub} AND collapse IS NOT NULL;
    UPDATE rollouts SET succeeded = succeeded + 5;
    DELETE FROM parts;
    DELETE FROM requests WHERE hub = {hub};
    INSERT INTO requests VALUES ({hub}, randomblob(32), x'66', randomblob(16), {now});
    UPDATE outcome_counts SET count = count + 1;
    DELETE FROM attempts;
    UPDATE refusals SET attempts = attempts + 1, reason = 'BadDeviceToken';
    UPDATE retries SET due_at = due_at + 7;
    UPDATE ranges SET ended_at = ended_at + 1;
    UPDATE lane_pauses SET reason = '429' WHERE hub = {hub};
    DELETE FROM quarantines WHERE hub = {hub};
    UPDATE campaigns SET name = 'Summer' WHERE hub = {hub};
    UPDATE hubs SET app_name = 'Another' WHERE id = {hub};
"""
CHANGES_OF_NAMESPACE = """
    UPDATE users SET password_hash = 'y' WHERE folded_name = 'ann';
    INSERT INTO users VALUES ('cy', 'Cy', 'z', {now});
    UPDATE operators SET signed_in_at = {now};
    UPDATE operator_sessions SET used_at = used_at + 1;
    DELETE FROM operator_recovery_codes;
    INSERT INTO operator_actions (at, operator, address, role, action) VALUES ({now}, 'ute', '::1', 'admin', 'DELETE /x');
    UPDATE payloads SET unread = 0 WHERE id = 17;
    DELETE FROM payload_texts;
    UPDATE addressees SET read_at = {now};
    INSERT INTO payload_audit (at, payload, user, outcome, address) VALUES ({now}, 17, 'bob', 'read', '::1');
    DELETE FROM metric_hours;
    INSERT INTO metric_hours VALUES (3600000, '{{}}');
"""
#: Holds a move at its first rows, until somebody lets it go.
HOLD = """
    CREATE TABLE public.released (); CREATE FUNCTION public.hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        WHILE NOT EXISTS (SELECT FROM public.released) LOOP PERFORM pg_sleep(0.1); END LOOP; RETURN NULL; END $$;
    CREATE TRIGGER hold BEFORE INSERT ON martlet.users FOR EACH STATEMENT EXECUTE FUNCTION public.hold()"""
#: Lets the COMMIT of a move fail.
FAIL = """
    CREATE FUNCTION public.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'It must fail'; END $$;
    CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON martlet.users DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION public.fail()"""
RELEASE = "INSERT INTO public.released DEFAULT VALUES"
IS_HELD = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"


async def every_kind(checks, moves, binary, folder, kinds, cluster):
    """A server moves a directory with rows of every kind, which change while it does. What it prints, what a full reading
    of the database finds, and what a move of the stopped server prints are the same."""
    data, node, back = (os.path.join(folder, name) for name in ("kinds", "kinds-node", "kinds-back"))
    shutil.copytree(kinds, data, ignore=shutil.ignore_patterns("admin.sock", "moved"))
    os.makedirs(node, mode=0o700)
    shutil.copy(os.path.join(data, "secret.key"), node)
    moves.empty(cluster)
    schema = processes.Server(binary, node, f"{node}.log", "--database", cluster.url)
    await schema.start()
    await schema.stop()
    db = moves.Database(data)
    # The addresses of these jobs were not sealed by anybody, so no server can run them.
    db.connection.execute("UPDATE jobs SET is_final = 1, status = 'Failed', failure = 'It was given up.'")
    db.connection.commit()
    db.connection.close()
    server = processes.Server(binary, data, f"{data}.log")
    await server.start()
    refused = await asyncio.to_thread(moves.move, binary, data, cluster.url, check=False)
    checks.that("a template with the bytes of variables needs a stopped server",
                refused.returncode == 1 and "Stop the server" in refused.stderr, refused.stderr)
    db = moves.Database(data)
    db.connection.execute("PRAGMA busy_timeout = 20000")
    other = db.put("contents", hub=1, content=moves.texts("y", "1"), uses=2)
    db.connection.execute("UPDATE registrations SET variables = ? WHERE variables IS NOT NULL", (other,))
    db.connection.commit()
    hubs = [row[0] for row in db.connection.execute("SELECT id FROM hubs ORDER BY id")]
    cluster.query(FAIL)
    failed = await asyncio.to_thread(moves.move, binary, data, cluster.url, check=False)
    checks.that("a COMMIT that fails is told", failed.returncode == 1 and "P0001" in failed.stderr, failed.stderr)
    checks.that("and the directory is not marked", not os.path.exists(os.path.join(data, "moved")))
    checks.equal("and the server goes on", server.process.returncode, None)
    checks.that("and takes changes", RULE in processes.create_hub(binary, data, "later"))
    cluster.query("DROP TRIGGER fail ON martlet.users; DROP FUNCTION public.fail")
    cluster.query(HOLD)
    moving = asyncio.create_task(asyncio.to_thread(moves.move, binary, data, cluster.url, check=False))
    while cluster.query(IS_HELD) == "0" and not moving.done():
        await asyncio.sleep(0.2)
    now = int(time.time() * 1000)
    for place, hub in enumerate(hubs):
        db.connection.executescript(CHANGES.format(base=40 * place, hub=hub, now=now))
    db.connection.executescript(CHANGES_OF_NAMESPACE.format(now=now))
    db.connection.commit()
    db.connection.close()
    moves.blob(data, "storage", "files", "new.txt", 70_000)
    moves.blob(data, "storage", "files", "folder/in.txt", 100)
    os.remove(os.path.join(data, "payloads", "containers", "payloads", "body-18"))
    cluster.query(RELEASE)
    done = await moving
    checks.equal("a server moves rows of every kind", (done.returncode, done.stderr[-400:] if done.returncode else ""), (0, ""))
    if done.returncode:
        return
    await asyncio.wait_for(server.process.wait(), 60)
    printed = moves.compared(done)
    key = os.path.join(data, "secret.key")
    read = moves.compared(await asyncio.to_thread(moves.move, binary, cluster.url, back, "--key-file", key))
    moves.empty(cluster)
    cluster.query("DROP TABLE public.released; DROP FUNCTION public.hold")
    moves.unmark(data)
    stopped = moves.compared(await asyncio.to_thread(moves.move, binary, data, cluster.url))
    for name, found in stopped.items():
        checks.equal(f"{name}: the database has what a stopped server would have moved", read.get(name), found)
        if name not in ("blobs", "memberships"):
            checks.equal(f"{name}: and the server printed that", printed.get(name), found)


# A database that hangs, and others who take part

#: Holds a move at a trigger, until somebody lets it go.
HOLD_BY_NAME = """
    CREATE TABLE public.released (name text);
    CREATE FUNCTION public.hold_by_name() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        WHILE NOT EXISTS (SELECT FROM public.released WHERE name = TG_NAME) LOOP PERFORM pg_sleep(0.1); END LOOP;
        RETURN NULL; END $$"""
#: While the server goes on.
AT_COPY = """
    CREATE TRIGGER at_copy BEFORE INSERT ON martlet.users FOR EACH STATEMENT EXECUTE FUNCTION public.hold_by_name()"""
#: While the server is stopped.
AT_STOP = """
    CREATE TRIGGER at_stop BEFORE DELETE ON martlet.hubs FOR EACH STATEMENT EXECUTE FUNCTION public.hold_by_name()"""
AT_COMMIT = """
    CREATE CONSTRAINT TRIGGER at_commit AFTER UPDATE ON martlet.namespace DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION public.hold_by_name()"""
ORPHANS = "SELECT count(*) FROM martlet.tags t WHERE NOT EXISTS (SELECT 1 FROM martlet.hubs h WHERE h.id = t.shard)"
HUBS = "SELECT convert_from(name, 'UTF8') FROM martlet.hubs ORDER BY 1"


def let_go(cluster, name):
    cluster.query(f"INSERT INTO public.released VALUES ('{name}')")


async def until_held(cluster, mover):
    deadline = time.monotonic() + 60
    while await asyncio.to_thread(cluster.query, IS_HELD) == "0":
        if mover.has_ended or time.monotonic() > deadline:
            raise processes.Failed(f"a move is not held: {mover.said}")
        await asyncio.sleep(0.1)


def signal_all(cluster, number):
    """To PostgreSQL's main process, and then to its others."""
    with open(os.path.join(cluster.directories[0], "data", "postmaster.pid")) as file:
        main = int(file.readline())
    os.kill(main, number)
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
            if parent == main:
                os.kill(int(name), number)
        except (FileNotFoundError, ProcessLookupError):
            pass


def processor_seconds(process):
    with open(f"/proc/{process.pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def disturbed(checks, moves, binary, folder, cluster):
    data, other, node = (os.path.join(folder, name) for name in ("disturbed", "disturbed-other", "disturbed-node"))
    lines = os.path.join(folder, "disturbed.txt")
    mass_jobs.write_lines(lines, 50)
    for name in ("staying", "passing"):
        processes.create_hub(binary, data, name)
    processes.create_hub(binary, other, "elsewhere")
    os.makedirs(node, mode=0o700)
    shutil.copy(os.path.join(data, "secret.key"), node)
    moves.empty(cluster)
    schema = processes.Server(binary, node, f"{node}.log", "--database", cluster.url)
    await schema.start()
    await schema.stop()
    servers = [processes.Server(binary, place, f"{place}.log") for place in (data, other)]
    server, bystander = servers
    try:
        for each in servers:
            await each.start()
        for name in ("staying", "passing"):
            await asyncio.to_thread(processes.martlet, binary, "import", name, lines, "--data", data)
        await wrong_socket(checks, moves, binary, data, bystander, cluster)
        cluster.query(HOLD_BY_NAME)
        cluster.query(AT_STOP)
        await hanging(checks, moves, binary, folder, server, cluster)
        await interrupted(checks, moves, binary, server, cluster)
        cluster.query("DROP TRIGGER at_stop ON martlet.hubs")
        cluster.query(AT_COMMIT)
        await hanging_commit(checks, moves, binary, server, cluster)
        cluster.query(AT_COPY)
        await stopped_at_commit(checks, moves, binary, lines, server, cluster)
    finally:
        for each in servers:
            if each.process and each.process.returncode is None:
                each.process.kill()
    cluster.query("DROP FUNCTION public.hold_by_name CASCADE; DROP TABLE public.released")


async def wrong_socket(checks, moves, binary, data, bystander, cluster):
    done = await asyncio.to_thread(moves.move, binary, data, cluster.url, "--admin-socket",
                                   os.path.join(bystander.data, "admin.sock"), check=False)
    checks.that("a server with another directory does not move its data",
                done.returncode == 1 and "another data directory" in done.stderr, done.stderr)
    checks.equal("and serves", await readiness(bystander), 200)


async def no_copy(data):
    """Whether the copy of the database is removed. It may outlive the session of the move by a moment."""
    return await eventually(lambda: not os.path.exists(os.path.join(data, "snapshot")))


async def gone_on(checks, moves, name, binary, server, cluster):
    """The server serves from its directory, and nothing is in the database."""
    await until_ready(server)
    await asyncio.to_thread(moves.until_no_session, cluster)
    checks.equal(f"{name}: the database is empty", cluster.query("SELECT count(*) FROM martlet.hubs"), "0")
    checks.that(f"{name}: the directory is not marked", not os.path.exists(os.path.join(server.data, "moved")))
    checks.that(f"{name}: no copy is left", await no_copy(server.data))


async def hanging(checks, moves, binary, folder, server, cluster):
    """A second command is refused while a move is held and the server is stopped; then PostgreSQL stands still."""
    mover = Mover(binary, server.data, cluster.url, "--stop-limit", "10")
    await mover.start()
    await until_held(cluster, mover)
    checks.equal("the server is stopped", await readiness(server), 503)
    second = await asyncio.to_thread(moves.move, binary, server.data, cluster.url, check=False)
    checks.that("a second command is refused while the server is stopped", second.returncode == 1, second.stderr)
    checks.that("and does not let the server go on", not mover.has_ended and await readiness(server) == 503, mover.said)
    signal_all(cluster, signal.SIGSTOP)
    try:
        code = await mover.end()
        checks.that("a move whose database hangs is given up", code == 1 and "longer than 10" in mover.said, mover.said)
        await until_ready(server)
        checks.that("the server takes changes while the database hangs",
                    RULE in await asyncio.to_thread(processes.create_hub, binary, server.data, "meanwhile"))
        file = os.path.join(folder, "disturbed.backup")
        await asyncio.to_thread(processes.martlet, binary, "backup", file, "--data", server.data)
        checks.that("and is backed up", os.path.getsize(file) > 0)
    finally:
        signal_all(cluster, signal.SIGCONT)
    await gone_on(checks, moves, "a move whose database hangs", binary, server, cluster)


async def interrupted(checks, moves, binary, server, cluster):
    mover = Mover(binary, server.data, cluster.url)
    await mover.start()
    await until_held(cluster, mover)
    mover.interrupt()
    code = await mover.end()
    checks.that("an interrupted command says that the server knows",
                code == 130 and "gives the move up" in mover.said, f"{code} {mover.said}")
    await gone_on(checks, moves, "an interrupted move", binary, server, cluster)


async def hanging_commit(checks, moves, binary, server, cluster):
    """PostgreSQL rolls a COMMIT back whose client has gone, and the server asks it."""
    mover = Mover(binary, server.data, cluster.url, "--stop-limit", "8")
    await mover.start()
    await until_held(cluster, mover)
    checks.that("the directory is marked before the COMMIT", os.path.exists(os.path.join(server.data, "moved")))
    checks.that("a COMMIT that hangs is given up", await mover.end() == 1 and "broke" in mover.said, mover.said)
    await gone_on(checks, moves, "a COMMIT that hangs", binary, server, cluster)


async def stopped_at_commit(checks, moves, binary, lines, server, cluster):
    """A second command is refused during the copy, and hubs come and go. Then SIGTERM comes in a COMMIT that hangs."""
    mover = Mover(binary, server.data, cluster.url)
    await mover.start()
    await until_held(cluster, mover)
    second = await asyncio.to_thread(moves.move, binary, server.data, cluster.url, check=False)
    checks.that("a second command is refused", second.returncode == 1 and "under way" in second.stderr, second.stderr)
    checks.that("and does not end the first", not mover.has_ended, mover.said)
    await asyncio.to_thread(processes.create_hub, binary, server.data, "coming")
    for words in (("import", "coming", lines), ("hub", "delete", "passing", "--yes")):
        await asyncio.to_thread(processes.martlet, binary, *words, "--data", server.data)
    let_go(cluster, "at_copy")
    await mover.until_stopped()
    await until_held(cluster, mover)
    server.process.send_signal(signal.SIGTERM)
    await asyncio.sleep(1)
    begin = processor_seconds(server.process)
    await asyncio.sleep(3)
    checks.equal("SIGTERM waits for the COMMIT", server.process.returncode, None)
    used = processor_seconds(server.process) - begin
    checks.that("and does nothing meanwhile", used < 0.5, f"{used} s of the processor in 3 s")
    let_go(cluster, "at_commit")
    checks.equal("the server ends", await asyncio.wait_for(server.process.wait(), 60), 0)
    await mover.end()
    checks.that("and its directory is marked", os.path.exists(os.path.join(server.data, "moved")))
    checks.equal("the hubs at the end are there", cluster.query(HUBS).split(), ["coming", "meanwhile", "staying"])
    checks.equal("and no tags of others", cluster.query(ORPHANS), "0")
