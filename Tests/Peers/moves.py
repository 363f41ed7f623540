"""`martlet move`: the data of a server goes to PostgreSQL and back, whole or not at all.

A directory with a row of every kind is moved there and back: what is compared (`--json`) is the same both times, and no kind
is empty. A move that is killed at any moment leaves its source as it was, nobody can serve its target, and the next move
succeeds. What was moved is marked, and nobody serves it. A database that changes a row on its way in (a trigger) is found
out, and nothing is completed; so are rows that refer to a missing one. A database may read nothing for ten seconds.
Registrations that a server took in are exported from each side and are the same, line by line; a node that was served in
between numbers its own rows of each hub, and these come back too. A server that serves moves its own data
(online_moves.py).

    moves.py MARTLET [--count N] [--kills N]
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
import time

import mass_jobs
import online_moves
import postgres
import processes
from checks import Checks

checks = Checks("moves")

#: What a directory has that no server makes in a judge's time: rows are written as the schema has them.
DAY = 86_400_000
NOW = int(time.time() * 1000)
LONG_ID = 1_234_567_890_123_456_789


def texts(*values):
    """A list of texts as a column has it."""
    return b"".join(struct.pack(">I", len(value.encode())) + value.encode() for value in values)


def bitmap(*numbers):
    """A block of members, as numbers of two bytes."""
    return b"\x01" + struct.pack(f"<{len(numbers)}H", *numbers)


def page_records(channel):
    """One refusal and one attempt of a channel."""
    def text(value):
        return bytes([len(value)]) + value.encode()

    kind = b"\x01" + text("badDevice") + text("BadDeviceToken") + b"\x02" + text("https://api.push.apple.com:443")
    entry = bytes([0, channel, 0, 2])
    return b"\x01\x01" + kind + b"\x01" + entry + b"\x01" + entry


class Database:
    def __init__(self, data):
        self.connection = sqlite3.connect(os.path.join(data, "martlet.db"))

    def put(self, table, **columns):
        names, places = ", ".join(columns), ", ".join("?" for _ in columns)
        cursor = self.connection.execute(
            f"INSERT INTO {table} ({names}) VALUES ({places})", list(columns.values()))
        return cursor.lastrowid

    def close(self):
        self.connection.commit()
        self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.connection.close()


def fill_namespace(db):
    for name in ("ann", "Bob"):
        db.put("users", folded_name=name.lower(), name=name, password_hash="$argon2id$x", created_at=NOW)
    for role in ("writer", "Admin"):
        db.put("user_roles", user="ann", role=role)
    db.put("sessions", token_hash=os.urandom(32), user="ann", created_at=NOW, expires_at=NOW + DAY)
    db.put("sends", key=os.urandom(32), fingerprint=b"f", payloads="17,,18,", started_at=NOW, is_complete=1)
    db.put("metric_hours", at=NOW - NOW % 3_600_000, figures='{"accepted":3}')
    db.put("operators", folded_name="ute", name="Ute", password_hash=None, roles="admin sender@demo", is_disabled=0,
           created_at=NOW, signed_in_at=None, settings='{"language":"de"}', issuer="https://id", subject="7\0x")
    db.put("operator_links", token_hash=b"l" * 32, operator="ute", kind="invitation", expires_at=NOW + DAY)
    db.put("operator_sessions", token_hash=b"s" * 32, operator="ute", created_at=NOW, used_at=NOW, confirmed_at=NOW,
           address="127.0.0.1", agent="Firefox")
    db.put("operator_factors", operator="ute", sealed_secret=os.urandom(40), confirmed_at=NOW, last_step=3)
    db.put("operator_recovery_codes", operator="ute", hash=os.urandom(32))
    for answer in (200, None):
        db.put("operator_actions", at=NOW, operator="ute", address="::1", role="admin", action="GET /hubs", hub=None,
               subject="x", answer=answer)
    for number, body in ((17, None), (18, "body-18")):
        db.put("payloads", id=number, kind="secure", sender="ann", type="t", content_type="text/plain", message="hi",
               body=body, size=9, is_once=1, unread=1, device=None, is_published=1, created_at=NOW,
               expires_at=NOW + DAY)
        db.put("addressees", payload=number, user="bob", read_at=None)
    db.put("payload_texts", payload=17, sealed=os.urandom(30))
    db.put("payload_totals", sender="ann", size=777)
    db.put("payload_receipts", payload=17, device="d", event="opened", user="bob", at=NOW)
    db.put("payload_audit", at=NOW, payload=17, user="bob", outcome="read", address="10.0.0.1")


def registration_id(number):
    return struct.pack(">QQ", LONG_ID + number, LONG_ID)


def fill_devices(db, hub, base):
    """Devices of a hub, with numbers from `base`. One content is a template and variables at once."""
    apns, spelled, fcm = base + 1, base + 2, base + 3
    db.put("channels", id=apns, hub=hub, platform="apns", key=bytes([hub]) * 32, registered_at=NOW)
    db.put("channels", id=spelled, hub=hub, platform="apns", key=bytes([hub, 0xAB]) * 16,
           handle=(bytes([hub, 0xAB]) * 16).hex().upper(), registered_at=NOW, is_suspected=1)
    db.put("channels", id=fcm, hub=hub, platform="fcmv1", key=f"token:{hub}-" + "x" * 60, registered_at=NOW)
    both = db.put("contents", hub=hub, content=texts("x", "0"), uses=2)
    named = db.put(
        "contents", hub=hub,
        content=texts('{"aps":{"alert":"$(text)"}}', "1", "apns-priority", "5", "option", "value", "greeting"), uses=1)
    installation = db.put(
        "installations", hub=hub, id="phone \N{SNOWMAN}", version=4, created_at=NOW, updated_at=NOW,
        expires_at=NOW + DAY, document=b'{"installationId":"phone"}')
    for slot in ("old one", "native"):
        db.put("dead_slots", installation=installation, slot=slot)
    rows = [
        (registration_id(base), apns, "News,user:Ann", None, None, None, None),
        ("own id", spelled, "", None, both, installation, "native"),
        (registration_id(base + 1), fcm, "news", named, both, installation, "greeting"),
        (registration_id(base + 2), apns, "news", both, None, None, None),
    ]
    for place, (identity, channel, tags, template, variables, owner, slot) in enumerate(rows, 1):
        db.put("registrations", sequence=base + place, hub=hub, id=identity, channel=channel, version=place, tags=tags,
               created_at=NOW - place, updated_at=NOW + place, expires_at=NOW + DAY if place % 2 else None,
               template=template, variables=variables, secondary_tile="/tile" if place == 2 else None,
               installation=owner, slot=slot)
        platform = "fcmv1" if channel == fcm else "apns"
        for name in {"*", *(tag.lower() for tag in tags.split(",") if tag)}:
            key = (hub, name, template is not None, platform)
            found = db.connection.execute(
                "SELECT id FROM tags WHERE hub = ? AND name = ? AND is_template = ? AND platform = ?", key).fetchone()
            if not found:
                db.connection.execute("UPDATE tag_counter SET last = last + 1")
                found = db.connection.execute("SELECT last FROM tag_counter").fetchone()
                db.put("tags", hub=hub, name=name, is_template=key[2], platform=platform, id=found[0])
            db.put("tag_members", tag=found[0], channel=channel, registration=base + place)
    db.put("device_keys", registration=base + 1, tag="user:ann", public_key=os.urandom(65), auth_secret=os.urandom(16))
    db.put("tombstones", hub=hub, id=registration_id(base + 9), gone_at=NOW)
    db.put("tombstones", hub=hub, id="former", gone_at=NOW - 5)
    gone = base + 9
    for handle in (bytes([hub, 9]) * 16, f"gone:{hub}-" + "y" * 60):
        db.put("registration_history", hub=hub, sequence=base, id=registration_id(base + 9), installation="phone",
               platform="apns" if isinstance(handle, bytes) else "fcmv1", channel=gone, handle=handle,
               tags="Forgotten,news", template=named, variables=None, expires_at=None, created_at=NOW, ended_at=NOW,
               cause="deleted")
        db.put("former_channels", id=gone, hub=hub, platform="apns" if isinstance(handle, bytes) else "fcmv1",
               ending=handle[-32:])
        gone += 1


def fill_sends(db, hub, base, author):
    def notification(**columns):
        sequence = db.put(
            "notifications", hub=hub, id=os.urandom(16), is_confidential=0, accepted_at=NOW, expires_at=NOW + 3 * DAY,
            states_expiry=1, author=author, **columns)
        body = columns.get("platform") and b'{"aps":{"alert":"x"}}' or b'{"text":"x"}'
        db.put("messages", notification=sequence, body=body,
               fields=texts("apns-priority", "5") if columns.get("platform") else b"")
        return sequence

    ended = notification(platform="apns", expression="news && !user:Bob", begun_at=NOW, finished_at=NOW, has_refusals=1)
    rolling = notification(platform="apns", expression=None, begun_at=NOW, control="paused", controlled_at=NOW,
                           has_parts=1, collapse=texts("key"))
    template = notification(platform=None, expression="news", begun_at=NOW, original=ended, original_outcome="badDevice")
    handles = [(bytes([hub, 0xAB]) * 16).hex(), "ff" * 32]
    direct = notification(platform="apns", handles=texts(*handles), begun_at=NOW, collapse=texts("key", *handles))
    notification(platform="apns", due_at=NOW + DAY)
    # Devices of the second hub get other numbers on the way back, so a sample of them cannot be moved.
    sample = {"sample_size": 1, "sample_threshold": -5, "wait": 60_000} if base == 0 else {}
    db.put("rollouts", notification=rolling, rate=500, halt_share=200, halt_answers=50, audience=3, succeeded=1, failed=1,
           sent_at=NOW, held_at=NOW, **sample)
    db.put("parts", notification=rolling, number=1, platform=None, due_at=None, expires_at=NOW + DAY, side=1,
           narrowing="news", begun_at=None)
    db.put("requests", hub=hub, key=os.urandom(32), fingerprint=b"f", notification=os.urandom(16), accepted_at=NOW)

    def delivery(sequence, final, **columns):
        return db.put("deliveries", notification=sequence, platform="apns", state="ended" if final else "sending",
                      is_final=final, is_fanned_out=final, **columns)

    bounds = {"last_channel": base + 3, "last_registration": 0, "cursor_channel": base + 2, "cursor_registration": 0}
    first = delivery(ended, 1, started_at=NOW, ended_at=NOW, **bounds)
    second = delivery(rolling, 0, side=0, part=0, **bounds)
    third = delivery(template, 0, last_channel=2**63 - 1, last_registration=base + 4, cursor_channel=base + 1,
                     cursor_registration=base + 4, lead=first, expires_at=NOW + DAY)
    fourth = delivery(direct, 0, last_channel=0, last_registration=0, cursor_channel=0, cursor_registration=1)
    db.connection.execute("UPDATE notifications SET rank = ? WHERE sequence = ?", (first, template))
    db.put("outcome_counts", delivery=first, outcome="accepted", count=2)
    anchor = "=" + handles[0]
    db.put("collapses", hub=hub, platform="apns", key="key", anchor=anchor, expression="", delivery=fourth,
           last_channel=0, is_latest=1)
    db.put("collapses", hub=hub, platform="apns", key="key", anchor="*", expression="", delivery=second,
           last_channel=base + 3, is_latest=1)
    summary = texts("2", "accepted", "2", "2", "superseded", "newer", "https://api.push.apple.com:443")
    db.put("ranges", delivery=first, last_channel=base + 3, last_registration=0, change=1, registration=base + 4,
           started_at=NOW, ended_at=NOW, summary=summary)
    db.put("reached", delivery=first, place=0, members=bitmap(base + 1, base + 3))
    db.put("page_records", delivery=first, last_channel=base + 2, last_registration=0, refusals=1, attempts=1,
           records=page_records(base + 2))
    db.put("refusals", delivery=third, channel=base + 1, registration=base + 4, handle=bytes([hub]) * 32,
           registration_id=registration_id(base), installation_id=None, outcome="badDevice", reason="Unregistered",
           refused_at=NOW, attempts=2, origin="https://api.push.apple.com:443", status=410, connection=3, fate="removed")
    db.put("attempts", delivery=second, channel=base + 1, registration=0, made_at=NOW, number=1, outcome="serviceFailed",
           reason="", origin=None, status=None, connection=None, fate="kept", followed=base + 3)
    for number, columns in ((second, (base + 2, 0)), (third, (base + 1, base + 1)), (fourth, (0, 2))):
        db.put("retries", delivery=number, channel=columns[0], registration=columns[1], attempts=1, due_at=NOW + 500,
               outcome="serviceFailed", reason="503")
    db.put("lane_pauses", hub=hub, platform="apns", origin="", until=NOW + 900, outcome="serviceFailed", reason="503")
    db.put("quarantines", hub=hub, platform="apns", application="org.example")
    db.put("notification_receipts", notification=ended, device="d", event="opened", user="ann", at=NOW, platform="apns")
    db.put("receipt_events", hub=hub, platform="apns", event="opened")
    db.put("campaigns", hub=hub, name="Spring", draft='{"x":1}', version=2, send=os.urandom(16), created_at=NOW,
           changed_at=NOW, changed_by="Ute")
    return second, third


def progress(data, delivery, *numbers):
    """The file of a progress map."""
    bits = bytearray(4096)
    for number in numbers:
        bits[number // 8] |= 1 << number % 8
    with open(os.path.join(data, "progress", str(delivery)), "wb") as file:
        file.write(bits)
    os.chmod(file.name, 0o600)


def blob(data, root, container, name, size):
    folder = os.path.join(data, root, "containers", container)
    os.makedirs(os.path.dirname(os.path.join(folder, name)), mode=0o700, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as file:
        file.write(os.urandom(size))
    status = os.stat(file.name)
    return f'"0x{status.st_mtime_ns:X}{status.st_ino:X}"'


def job(db, hub, tag):
    db.put("jobs", id=f"job-{hub}", hub=hub, kind="import", sealed_addresses=os.urandom(40), output="out.txt",
           directory="d", input_container="files", input_name="folder/in.txt", created_at=NOW, status="running",
           is_final=0, progress=3, failure=None, updated_at=NOW, input_offset=12, line=3, input_tag=tag, last_sequence=2,
           count=3, output_bytes=5, pending_output=b"\0x", failed_bytes=0, pending_failed=b"", is_written=0)


def fill(data):
    """Writes rows of every kind."""
    for name in ("progress", "storage", "payloads"):
        os.makedirs(os.path.join(data, name), mode=0o700, exist_ok=True)
    for root in ("storage", "payloads"):
        for name in ("containers", "uploads", "blocks"):
            os.makedirs(os.path.join(data, root, name), mode=0o700, exist_ok=True)
    os.makedirs(os.path.join(data, "storage", "containers", "empty"), mode=0o700)
    blob(data, "payloads", "payloads", "body-18", 300_000)
    tag = blob(data, "storage", "files", "folder/in.txt", 600_001)
    with open(os.path.join(data, "storage", "uploads", "job-1-out"), "wb") as file:
        file.write(b"a" * 5)
    db = Database(data)
    fill_namespace(db)
    author = db.put("authors", name="user:ann")
    hubs = [row[0] for row in db.connection.execute("SELECT id FROM hubs ORDER BY id")]
    for place, hub in enumerate(hubs):
        base = 40 * place
        fill_devices(db, hub, base)
        second, third = fill_sends(db, hub, base, author)
        progress(data, second, base + 1, base + 2)
        progress(data, third, base + 3)
        job(db, hub, tag if place else "another")
    db.close()


# Moving


def move(binary, source, target, *words, check=True):
    done = subprocess.run(
        [binary, "move", "--from", source, "--to", target, "--json", *words], capture_output=True, text=True,
        timeout=600)
    if check and done.returncode:
        raise processes.Failed(f"a move failed: {done.stderr}")
    return done


def compared(done):
    """What a move has read on both sides."""
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {row["name"]: (row["rows"], row["checksum"]) for row in rows}


def files_of(data):
    """The content of a directory, but for its lock and its mark."""
    found = {}
    for folder, _, names in os.walk(data):
        for name in names:
            if name.endswith(("-shm", "-wal")) or name == "moved":
                continue
            with open(os.path.join(folder, name), "rb") as file:
                found[os.path.relpath(file.name, data)] = file.read()
    return found


def has_schema(cluster):
    return cluster.query("SELECT count(*) FROM pg_namespace WHERE nspname = 'martlet'") == "1"


def empty(cluster):
    cluster.query("DROP SCHEMA IF EXISTS martlet CASCADE")


def unmark(place):
    """Takes the mark of what was moved from a directory or a database, as its refusal says."""
    if isinstance(place, postgres.Cluster):
        place.query("UPDATE martlet.namespace SET moved_to = NULL")
    elif os.path.exists(os.path.join(place, "moved")):
        os.remove(os.path.join(place, "moved"))


def refused(binary, data, *options):
    """What a server says that does not start."""
    done = subprocess.run([binary, "serve", "--data", data, "--listen", "127.0.0.1:0", *options], capture_output=True,
                          text=True, timeout=60)
    return done.stderr if done.returncode == 1 else f"the server ended with {done.returncode}"


def refuse_sample(binary, cluster, target, key):
    """A notification of the second hub whose sample has its push already."""
    hub = cluster.query("SELECT max(id) FROM martlet.hubs")
    of_hub = f"WHERE shard = {hub} AND rate IS NOT NULL"
    cluster.query(f"UPDATE martlet.notifications SET sample_size = 1, sample_threshold = -5 {of_hub}")
    name = cluster.query(f"SELECT encode(id, 'hex') FROM martlet.notifications {of_hub}")
    answer = move(binary, cluster.url, target, "--key-file", key, check=False)
    checks.that("a sample whose devices get other numbers is refused by its name",
                answer.returncode == 1 and name in answer.stderr and "hub 'other'" in answer.stderr, answer.stderr)
    checks.equal("and the database is not marked", cluster.query("SELECT moved_to IS NULL FROM martlet.namespace"), "t")
    cluster.query(f"UPDATE martlet.notifications SET sample_size = NULL, sample_threshold = NULL {of_hub}")


def refuse_missing(binary, cluster, target, key):
    """A retry whose delivery is missing: a join would leave it out on both sides."""
    cluster.query("CREATE TABLE public.aside AS SELECT * FROM martlet.deliveries WHERE (shard, id) = "
                  "(SELECT shard, delivery FROM martlet.retries LIMIT 1)")
    cluster.query("DELETE FROM martlet.deliveries WHERE (shard, id) IN (SELECT shard, id FROM public.aside)")
    answer = move(binary, cluster.url, target, "--key-file", key, check=False)
    checks.that("rows that refer to a missing one are not left out",
                answer.returncode == 1 and "refer to rows that are missing" in answer.stderr, answer.stderr)
    checks.equal("and the database is not marked", cluster.query("SELECT moved_to IS NULL FROM martlet.namespace"), "t")
    cluster.query("INSERT INTO martlet.deliveries SELECT * FROM public.aside")
    cluster.query("DROP TABLE public.aside")


def refuse_numbers(binary, data, cluster):
    """Numbers of tags for which PostgreSQL has no room."""
    def count(last):
        database = Database(data)
        before = database.connection.execute("SELECT last FROM tag_counter").fetchone()[0]
        database.connection.execute("UPDATE tag_counter SET last = ?", (last,))
        database.close()
        return before

    before = count(2**32)
    answer = move(binary, data, cluster.url, check=False)
    checks.that("numbers for which there is no room are refused",
                answer.returncode == 1 and "Nothing was moved." in answer.stderr, answer.stderr)
    checks.that("and the database is empty", not has_schema(cluster))
    count(before)


def rule_out(binary, folder, cluster):
    """What cannot be moved is refused with what to do."""
    answer = move(binary, os.path.join(folder, "nothing"), cluster.url, check=False)
    checks.that("a directory without a database is refused",
                answer.returncode == 1 and "nothing to move" in answer.stderr, answer.stderr)
    answer = move(binary, cluster.url, os.path.join(folder, "nothing"), check=False)
    checks.that("a move to a directory asks for the key", "--key-file" in answer.stderr, answer.stderr)
    answer = move(binary, "a", "b", check=False)
    checks.equal("two directories are no move", answer.returncode, 64)


def there_and_back(binary, folder, cluster):
    data, back = os.path.join(folder, "rich"), os.path.join(folder, "back")
    for hub in ("demo", "other"):
        processes.create_hub(binary, data, hub)
    processes.martlet(binary, "hub", "credential", "set", "demo", "gcm", "--api-key", "secret", "--data", data)
    fill(data)
    refuse_numbers(binary, data, cluster)
    before = files_of(data)
    first = compared(move(binary, data, cluster.url))
    for name, (rows, _) in first.items():
        checks.that(f"there is a row of '{name}'", rows > 0)
    checks.that("the source is as it was", files_of(data) == before)
    said = refused(binary, data)
    checks.that("a directory that was moved is not served", "was moved to the database 'martlet'" in said, said)
    answer = move(binary, data, cluster.url, check=False)
    checks.that("nor moved again", answer.returncode == 1 and "was moved to" in answer.stderr, answer.stderr)
    unmark(data)
    answer = move(binary, data, cluster.url, check=False)
    checks.that("a database that is not empty is refused",
                answer.returncode == 1 and "data of Martlet" in answer.stderr
                and "empty" in answer.stderr, answer.stderr)
    key = os.path.join(data, "secret.key")
    other = os.path.join(folder, "other.key")
    with open(other, "w", encoding="ascii") as file:
        file.write("ab" * 32 + "\n")
    answer = move(binary, cluster.url, back, "--key-file", other, check=False)
    checks.that("another key is refused", answer.returncode == 1 and "in --key-file" in answer.stderr, answer.stderr)
    answer = subprocess.run([binary, "move", "--from", cluster.url, "--to", back, "--key-file", key], capture_output=True,
                            text=True, timeout=60, env=os.environ | {"MARTLET_SECRET_KEY_FILE": key})
    checks.that("two keys are one too many", answer.returncode == 64 and "not both" in answer.stderr, answer.stderr)
    shutil.rmtree(back, ignore_errors=True)
    refuse_sample(binary, cluster, back, key)
    refuse_missing(binary, cluster, back, key)
    second = compared(move(binary, cluster.url, back, "--key-file", key))
    node = os.path.join(folder, "node-of-moved")
    os.makedirs(node, mode=0o700)
    shutil.copy(key, node)
    said = refused(binary, node, "--database", cluster.url)
    answer = subprocess.run([binary, "check", "--data", node, "--database", cluster.url], capture_output=True, text=True,
                            timeout=60)
    checks.that("a check finds the mark", answer.returncode == 1 and "was moved to" in answer.stdout, answer.stdout)
    checks.that("a database that was moved is not served", f"was moved to the directory '{back}'" in said, said)
    answer = move(binary, cluster.url, f"{back}-again", "--key-file", key, check=False)
    checks.that("nor moved again", answer.returncode == 1 and "was moved to" in answer.stderr, answer.stderr)
    database = sqlite3.connect(os.path.join(back, "martlet.db"))
    statistics = database.execute("SELECT name FROM sqlite_schema WHERE name LIKE 'sqlite_stat%'").fetchall()
    last = database.execute("SELECT last FROM tag_counter").fetchone()[0]
    database.close()
    checks.that("tags are numbered anew", last < 1000, last)
    checks.equal("the directory has no statistics of the planner, as one that a server made", statistics, [])
    for name in first:
        checks.equal(f"'{name}' is the same after the way back", second.get(name), first[name])
    with open(key, "rb") as one, open(os.path.join(back, "secret.key"), "rb") as two:
        checks.equal("the key went along", two.read(), one.read())
    answer = subprocess.run([binary, "check", "--data", back, "--json"], capture_output=True, text=True, timeout=60)
    schema = [json.loads(line) for line in answer.stdout.splitlines() if '"database"' in line]
    checks.equal("the directory has the schema of a server", [line["level"] for line in schema], ["ok"])
    empty(cluster)
    third = compared(move(binary, back, cluster.url))
    checks.equal("and it can be moved again", {name: rows for name, (rows, _) in third.items()},
                 {name: rows for name, (rows, _) in first.items()})
    return data


def difference(binary, data, cluster):
    """A database that changes a row: an empty schema, with a trigger."""
    empty(cluster)
    unmark(data)
    node = os.path.join(os.path.dirname(data), "node-of-schema")
    os.makedirs(node, mode=0o700)
    shutil.copy(os.path.join(data, "secret.key"), node)

    async def make_schema():
        server = processes.Server(binary, node, f"{node}.log", "--database", cluster.url)
        await server.start()
        return server

    async def course():
        server = await make_schema()
        answer = await asyncio.to_thread(move, binary, data, cluster.url, check=False)
        checks.that("a database that is served is refused",
                    answer.returncode == 1 and "stop all nodes" in answer.stderr, answer.stderr)
        await server.stop()

    return course, [
        ("tombstones", "NEW.gone_at := NEW.gone_at + 1; RETURN NEW;"), ("retries", "RETURN NULL;"),
        ("registrations", "NEW.tags := NEW.tags || NEW.tags[1:1]; NEW.tags[1] := NEW.tags[2]; RETURN NEW;"),
    ]


async def differences(binary, data, cluster):
    course, changes = difference(binary, data, cluster)
    await course()
    for table, change in changes:
        cluster.query(
            f"CREATE OR REPLACE FUNCTION martlet.skew() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {change} END $$; "
            f"CREATE TRIGGER skew BEFORE INSERT ON martlet.{table} FOR EACH ROW EXECUTE FUNCTION martlet.skew()")
        answer = await asyncio.to_thread(move, binary, data, cluster.url, check=False)
        checks.that(f"a changed row of '{table}' is found", answer.returncode == 1 and "differs" in answer.stderr,
                    answer.stderr)
        checks.equal("and nothing is completed", cluster.query("SELECT count(*) FROM martlet.hubs"), "0")
        cluster.query(f"DROP TRIGGER skew ON martlet.{table}")
    cluster.query("DROP FUNCTION martlet.skew()")
    answer = await asyncio.to_thread(move, binary, data, cluster.url, check=False)
    checks.equal("without the change the same schema takes the data", (answer.returncode, answer.stderr[:200] if
                 answer.returncode else ""), (0, ""))


def until_no_session(cluster):
    """The server notices a moment later that its client was killed."""
    deadline = time.monotonic() + 30
    while cluster.query("SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'martlet%'") != "0":
        if time.monotonic() > deadline:
            raise processes.Failed("the session of a killed move stays")
        time.sleep(0.1)


def content_of(data):
    """What shows that a directory is whole: its integrity, its counts and its key."""
    database = sqlite3.connect(os.path.join(data, "martlet.db"))
    found = [database.execute(query).fetchone()[0] for query in (
        "PRAGMA integrity_check", "SELECT count(*) FROM hubs", "SELECT count(*) FROM registrations")]
    database.close()
    with open(os.path.join(data, "secret.key"), "rb") as file:
        return found + [file.read()]


def interrupt(binary, data, cluster, whole):
    """Who stops a move is told what became of it."""
    empty(cluster)
    unmark(data)
    process = subprocess.Popen([binary, "move", "--from", data, "--to", cluster.url], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    time.sleep(whole / 2)
    process.terminate()
    said = process.communicate(timeout=60)[1]
    until_no_session(cluster)
    if process.returncode:
        checks.equal("an interrupted move ends as others do", process.returncode, 128 + signal.SIGTERM)
        is_marked = os.path.exists(os.path.join(data, "moved"))
        checks.that("and says that nothing was moved", "in the last step" in said or ("Nothing was moved" in said
                    and not is_marked and not has_schema(cluster)), said)


def kills(binary, data, cluster, count, seed):
    """Kills moves at moments that are spread over their whole time."""
    def moved():
        return cluster.query("SELECT (SELECT count(*) FROM martlet.hubs), (SELECT count(*) FROM martlet.registrations)")

    choice = random.Random(seed)
    empty(cluster)
    unmark(data)
    before = files_of(data)
    begin = time.monotonic()
    move(binary, data, cluster.url)
    whole = time.monotonic() - begin
    everything = moved()
    key = os.path.join(data, "secret.key")
    for number in range(count):
        empty(cluster)
        unmark(data)
        process = subprocess.Popen([binary, "move", "--from", data, "--to", cluster.url], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        try:
            process.wait(whole * (number + choice.random()) / count)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.returncode == 0:
            continue
        until_no_session(cluster)
        if has_schema(cluster) and os.path.exists(os.path.join(data, "moved")):
            # It was killed behind its last COMMIT.
            checks.equal("a move that was killed at its end is whole", moved(), everything)
        else:
            checks.that("a killed move leaves an empty database", not has_schema(cluster))
    checks.that("the directory is as it was", files_of(data) == before)
    interrupt(binary, data, cluster, whole)
    empty(cluster)
    unmark(data)
    move(binary, data, cluster.url)
    target = os.path.join(os.path.dirname(data), "killed")
    command = [binary, "move", "--from", cluster.url, "--to", target, "--key-file", key]
    begin = time.monotonic()
    subprocess.run(command, check=True, capture_output=True, timeout=600)
    whole = time.monotonic() - begin
    good = content_of(target)
    shutil.rmtree(target)
    unfinished = 0
    for number in range(count):
        unmark(cluster)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            # The first part of the time goes to the start of the program and to the connection.
            process.wait(whole * (0.4 + 0.6 * (number + choice.random()) / count))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        until_no_session(cluster)
        if not os.path.exists(os.path.join(target, "unfinished-move")):
            # It has ended, was killed behind its last step, or before its first.
            if process.returncode == 0 or os.path.exists(os.path.join(target, "martlet.db")):
                checks.equal("a directory without the mark is whole", content_of(target), good)
            shutil.rmtree(target, ignore_errors=True)
            continue
        unfinished += 1
        keys = sorted(name for name in os.listdir(target) if name.startswith("secret.key"))
        said = refused(binary, target)
        checks.that("a directory of a killed move is not served", "was not finished" in said, said[-300:])
        checks.equal("and gets no key", sorted(name for name in os.listdir(target) if name.startswith("secret.key")),
                     keys)
    checks.that("moves were killed in the middle", unfinished > 0)
    unmark(cluster)
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    checks.equal("the next move begins again and succeeds", (done.returncode, done.stderr[-200:] if done.returncode else ""), (0, ""))
    answer = subprocess.run([binary, "check", "--data", target, "--json"], capture_output=True, text=True, timeout=60)
    schema = [json.loads(line)["level"] for line in answer.stdout.splitlines() if '"database"' in line]
    checks.equal("and the directory has the schema of a server", schema, ["ok"])


# A database that is slow, and a directory of another user


class StandingStill:
    """Stands between a move and its database, over TCP. After some bytes of the move it reads nothing for a while, as a
    server does that writes a checkpoint."""

    def __init__(self, directory, seconds):
        self._path, self._seconds, self._rest = os.path.join(directory, ".s.PGSQL.5432"), seconds, 200_000
        self._listener = socket.socket()
        # Little is taken while nobody reads.
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen()
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._path)
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._pump, args=(source, sink, source is client), daemon=True).start()

    def _pump(self, source, sink, is_of_move):
        try:
            while piece := source.recv(4096):
                sink.sendall(piece)
                if is_of_move and self._rest > 0:
                    self._rest -= len(piece)
                    if self._rest <= 0:
                        time.sleep(self._seconds)
        except OSError:
            pass
        for end in (source, sink):
            # Closing alone would not wake the thread that waits for the end.
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


def stand_still(binary, data, cluster):
    """For longer than the five seconds after which a node gives up a connection."""
    for options, expected in (("?tcp_user_timeout=5000", 1), ("", 0)):
        empty(cluster)
        unmark(data)
        between = StandingStill(cluster.directories[0], 10)
        answer = move(binary, data, f"postgres://postgres@127.0.0.1:{between.port}/martlet{options}", check=False)
        between.close()
        checks.equal(f"a move to a database that does not read for ten seconds {options}",
                     (answer.returncode, answer.stderr[-200:] if answer.returncode != expected else ""), (expected, ""))
        until_no_session(cluster)


def owners(binary, folder, data, cluster):
    """Root moves: into a new directory, and into one of a user who may not read the key."""
    key = os.path.join(data, "secret.key")
    new, own = (os.path.join(folder, name) for name in ("new", "own"))
    unmark(cluster)
    answer = move(binary, cluster.url, new, "--key-file", key)
    checks.that("the owner of a new directory is told", "belongs to root" in answer.stderr, answer.stderr)
    user = os.stat(cluster.directories[0])
    os.chmod(folder, 0o711)
    os.makedirs(own, mode=0o700)
    os.chown(own, user.st_uid, user.st_gid)
    unmark(cluster)
    move(binary, cluster.url, own, "--key-file", key)
    checks.equal("all is the owner's", {os.stat(os.path.join(own, name)).st_uid for name in os.listdir(own)},
                 {user.st_uid})


# A server's own data


def run(binary, data, *words):
    done = subprocess.run([binary, *words, "--data", data], capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise processes.Failed(f"{words}: {done.stderr}")
    return done.stdout


def lines(binary, data, hub):
    return sorted(run(binary, data, "export", hub, "-").splitlines())


async def served(binary, folder, cluster, count):
    empty(cluster)
    data, node, back = (os.path.join(folder, name) for name in ("served", "node", "returned"))
    for hub in ("demo", "other"):
        processes.create_hub(binary, data, hub)
    registrations = os.path.join(folder, "registrations.txt")
    await asyncio.to_thread(mass_jobs.write_lines, registrations, count)

    async def with_server(data, *options):
        server = processes.Server(binary, data, f"{data}.log", *options)
        await server.start()
        return server

    server = await with_server(data)
    for hub in ("demo", "other"):
        await asyncio.to_thread(run, binary, data, "import", hub, registrations)
    exported = {hub: await asyncio.to_thread(lines, binary, data, hub) for hub in ("demo", "other")}
    await server.stop()
    begin = time.monotonic()
    await asyncio.to_thread(move, binary, data, cluster.url)
    print(f"moves: {2 * count} registrations to PostgreSQL in {time.monotonic() - begin:.1f} s", flush=True)
    os.makedirs(node, mode=0o700)
    shutil.copy(os.path.join(data, "secret.key"), node)
    server = await with_server(node, "--database", cluster.url)
    for hub in ("demo", "other"):
        checks.that(f"the node exports the same registrations of '{hub}'",
                    await asyncio.to_thread(lines, binary, node, hub) == exported[hub])
        # Numbers of their own in each hub, which now are the same in both.
        await asyncio.to_thread(run, binary, node, "import", hub, registrations, "--create-only")
    exported = {hub: await asyncio.to_thread(lines, binary, node, hub) for hub in ("demo", "other")}
    await server.stop()
    key = os.path.join(data, "secret.key")
    begin = time.monotonic()
    await asyncio.to_thread(move, binary, cluster.url, back, "--key-file", key)
    print(f"moves: {4 * count} registrations to a directory in {time.monotonic() - begin:.1f} s", flush=True)
    server = await with_server(back)
    for hub in ("demo", "other"):
        checks.that(f"the server exports the same registrations of '{hub}'",
                    await asyncio.to_thread(lines, binary, back, hub) == exported[hub])
        count_of = json.loads(await asyncio.to_thread(run, binary, back, "audience", hub, "*", "--json"))
        checks.equal(f"and finds all devices of '{hub}'", count_of.get("registrations"), 2 * count)
    await server.stop()


async def judge(binary, count, kill_count, folder):
    cluster = postgres.Cluster()
    try:
        rule_out(binary, folder, cluster)
        data = await asyncio.to_thread(there_and_back, binary, folder, cluster)
        await asyncio.to_thread(stand_still, binary, data, cluster)
        if os.geteuid() == 0:
            await asyncio.to_thread(owners, binary, folder, data, cluster)
        await differences(binary, data, cluster)
        await asyncio.to_thread(kills, binary, data, cluster, kill_count, 7)
        await served(binary, folder, cluster, count)
        await online_moves.every_kind(checks, sys.modules[__name__], binary, folder, data, cluster)
        await online_moves.disturbed(checks, sys.modules[__name__], binary, folder, cluster)
        empty(cluster)
        await online_moves.Course(checks, binary, folder, cluster, count).run(until_no_session, has_schema)
    finally:
        cluster.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("martlet")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        checks.finish(judge(os.path.abspath(options.martlet), options.count, options.kills, folder))


if __name__ == "__main__":
    main()
