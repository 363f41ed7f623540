"""The official SDKs replayed against a real `martlet serve`: their requests byte for byte, their readers' strictness.

Java over HTTP/2, JavaScript, .NET, the phones' SDKs and the REST samples over HTTP/1.1, all over TLS with the
private authority. What they send to Apple devices must arrive at the strict APNs peer.

    sdk_wire.py MARTLET [SDK...]
"""

import asyncio
import os
import sys
import tempfile
import traceback

import hub_client
import processes
from sdk import transport
from sdk.course import Place, checks
from sdk.dotnet import DotNetCourse
from sdk.java import JavaCourse
from sdk.javascript import JavaScriptCourse
from sdk.phones import AndroidCourse, IOSCourse
from sdk.samples import SamplesCourse

COURSES = {
    "java": JavaCourse, "javascript": JavaScriptCourse, "dotnet": DotNetCourse, "ios": IOSCourse,
    "android": AndroidCourse, "samples": SamplesCourse,
}

# The operations for which NotificationHubs.md, section 15, has an entry, by SDK.
_REGISTERING = {
    "POST registrationids", "GET registrations", "PUT registrations/{id}", "DELETE registrations/{id}",
    "PUT installations/{id}",
}
_HUB = _REGISTERING | {
    "POST registrations", "GET registrations/{id}", "GET tags/{tag}/registrations", "GET installations/{id}",
    "PATCH installations/{id}", "DELETE installations/{id}", "POST messages", "POST messages/$batch",
    "GET messages/{id}", "POST schedulednotifications", "DELETE schedulednotifications/{id}", "POST jobs", "GET jobs",
    "GET jobs/{id}",
}
_MANAGEMENT = {"PUT /{hub}", "GET /{hub}", "DELETE /{hub}"}
OPERATIONS = {
    "java": _HUB | _MANAGEMENT | {"GET /$Resources"}, "javascript": _HUB | {"GET feedbackcontainer"},
    "dotnet": _HUB | _MANAGEMENT | {"GET /", "GET feedbackcontainer"}, "ios": _REGISTERING, "android": _REGISTERING,
    "samples": {"POST registrations", "POST messages", "POST messages/$batch", "POST schedulednotifications"},
}


async def course(binary, directory, chosen):
    data = os.path.join(directory, "data")
    os.mkdir(data, 0o700)
    peer = processes.APNsPeer(os.path.join(directory, "apns"))
    server = processes.Server(
        binary, data, os.path.join(directory, "server.log"), "--tls-listen", "127.0.0.1:0", "--tls-self-signed")
    await peer.start()
    try:
        await server.start()
        rules = {hub: processes.create_hub(binary, data, hub) for hub in chosen}
        for hub in chosen:
            credential = ["hub", "credential", "set", hub, "apns", *peer.credential_arguments(), "--data", data]
            processes.martlet(binary, *credential)
        make = [binary, "container", "create"]
        containers = {hub: processes.martlet(*make, hub, "--data", data).strip() for hub in chosen}
        printed = processes.martlet(binary, "namespace", "connection-string", "--data", data)
        namespace = hub_client.parse_connection_string(printed)
        authority = os.path.join(data, "tls", "ca.pem")
        place = Place(server.ports["https"], authority, rules, containers, namespace, peer.ledger)
        for hub in chosen:
            await asyncio.to_thread(follow, COURSES[hub], place, hub)
    finally:
        if server.process:
            code, _ = await server.stop()
            checks.equal("SIGTERM ends the server with 0", code, 0)
        code, counts = await peer.stop()
        checks.equal("the APNs peer has nothing to complain of", code, 0)
        print(counts.strip())


def follow(kind, place, hub):
    """A course that breaks off does not keep the others from theirs."""
    before = checks.passed
    transport.called.clear()
    try:
        kind(place, hub).run()
        checks.equal(f"no operation is left out by {hub}", OPERATIONS[hub] - transport.called, set())
        print(f"sdk-wire: {hub}: {checks.passed - before} checks passed", flush=True)
        print(f"sdk-wire: {hub}: {', '.join(sorted(OPERATIONS[hub], key=lambda one: one.split()[::-1]))}", flush=True)
    except Exception:
        checks.that(f"the course of {hub} comes to its end", False)
        traceback.print_exc()


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as directory:
        checks.finish(course(os.path.abspath(sys.argv[1]), os.path.realpath(directory), sys.argv[2:] or list(COURSES)))


if __name__ == "__main__":
    main()
