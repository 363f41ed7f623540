"""PyPI's schemathesis against a real `martlet serve`: each API is asked for its own OpenAPI description, and everything
that can be made from that is sent and must be answered as it says.

    schemathesis_judge.py MARTLET [--show]

Requests are the same in every run but for dates and keys. `--show` prints all that schemathesis says.
"""

import base64
import copy
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

import hub_client
import processes
from checks import Checks

checks = Checks("schemathesis")
TOKEN = "AABBCCDDEEFF00112233445566778899AABBCCDDEEFF00112233445566778899"
INSTALLATION = {"platform": "apns", "pushChannel": TOKEN, "tags": ["news"]}
LATER = time.strftime("%Y-%m-%dT00:00:00", time.gmtime(time.time() + 30 * 24 * 3600))
# A body of every format: of a push, the properties of templates, and a message for all platforms.
PAYLOAD = {"text": "hi"}
ENTRY = hub_client.registration_entry(TOKEN, ["news"]).decode()
# The checks that are on make a description true. The others ask that all be refused that a description does not allow,
# and all be taken that it does; it says less of texts than the server knows.
CONFIGURATION = """
hooks = "schemathesis_hooks"
workers = 1
[checks]
not_a_server_error.enabled = true
status_code_conformance.enabled = true
content_type_conformance.enabled = true
response_headers_conformance.enabled = true
response_schema_conformance.enabled = true
unsupported_method.enabled = true
ignored_auth.enabled = true
negative_data_rejection.enabled = false
positive_data_acceptance.enabled = false
missing_required_header.enabled = false
use_after_free.enabled = false
ensure_resource_availability.enabled = false
[generation]
max-examples = 10
deterministic = true
database = "none"
[phases.coverage]
unexpected-methods = ["GET", "PUT", "POST", "DELETE", "OPTIONS", "PATCH", "TRACE"]
[phases.stateful]
enabled = false
"""


def content(type_, element):
    return (
        f'<entry xmlns="{hub_client.ATOM}"><content type="application/xml"><{type_} xmlns="{hub_client.SERVICE}">'
        f"{element}</{type_}></content></entry>"
    )


def batch():
    parts = [
        ("notification", "application/json", '{"aps":{"alert":"hi"}}'),
        ("devices", "application/json", json.dumps([TOKEN])),
    ]
    lines = [
        f"--b\r\nContent-Type: {type_}\r\nContent-Disposition: inline; name={name}\r\n\r\n{text}\r\n"
        for name, type_, text in parts
    ]
    return "".join(lines) + "--b--\r\n"


# A push service must have refused something before there is one.
NEEDS_REFUSALS = {f"{method} /{{hub}}/feedback/{{file}}" for method in ("GET", "HEAD")} | {
    "POST /{hub}/messages/{id}/deadletters/resend"}
FEEDBACK = "GET /{hub}/feedbackcontainer"


class Description:
    """A description as the server gave it, with values that exist in place of any, so that more than errors is seen."""

    def __init__(self, address, path):
        with urllib.request.urlopen(address + path, timeout=30) as answer:
            self.document = json.load(answer)
        checks.equal(f"{path} is OpenAPI 3.1", self.document["openapi"], "3.1.0")

    def operations(self):
        for path, methods in self.document["paths"].items():
            for method, operation in methods.items():
                yield f"{method.upper()} {path}", operation

    def fix(self, name, *values, only=None):
        """Lets a parameter have these values alone, everywhere or in the operations of `only`."""
        for known, operation in self.operations():
            for parameter in operation["parameters"]:
                if parameter["name"] == name and (only is None or known in only):
                    parameter["schema"] = {"enum": list(values)}
                    parameter["example"] = values[0]

    def example(self, name, body):
        """Gives an operation's body, in every form that it may have, an example."""
        [operation] = [operation for known, operation in self.operations() if known == name]
        for form in operation["requestBody"]["content"].values():
            form["example"] = body

    def sign(self, scheme, url, only):
        """Lets operations take the signature of a URL, under a security scheme of this name; the scheme's secret."""
        signed = {name: value for name, [value] in urllib.parse.parse_qs(urllib.parse.urlsplit(url).query).items()}
        for name in ("sv", "se", "sr", "sp"):
            self.fix(name, signed[name], only=only)
        self.document["components"]["securitySchemes"][scheme] = {"type": "apiKey", "in": "query", "name": "sig"}
        for known, operation in self.operations():
            if known in only:
                operation["security"] = [{scheme: []}]
        return {scheme: {"api_key": signed["sig"]}}

    def judge(self, directory, address, secrets):
        """Runs schemathesis; what it says is shown where it is not content."""
        name = self.document["info"]["title"]
        content, said, answers = self._run(directory, address, secrets)
        cases = re.search(r"(\d+) generated", said)
        print(f"schemathesis: {name}: {cases.group(1) if cases else 'no'} cases")
        checks.that(f"schemathesis is content with {name}", content)
        if not content or "--show" in sys.argv:
            print(said)
        succeeded = {operation for status, operation in answers if status.startswith("2")}
        never = {operation for operation, _ in self.operations()} - succeeded - NEEDS_REFUSALS
        checks.equal(f"every operation of {name} succeeded at least once", sorted(never), [])

    def must_be_found(self, directory, address, secrets, faults):
        """That schemathesis names each fault in the description that is made into this one."""
        spoilt = copy.deepcopy(self)
        paths = spoilt.document["paths"]
        spoilt.document["paths"] = {path: {method: paths[path][method]} for path, method, _, _ in faults}
        for path, method, spoil, _ in faults:
            spoil(paths[path][method]["responses"])
        content, said, _ = spoilt._run(directory, address, secrets)
        found = [name for *_, name in faults if not content and name in said]
        checks.equal("faults in a description are found", found, [name for *_, name in faults])

    def _run(self, directory, address, secrets):
        """Whether schemathesis is content, what it says, and pairs of a status and the operation that answered it."""
        file, configuration, answers = (
            os.path.join(directory, name) for name in ("description.json", "schemathesis.toml", "answers"))
        with open(file, "w", encoding="utf-8") as out:
            json.dump(self.document, out)
        with open(configuration, "w", encoding="utf-8") as out:
            out.write(CONFIGURATION + "[auth.openapi]\n")
            for scheme, secret in secrets.items():
                values = ", ".join(f"{key} = {json.dumps(value)}" for key, value in secret.items())
                out.write(f"{scheme} = {{ {values} }}\n")
        command = [
            os.path.join(os.path.dirname(sys.executable), "schemathesis"), "--config-file", configuration, "run", file,
            "--url", address, "--request-timeout", "30", "--suppress-health-check", "all", "--warnings", "off",
            "--continue-on-failure",
        ]
        environment = os.environ | {"PYTHONPATH": processes.HERE, "JUDGE_ANSWERS": answers}
        open(answers, "w").close()
        done = subprocess.run(
            command, cwd=directory, env=environment, capture_output=True, text=True, timeout=240)
        with open(answers, encoding="utf-8") as lines:
            return done.returncode == 0, done.stdout + done.stderr, [line.strip().split(" ", 1) for line in lines]


def ask(method, url, body, headers):
    request = urllib.request.Request(url, body, headers, method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.headers, answer.read()


def make(url, body, headers):
    """The last segment of the address of what a POST made."""
    fields, _ = ask("POST", url, body, headers)
    return fields["Location"].partition("?")[0].rpartition("/")[2]


def hub(address, port, rule, container):
    token = hub_client.signature(hub_client.namespace_resource(port), *rule)
    path, _, query = container.partition("?")
    storage = address + path[path.index("/$containers"):]
    for blob in ("output.txt", "spare.txt"):
        ask("PUT", f"{storage}/{blob}?{query}", b"text", {"x-ms-blob-type": "BlockBlob"})
    send = {"Authorization": token, "ServiceBusNotification-Format": "apple"}
    sent = make(f"{address}/demo/messages", b'{"aps":{}}', send)
    later = make(
        f"{address}/demo/schedulednotifications", b'{"aps":{}}',
        send | {"ServiceBusNotification-ScheduleTime": LATER})
    replaced, held, spared = (
        make(
            f"{address}/demo/schedulednotifications", b'{"aps":{}}',
            send | {"ServiceBusNotification-ScheduleTime": LATER})
        for _ in range(3))
    for number in range(2):
        body = INSTALLATION | {"installationId": f"canary-{number}", "pushChannel": f"{number:064x}"}
        ask("PUT", f"{address}/demo/installations/canary-{number}", json.dumps(body).encode(),
            {"Authorization": token, "Content-Type": "application/json"})
    canary = make(
        f"{address}/demo/messages", json.dumps(PAYLOAD).encode(),
        send | {"ServiceBusNotification-Format": "message", "Martlet-Rollout": "first=1"})
    status = {}
    while status.get("control") != "holding":
        time.sleep(0.05)
        status = json.loads(ask("GET", f"{address}/demo/messages/{canary}/status", None, {"Authorization": token})[1])
    export = content(
        "NotificationHubJob",
        "<Type>ExportRegistrations</Type>"
        f"<OutputContainerUri>{container.replace('&', '&amp;')}</OutputContainerUri>",
    )
    job = make(f"{address}/demo/jobs", export.encode(), {"Authorization": token})
    _, url = ask("GET", f"{address}/demo/feedbackcontainer", None, {"Authorization": token})
    feedback = url.decode()

    described = Description(address, "/$openapi.json")
    described.fix("api-version", "2020-06")
    described.fix("hub", "demo")
    # What is made and removed is not what all else is tried on.
    described.fix("hub", "spare", only=["PUT /{hub}", "DELETE /{hub}"])
    described.fix("tag", "news")
    described.fix("id", "1-1-1", "device", "odd id")
    described.fix("id", sent, "odd id", only=["GET /{hub}/messages/{id}", "GET /{hub}/messages/{id}/devices/{device}",
        "GET /{hub}/messages/{id}/deadletters", "POST /{hub}/messages/{id}/deadletters/resend",
        "GET /{hub}/messages/{id}/funnel"])
    described.fix("continuation", "1.1.0", "odd")
    described.fix("outcome", "BadChannel", "odd outcome")
    described.fix("id", sent, held, canary, "odd id", only=["GET /{hub}/messages/{id}/status"])
    described.fix(
        "id", held, sent, "odd id",
        only=["POST /{hub}/messages/{id}/pause", "POST /{hub}/messages/{id}/resume"])
    described.fix("id", spared, sent, "odd id", only=["POST /{hub}/messages/{id}/cancel"])
    described.fix("Martlet-Rollout", "rate=5; halt=5%/200", "over=PT1H", "first=1; wait=PT1H; halt=2%", "odd pace")
    described.fix("device", "1-1-1", "device", "odd device")
    described.fix("id", later, "odd id", only=["DELETE /{hub}/schedulednotifications/{id}"])
    described.fix("id", replaced, "odd id", only=["PUT /{hub}/schedulednotifications/{id}"])
    described.fix("id", job, "odd id", only=["GET /{hub}/jobs/{id}"])
    described.fix("tags", "news", "odd &&", only=["GET /{hub}/audience"])
    described.fix("format", "apple", "template", "odd", only=["GET /{hub}/audience"])
    described.fix("dryRun", "false", "true")
    described.fix("file", f"{sent}.txt", "odd")
    described.fix("$filter", f"DeviceToken eq '{TOKEN}'", "odd filter")
    described.fix("continuationtoken", "odd")
    described.fix("ServiceBusNotification-Format", "apple", "template", "message", "odd")
    described.fix("ServiceBusNotification-ScheduleTime", LATER, "odd time")
    described.fix("Martlet-Expires", "PT1H", "odd time")
    described.fix("container", "jobs", "odd_name")
    described.fix("blob", "output.txt")
    described.fix("blob", "spare.txt", only=["DELETE /$containers/{container}/{blob}"])
    described.fix("x-ms-blob-type", "BlockBlob")
    blobs = [known for known, _ in described.operations() if "/$containers/" in known]
    files = [known for known, _ in described.operations() if "/{hub}/feedback" in known and known != FEEDBACK]
    described.example("POST /{hub}/registrations", ENTRY)
    described.example("PUT /{hub}/registrations/{id}", ENTRY)
    described.example("PUT /{hub}/installations/{id}", INSTALLATION)
    described.example("PATCH /{hub}/installations/{id}", [{"op": "add", "path": "/tags/more", "value": "more"}])
    described.example("POST /{hub}/messages", PAYLOAD)
    described.example("POST /{hub}/schedulednotifications", PAYLOAD)
    described.example("PUT /{hub}/schedulednotifications/{id}", PAYLOAD)
    described.example("POST /{hub}/messages/$batch", batch())
    described.example("PUT /$containers/{container}/{blob}", "text")
    described.example("PUT /{hub}", content("NotificationHubDescription", ""))
    described.example("POST /{hub}/jobs", export)
    secrets = {"SharedAccessSignature": {"api_key": token}}
    secrets |= described.sign("Container", container, blobs) | described.sign("Feedback", feedback, files)
    return described, secrets


def encoded(bytes_):
    return base64.urlsafe_b64encode(bytes_).decode().rstrip("=")


def public_key():
    return ec.generate_private_key(ec.SECP256R1()).public_key().public_bytes(
        serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def backend(address):
    described = Description(address, "/api/openapi.json")
    login = {"Authorization": "Basic " + base64.b64encode(b"alice:wonderland").decode()}
    json_type = login | {"Content-Type": "application/json"}
    key, secret = public_key(), os.urandom(16)
    device = {
        "Platform": "apns", "Handle": "CC" * 32, "PublicKey": encoded(key), "AuthSecret": encoded(secret)}
    ask("PUT", f"{address}/api/register/2-2-2", json.dumps(device).encode(), json_type)
    stored = make(f"{address}/api/notifications/secure", b'{"payload":"secret"}', json_type)
    record = os.urandom(16) + bytes([0, 0, 16, 0, 65]) + public_key() + os.urandom(40)
    described.fix("name", "alice", "nobody", "odd name")
    described.example("POST /api/notifications/encrypted", {"to": "alice", "ciphertexts": [{
        "device": "2-2-2", "fingerprint": encoded(hashlib.sha256(key + secret).digest()),
        "ciphertext": base64.b64encode(record).decode()}]})
    described.example("POST /api/receipts", {"device": "2-2-2", "receipts": [
        {"notification": stored, "event": "opened", "at": "2026-01-31T12:00:00Z"}]})
    described.example("POST /api/notifications/rich", {"payload": "aGVsbG8=", "file": "hello", "to": "alice"})
    described.fix("pns", "apns", "odd")
    described.fix("to_tag", "alice")
    described.fix("id", "1-1-1")
    stays = [known for known, _ in described.operations() if "/api/notifications/{id}" in known]
    described.fix("id", int(stored), 1, only=stays)
    described.example("POST /api/sessions", {"user": "alice", "password": "wonderland"})
    described.example("PUT /api/register/{id}", {"Platform": "apns", "Handle": TOKEN, "Tags": ["news"]})
    # Log-ins that fail are counted, and are refused in another way when they are many.
    for known, operation in described.operations():
        if operation["security"] and "/api/register" not in known:
            operation["security"] = [{"Session": []}]
        # The session that is ended is not the one that all else is asked with.
        if known == "DELETE /api/sessions":
            operation["security"] = [{"Spare": []}]
    schemes = described.document["components"]["securitySchemes"]
    schemes["Spare"] = schemes["Session"]
    alice = {"user": "alice", "password": "wonderland"}
    sessions = {}
    for name in ("Session", "Spare"):
        _, answer = ask("POST", f"{address}/api/sessions", json.dumps(alice).encode(), json_type)
        sessions[name] = {"bearer": json.loads(answer)["token"]}
    return described, sessions | {"Basic": {"username": "alice", "password": "wonderland"}}


def another_status(responses):
    responses["202"] = responses.pop("200")


def another_form(responses):
    responses["200"]["content"] = {"application/json": {}}


def another_schema(responses):
    responses["200"]["content"]["application/json"]["schema"] = {"type": "array"}


def another_header(responses):
    responses["200"]["headers"] = {"X-Nowhere": {"required": True, "schema": {"type": "string"}}}


# The judge is one only if it finds what is wrong, and says what. Methods that are left out are tried as well: none of
# these paths has one that would harm what comes later.
FAULTS = [
    ("/{hub}/registrations", "get", another_status, "Undocumented status code"),
    ("/{hub}/messages/{id}", "get", another_form, "Undocumented Content-Type"),
    ("/$openapi.json", "get", another_schema, "Response violates schema"),
    ("/{hub}/tags/{tag}/registrations", "get", another_header, "Missing required response headers"),
]


async def course(binary):
    with tempfile.TemporaryDirectory() as directory:
        data = os.path.join(directory, "data")
        server = processes.Server(binary, data, os.path.join(directory, "log"), "--backend-hub", "demo")
        await server.start()
        try:
            processes.create_hub(binary, data, "demo")
            processes.martlet(binary, "user", "add", "alice", "--password-stdin", "--data", data, stdin="wonderland\n")
            container = processes.martlet(binary, "container", "create", "jobs", "--data", data).strip()
            namespace = processes.martlet(binary, "namespace", "connection-string", "--data", data)
            rule = hub_client.parse_connection_string(namespace)
            address = f"http://127.0.0.1:{server.port}"
            described, secrets = hub(address, server.port, rule, container)
            described.judge(directory, address, secrets)
            described.must_be_found(directory, address, secrets, FAULTS)
            # Who sends what stays here must have somebody to tell of it.
            processes.martlet(
                binary, "hub", "credential", "set", "demo", "webpush", "--generate", "--subject",
                "mailto:hub@example.com", "--data", data)
            described, secrets = backend(address)
            described.judge(directory, address, secrets)
        finally:
            code, _ = await server.stop()
            checks.equal("SIGTERM ends the server with 0", code, 0)


def main():
    checks.finish(course(os.path.abspath(sys.argv[1])))


if __name__ == "__main__":
    main()
