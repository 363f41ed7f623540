"""What stands in a node's way is said before it serves: `martlet check` finds what `martlet serve` refuses, in its words.

Each refusal leaves the data directory as it was: without a key, no key is made for a database with secrets in it. A node
warns of a name that another one has, and of an authority of its own. When its database is gone, /health/ready says so
without its address, and `martlet health` says why. While it has no standby, nothing is answered with success, a request
that was made before included.

    node_starts.py MARTLET
"""

import argparse
import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import tempfile

import hub_client
import postgres
import processes
from checks import Checks, eventually

checks = Checks("node-starts")
PASSWORD = "sesame"
ADDRESS = ["--listen", "127.0.0.1:0"]
PATIENCE = 60


def environment(**variables):
    """Without settings of whoever runs this."""
    return {name: value for name, value in os.environ.items() if not name.startswith("MARTLET_")} | variables


def run(binary, words, variables):
    try:
        return subprocess.run([binary, *words], capture_output=True, text=True, timeout=PATIENCE,
                              env=environment(**variables))
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, None, "", "it serves")


def files(data):
    return sorted(os.listdir(data)) if os.path.exists(data) else None


def refused(binary, what, words, options, variables=None):
    """Whether both refuse with a sentence that has these words, and change nothing."""
    data = options[options.index("--data") + 1]
    before = files(data)
    checked = run(binary, ["check", *options, *ADDRESS], variables or {})
    checks.equal(f"{what}: a check changes nothing", files(data), before)
    served = run(binary, ["serve", *options, *ADDRESS], variables or {})
    sentence = served.stderr.strip().removeprefix("martlet: ")
    checks.that(f"{what}: serve refuses", served.returncode == 1 and words in sentence, served)
    checks.that(f"{what}: check says the same", checked.returncode == 1 and f"problem: {sentence}" in checked.stdout, checked)


def accepted(binary, what, words, options, variables=None):
    checked = run(binary, ["check", *options, *ADDRESS], variables or {})
    checks.that(f"{what}: check passes", checked.returncode == 0 and words in checked.stdout, checked)


def judge_refusals(binary, folder, database):
    def place(name):
        return ["--data", os.path.join(folder, name)]

    node, own, new, other = (os.path.join(folder, name) for name in ("node", "own", "new", "other"))
    key = os.path.join(node, "secret.key")
    refused(binary, "a database of its own", "has a database of its own", place("own") + database)
    refused(binary, "a node's directory without a database", "is in PostgreSQL", place("node"))
    refused(binary, "no key", "this server has none", place("new") + database)
    checks.that("no key: nothing is made", not os.path.exists(new), files(new))
    shutil.rmtree(new, ignore_errors=True)
    os.mkdir(new, 0o700)
    refused(binary, "no key in an empty directory", "this server has none", place("new") + database)
    checks.equal("no key in an empty directory: nothing is made", files(new), [])
    os.mkdir(other, 0o700)
    shutil.copy(os.path.join(own, "secret.key"), other)
    refused(binary, "another key", "another secret key", place("other") + database)
    wrong = {"MARTLET_SECRET_KEY": "ab" * 32}
    refused(binary, "another key in the environment", "another secret key", place("new") + database, wrong)
    accepted(binary, "the key in the directory", "ok: The secret key opens the credentials", place("node") + database)
    accepted(binary, "the key in the environment", "ok: The secret key opens the credentials", place("new") + database,
             {"MARTLET_SECRET_KEY_FILE": key})
    accepted(binary, "an empty variable is none", "ok: The secret key opens the credentials", place("node") + database,
             {"MARTLET_SECRET_KEY_FILE": ""})
    authority = ["--tls-listen", "127.0.0.1:0", "--tls-self-signed"]
    accepted(binary, "an authority of each node", "warning: With --tls-self-signed each node", place("node") + database + authority)
    # As a killed process leaves it: the key is gone, and the directory remembers that it was there.
    os.rename(key, f"{key}.away")
    refused(binary, "a key that is gone", "is missing", place("node") + database)
    os.rename(f"{key}.away", key)


async def ready(node):
    connection = hub_client.Connection(node.port)
    try:
        status, _, body = await connection.request("GET", "/health/ready", {})
    finally:
        connection.close()
    return status, body.decode()


async def health(binary, node):
    """What the admin socket tells, which is for operators of the machine."""
    told = await asyncio.to_thread(run, binary, ["health", "--data", node.data], {})
    return told.returncode, told.stdout + told.stderr


async def judge_missing_standby(cluster, first, second, key):
    """An attempt whose COMMIT waited for a standby in vain is stored on the primary alone. Its repetition at another node
    must not be told that it was done, until a standby has it: a send, which is found, and a removal, which finds nothing."""
    checks.equal("a device is there", await install(first, key), 200)
    await asyncio.to_thread(cluster.query, "ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
    await asyncio.to_thread(cluster.query, "SELECT pg_reload_conf()")
    checks.equal("nothing is accepted while no standby can have it",
                 await asyncio.gather(send(first, key), uninstall(first, key)), [503, 503])
    with contextlib.suppress(processes.Failed):
        await asyncio.to_thread(
            cluster.query, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
    stored = await eventually(lambda: cluster.query(
        "SELECT (SELECT count(*) FROM martlet.requests) - (SELECT count(*) FROM martlet.installations)") == "1")
    checks.that("the primary has stored both, since their sessions have ended", stored)
    checks.equal("nor does another node say so when it is asked again",
                 await asyncio.gather(send(second, key), uninstall(second, key)), [503, 503])
    await asyncio.to_thread(cluster.query, "ALTER SYSTEM RESET synchronous_standby_names")
    await asyncio.to_thread(cluster.query, "SELECT pg_reload_conf()")
    accepted = False
    for _ in range(PATIENCE):
        accepted = await send(second, key) == 201 or await asyncio.sleep(0.5)
        if accepted:
            break
    checks.that("it is accepted when the writes are safe again", accepted, second.log_tail())
    checks.equal("and was stored once", cluster.query("SELECT count(*) FROM martlet.notifications"), "1")
    checks.equal("the device is removed", await uninstall(second, key), 204)


async def ask(node, key, method, path, fields=None, body=None):
    """The status of the answer."""
    connection = hub_client.Connection(node.port)
    try:
        token = hub_client.signature(hub_client.hub_resource("demo", node.port), "DefaultFullSharedAccessSignature", key)
        status, _, _ = await connection.request(
            method, f"/demo/{path}?{hub_client.API_VERSION}",
            {"Authorization": token, "Content-Type": "application/json;charset=utf-8", **(fields or {})},
            json.dumps(body).encode() if body else b"")
    finally:
        connection.close()
    return status


async def send(node, key):
    """A send that is the same each time."""
    return await ask(node, key, "POST", "messages", {"ServiceBusNotification-Format": "apple", "Idempotency-Key": "once"},
                     {"aps": {"alert": "x"}})


async def install(node, key):
    return await ask(node, key, "PUT", "installations/phone", None,
                     {"installationId": "phone", "platform": "apns", "pushChannel": "ab" * 32})


async def uninstall(node, key):
    return await ask(node, key, "DELETE", "installations/phone")


async def judge_outage(binary, folder, cluster, database, key):
    first = processes.Server(binary, os.path.join(folder, "node"), os.path.join(folder, "first.log"), *database,
                             "--node", "twin", "--tls-listen", "127.0.0.1:0", "--tls-self-signed", environment=environment())
    await first.start()
    # The server's log goes on after its ready line.
    said = await eventually(lambda: "makes an authority of its own" in first.log_tail())
    checks.that("a private authority is warned of", said, first.log_tail())
    second = processes.Server(binary, os.path.join(folder, "second"), os.path.join(folder, "second.log"), *database,
                              "--node", "twin",
                              environment=environment(MARTLET_SECRET_KEY_FILE=os.path.join(folder, "node", "secret.key")))
    await second.start()
    said = await eventually(lambda: "called 'twin' too" in second.log_tail())
    checks.that("a second node of the same name is warned", said, second.log_tail())
    checks.that("the first was not", "called 'twin' too" not in first.log_tail(), first.log_tail())
    await judge_missing_standby(cluster, first, second, key)
    await second.stop()
    for _ in range(PATIENCE):
        said = await ready(first)
        if said[0] == 200:
            break
        await asyncio.sleep(0.5)
    checks.equal("it is ready", said[0], 200)
    await asyncio.to_thread(cluster.stop)
    told = await health(binary, first)
    for _ in range(PATIENCE):
        if "Nobody listens" in told[1]:
            break
        await asyncio.sleep(1)
        told = await health(binary, first)
    checks.that("without its database it says why it is not ready", told[0] == 1 and "Nobody listens at the database "
                "'martlet'" in told[1], told)
    said = await ready(first)
    checks.that("to anyone who asks it says so without the address", said[0] == 503 and "database" in said[1]
                and "'martlet health' say" in said[1] and "Nobody listens" not in said[1] and "port" not in said[1], said)
    # After ten seconds the lease has ended as well.
    for _ in range(PATIENCE):
        if "sends nothing" in told[1] and "Nobody listens" in told[1]:
            break
        await asyncio.sleep(1)
        told = await health(binary, first)
    checks.that("also when its lease has ended", "sends nothing" in told[1] and "Nobody listens" in told[1], told)
    said = await ready(first)
    checks.that("which anyone may know", said[0] == 503 and "sends nothing" in said[1] and "Nobody listens" not in said[1],
                said)
    checks.that("and never with the password", PASSWORD not in said[1] + told[1] + first.log_tail(), (said, told))
    nodes = await asyncio.to_thread(run, binary, ["nodes", "--data", first.data], {})
    checks.that("'martlet nodes' says so too", nodes.returncode == 1 and nodes.stderr.startswith("martlet: Nobody listens"),
                nodes)
    await first.stop()


async def judge(binary, folder):
    cluster = postgres.Cluster("--durable")
    url = cluster.url.replace("postgres://postgres@", f"postgres://postgres:{PASSWORD}@")
    database = os.path.join(folder, "database.url")
    with open(database, "w", encoding="ascii") as file:
        file.write(url + "\n")
    try:
        options = ["--database-file", database]
        accepted(binary, "a new database", "ok: No secret is in the database yet", ["--data", os.path.join(folder, "node")] + options)
        processes.create_hub(binary, os.path.join(folder, "own"), "demo")
        node = processes.Server(binary, os.path.join(folder, "node"), os.path.join(folder, "node.log"), *options,
                                environment=environment())
        await node.start()
        keys = await asyncio.to_thread(processes.create_hub, binary, node.data, "demo")
        await node.stop()
        await asyncio.to_thread(judge_refusals, binary, folder, options)
        await judge_outage(binary, folder, cluster, options, keys["DefaultFullSharedAccessSignature"])
    finally:
        cluster.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("martlet")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        checks.finish(judge(os.path.abspath(arguments.martlet), folder))


if __name__ == "__main__":
    main()
