"""`martlet simulate` as a process of its own: its control interface, its ledger, and what is sent to its services."""

import http.client
import json
import os
import re
import socket
import ssl
import urllib.parse

import httpx

import processes
from growing_file import GrowingFile

TOAST = '<toast><visual><binding template="ToastText01"><text id="1">{}</text></binding></visual></toast>'
PHONE_TOAST = ('<wp:Notification xmlns:wp="WPNotification"><wp:Toast><wp:Text1>{}</wp:Text1></wp:Toast>'
               "</wp:Notification>")

# By service: the format that a send names, its content type, and the body that carries a word.
FORMS = {
    "apns": ("apple", "application/json", '{{"aps":{{"alert":"{}"}}}}'),
    "fcmv1": ("fcmV1", "application/json", '{{"message":{{"data":{{"m":"{}"}}}}}}'),
    "wns": ("windows", "application/xml", TOAST),
    "mpns": ("windowsphone", "application/xml", PHONE_TOAST),
    "adm": ("adm", "application/json", '{{"data":{{"m":"{}"}}}}'),
    "browser": ("browser", "application/json", '{{"data":{{"m":"{}"}}}}'),
}

# A word that a message carries, as its payload shows it wherever a service puts it.
_WORD = re.compile(r"key:[0-9A-Za-z-]+")


def word(key):
    return f"key:{key}"


def body(service, key):
    return FORMS[service][2].format(word(key)).encode()


class Simulator(processes.Program):
    def __init__(self, binary, directory, *options, environment=None):
        os.makedirs(directory, exist_ok=True)
        self.ledger = os.path.join(directory, "simulator.jsonl")
        self._authority = os.path.join(directory, "simulator-ca.pem")
        command = [
            binary, "simulate", "--listen", "127.0.0.1:0", "--ledger", self.ledger, "--ca-file", self._authority, *options]
        super().__init__(command, os.path.join(directory, "simulator.log"), environment)
        self._binary = binary
        open(self.ledger, "a").close()

    async def start(self):
        line = await super().start()
        self.origin = re.search(r" simulator=(\S+)", line)[1]
        trust = ssl.create_default_context(cafile=self._authority) if self.origin.startswith("https") else True
        self._client = httpx.Client(base_url=self.origin, verify=trust, timeout=60)
        self.services = sorted(set(self.call("GET", "services")) & set(FORMS))
        return line

    def call(self, method, path, body=None):
        answer = self._client.request(method, f"/simulator/{path}", json=body)
        if answer.is_error:
            raise processes.Failed(answer.text)
        return answer.json() if answer.content else None

    def set_credentials(self, data, hub, services=None):
        """Gives a hub what it needs to send here."""
        for service in services or self.services:
            processes.martlet(
                self._binary, "hub", "credential", "set", hub, service, "--simulator", self.origin,
                "--simulator-ca-file", self._authority, "--data", data)

    def device(self, service):
        return self.call("POST", "devices", {"platform": service})["handle"]

    def devices(self, services):
        """A device of each of these: a hundred requests at a time on one connection, because there may be many."""
        address = urllib.parse.urlsplit(self.origin)
        handles = []
        with socket.create_connection((address.hostname, address.port), timeout=60) as plain:
            if address.scheme == "https":
                context = ssl.create_default_context(cafile=self._authority)
                plain = context.wrap_socket(plain, server_hostname=address.hostname)
            with plain, plain.makefile("rb") as answers:
                for start in range(0, len(services), 100):
                    bodies = [json.dumps({"platform": service}).encode() for service in services[start:start + 100]]
                    plain.sendall(b"".join(
                        b"POST /simulator/devices HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n%s"
                        % (address.netloc.encode(), len(body), body) for body in bodies))
                    for _ in bodies:
                        status = answers.readline()
                        fields = http.client.parse_headers(answers)
                        text = answers.read(int(fields["Content-Length"]))
                        if b" 201 " not in status:
                            raise processes.Failed(text.decode(errors="replace"))
                        handles.append(json.loads(text)["handle"])
        return handles

    def script(self, faults, seed):
        self.call("PUT", "faults", {"seed": seed, "faults": faults})


def installation(name, service, handle, tags, templates=None):
    """The body that registers a device of the simulator. A browser's handle is an object, which it writes as a text."""
    channel = json.loads(handle) if service == "browser" else handle
    described = {"installationId": name, "platform": service, "pushChannel": channel, "tags": tags}
    return json.dumps(described | ({"templates": templates} if templates else {})).encode()


class Arrivals:
    """The simulator's ledger, read as it grows: each line with the key of its message."""

    def __init__(self, path):
        self._file = GrowingFile(path)

    def read(self):
        for line in map(json.loads, self._file.lines()):
            found = _WORD.search(json.dumps(line["payload"]))
            yield line | {"key": found[0].removeprefix("key:") if found else None}
