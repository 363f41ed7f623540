"""`martlet export` and `martlet import`: a hub with registrations, templates and installations is the same on another server.

Every line that an export writes is compared with the one that the other server exports after an import, but for what a server
gives of its own (ids, etags). Nothing is left in the storage containers of either, whatever the end.

    transfers.py MARTLET [--count N]
"""

import argparse
import asyncio
import json
import os
import re
import subprocess
import tempfile

import hub_client
import mass_jobs
import processes
from checks import Checks

checks = Checks("transfers")
OWN = re.compile(r"<(RegistrationId|ETag|ExpirationTime)>[^<]*</\1>")
TEMPLATE = (
    f'<AppleTemplateRegistrationDescription xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns="{hub_client.SERVICE}">'
    "<Tags>template</Tags><DeviceToken>{token}</DeviceToken><BodyTemplate><![CDATA[{{\"aps\":{{\"alert\":\"$(text)\"}}}}]]>"
    "</BodyTemplate></AppleTemplateRegistrationDescription>\n")
INSTALLATION = {
    "installationId": "phone-1", "platform": "apns", "pushChannel": "ab" * 32, "tags": ["news"],
    "templates": {"greeting": {"body": '{"aps":{"alert":"$(text)"}}', "tags": ["hello"]}},
}


def run(binary, data, *words, stdin=None):
    return subprocess.run([binary, *words, "--data", data], input=stdin, capture_output=True, text=True, timeout=300)


def same(text):
    """The lines of an export without what a server gives of its own."""
    return sorted(OWN.sub("", line) for line in text.splitlines())


def leftovers(binary, data):
    return run(binary, data, "container", "list").stdout


async def installation(server, hub, key, method, body=None):
    connection = hub_client.Connection(server.port, timeout=60)
    token = hub_client.signature(
        hub_client.namespace_resource(server.port), "DefaultFullSharedAccessSignature", key)
    answer = await connection.request(
        method, f"/{hub}/installations/{INSTALLATION['installationId']}?{hub_client.API_VERSION}",
        {"Authorization": token, "Content-Type": "application/json"}, json.dumps(body).encode() if body else b"")
    connection.close()
    return answer


async def judge(binary, count, folder):
    first, second = os.path.join(folder, "first"), os.path.join(folder, "second")
    lines, failed = os.path.join(folder, "lines.txt"), os.path.join(folder, "failed.txt")
    await asyncio.to_thread(mass_jobs.write_lines, lines, count)
    with open(lines, "a", encoding="ascii") as file:
        file.write(TEMPLATE.format(token="cd" * 32))
        file.write("nonsense\n")
    keys = [
        processes.create_hub(binary, data, "demo")["DefaultFullSharedAccessSignature"] for data in (first, second)]
    servers = [processes.Server(binary, data, f"{data}.log") for data in (first, second)]
    try:
        for server in servers:
            await server.start()
        answer = run(binary, first, "import", "demo", lines, "--failed", failed, "--json")
        checks.equal(
            "an import counts what it took and refused", json.loads(answer.stdout),
            {"status": "Completed", "imported": count + 1, "failed": 1})
        checks.equal("a refused line is no success", answer.returncode, 1)
        with open(failed, encoding="utf-8") as file:
            checks.that("it is named with its number", file.read().startswith(f"{count + 2}\t"))
        checks.equal("the file of refused lines is private", os.stat(failed).st_mode & 0o777, 0o600)
        status, _, body = await installation(servers[0], "demo", keys[0], "PUT", INSTALLATION)
        checks.that("an installation is made", status in (200, 201), body)

        whole = run(binary, first, "export", "demo", "-")
        checks.equal("an export succeeds", whole.returncode, 0)
        checks.equal("it has every row", len(whole.stdout.splitlines()), count + 3)
        answer = run(binary, second, "import", "demo", "-", stdin=whole.stdout)
        checks.equal("standard input is imported", (answer.returncode, answer.stderr.count("Imported")), (0, 1))
        again = os.path.join(folder, "again.txt")
        checks.equal("an export to a file succeeds", run(binary, second, "export", "demo", again).returncode, 0)
        checks.equal("the file is private", os.stat(again).st_mode & 0o777, 0o600)
        with open(again, encoding="utf-8") as file:
            checks.that("both hubs are the same, line by line", same(file.read()) == same(whole.stdout))
        status, _, body = await installation(servers[1], "demo", keys[1], "GET")
        moved = json.loads(body) if status == 200 else {}
        checks.equal("the installation is one again", moved.get("pushChannel", "").lower(), INSTALLATION["pushChannel"])
        checks.equal("with its template", list(moved.get("templates", {})), ["greeting"])

        answer = run(binary, second, "import", "demo", again)
        checks.equal("a second import succeeds", answer.returncode, 0)
        checks.equal("and adds nobody", same(run(binary, second, "export", "demo", "-").stdout), same(whole.stdout))
        answer = run(binary, second, "import", "demo", again, "--create-only")
        rows = run(binary, second, "export", "demo", "-").stdout.splitlines()
        checks.equal("--create-only makes new registrations, and one installation stays one",
                     (answer.returncode, len(rows)), (0, 2 * (count + 1) + 2))
        for name, words in {"import": ["import", "nope", lines], "export": ["export", "nope", "-"]}.items():
            answer = run(binary, second, *words)
            checks.equal(
                f"an {name} of an unknown hub", (answer.returncode, answer.stdout, answer.stderr),
                (1, "", "martlet: There is no hub named 'nope'.\n"))
        for data in (first, second):
            checks.equal("no container is left", leftovers(binary, data), "")
    finally:
        for server in servers:
            await server.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("martlet")
    parser.add_argument("--count", type=int, default=2000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        checks.finish(judge(options.martlet, options.count, folder))


if __name__ == "__main__":
    main()
