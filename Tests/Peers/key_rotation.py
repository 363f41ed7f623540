"""A real `martlet serve` gets new keys again and again and is killed at any moment of that: every secret opens, and in the
end the first key opens nothing.

    key_rotation.py MARTLET [--rounds N]
"""

import argparse
import asyncio
import os
import random
import re
import shutil
import sqlite3
import tempfile

import processes
from checks import Checks, eventually

checks = Checks("key-rotation")
HUBS = 60


def printed(binary, data, *words):
    return processes.martlet(binary, *words, "--data", data)


def all_sealed(data):
    """The ids of the keys by which everything is sealed, straight from the database."""
    database = sqlite3.connect(f"file:{data}/martlet.db?mode=ro", uri=True)
    found = set()
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    for table in tables:
        for column in database.execute(f"SELECT name FROM pragma_table_info('{table}') WHERE name LIKE 'sealed%'"):
            found |= {box[:4].hex() for (box,) in database.execute(f"SELECT {column[0]} FROM {table}")}
    database.close()
    return found


def ids(status):
    return [line for line in status.splitlines() if re.fullmatch("[0-9a-f]{8}", line)]


def key_count(data):
    with open(f"{data}/secret.key") as file:
        return len(file.readlines())


async def killed_while_rotating(binary, data, log):
    """Kills the server soon after it has written down a new key; whether something was sealed with another still."""
    server = processes.Server(binary, data, log)
    await server.start()
    before = key_count(data)
    command = await asyncio.create_subprocess_exec(
        binary, "server-key", "rotate", "--data", data, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
    await eventually(lambda: key_count(data) > before, timeout=4 * processes.START_TIMEOUT)
    await asyncio.sleep(random.choice([0, 0.005, 0.01, 0.02, 0.05]))
    await server.kill()
    was_half_done = len(all_sealed(data)) > 1
    # It may have found nobody to talk to, and then does the work itself.
    await asyncio.wait_for(command.communicate(), 4 * processes.START_TIMEOUT)
    return was_half_done


async def course(binary, rounds):
    with tempfile.TemporaryDirectory() as directory:
        data, log = os.path.join(directory, "data"), os.path.join(directory, "log")
        for number in range(HUBS):
            processes.create_hub(binary, data, f"hub{number}")
        everything = {name: printed(binary, data, "hub", "key", "list", name) for name in ("hub0", f"hub{HUBS - 1}")}
        [first] = ids(printed(binary, data, "server-key", "list"))
        copy = os.path.join(directory, "copy")
        shutil.copytree(data, copy, ignore=shutil.ignore_patterns("admin.sock"))
        cut_short = 0
        for number in range(rounds):
            cut_short += await killed_while_rotating(binary, data, log)
            for name, keys in everything.items():
                checks.equal(f"round {number}: {name}", printed(binary, data, "hub", "key", "list", name), keys)
            left = all_sealed(data)
            known = set(ids(printed(binary, data, "server-key", "list")))
            checks.that(f"round {number}: every key in use is there", left <= known, left - known)
            checks.equal(f"round {number}: the file is its owner's", os.stat(f"{data}/secret.key").st_mode & 0o777, 0o600)
            if number % 3 == 2:
                printed(binary, data, "server-key", "retire", "--yes")
        print(f"key-rotation: {cut_short} of {rounds} kills came before everything was sealed anew", flush=True)
        await finished(binary, data, log, everything, first)
        await a_stolen_key(binary, data, copy, log)


async def finished(binary, data, log, everything, first):
    """With a server that lives on."""
    server = processes.Server(binary, data, log)
    await server.start()
    said = printed(binary, data, "server-key", "rotate", "--retire", "--yes")
    [last] = ids(printed(binary, data, "server-key", "list"))
    checks.that("the new key is named", last in said, said)
    checks.equal("everything is sealed with it", all_sealed(data), {last})
    checks.that("it is another", last != first)
    for name, keys in everything.items():
        checks.equal(f"in the end: {name}", keyless(printed(binary, data, "hub", "key", "list", name)), keyless(keys))
    await server.stop()


def keyless(text):
    """Without the address, which is that of the server where one runs."""
    return re.sub(r"Endpoint=[^;]*;", "", text)


async def a_stolen_key(binary, data, copy, log):
    """The first key opens the copy of that time, and nothing of today."""
    checks.that("the old copy opens", "hub0" in printed(binary, copy, "hub", "list"))
    shutil.copy(f"{copy}/secret.key", f"{data}/secret.key")
    server = processes.Server(binary, data, log)
    try:
        await server.start()
        checks.that("an old key does not open what is sealed with a new one", False)
        await server.kill()
    except processes.Failed as error:
        checks.that("an old key does not open what is sealed with a new one", "encryption key" in str(error), error)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("martlet")
    parser.add_argument("--rounds", type=int, default=6)
    arguments = parser.parse_args()
    checks.finish(course(arguments.martlet, arguments.rounds))
