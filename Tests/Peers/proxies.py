"""The published configurations of nginx, HAProxy and Caddy in front of a server: callers are told apart by the addresses that the
proxy names, and nobody can name another address than their own.

    proxies.py MARTLET
"""

import asyncio
import base64
import http.client
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys

import processes
from checks import Checks, eventually

checks = Checks("proxies")

EXAMPLES = os.path.join(processes.HERE, "..", "..", "Examples", "Publishing")
FILES = {"nginx": "nginx.conf", "nginx over a Unix socket": "nginx.conf", "haproxy": "haproxy.cfg",
         "haproxy with the PROXY protocol": "haproxy-tcp.cfg", "caddy": "Caddyfile"}
# Bobs log in from the attacker's address, each at most once for a proxy: who got in is known there.
BOBS = [f"bob{number}" for number in range(5)]
# Carols log in for the first time, each behind one proxy: a password that was checked before is not slowed down.
CAROLS = [f"carol{number}" for number in range(5)]
USERS = {"alice": "wonderland"} | {name: "builder-42" for name in BOBS + CAROLS}
# The proxies' own address and no other of loopback, because the clients' addresses are of loopback too.
PROXY = "127.0.0.1"
# Loopback addresses stand for clients; the attacker fails from one of them.
FAILURES = 60


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Proxy(processes.Program):
    """A proxy with its published configuration, but for addresses and files."""

    def __init__(self, name, directory, upstream):
        """upstream: the server's address as the configuration of the proxy has it."""
        self.name, self.port = name, free_port()
        self._directory = os.path.join(directory, name.replace(" ", "-"))
        os.makedirs(self._directory)
        key, certificate = (os.path.join(self._directory, file) for file in ("key.pem", "certificate.pem"))
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
             "-subj", "/CN=push.example.org", "-keyout", key, "-out", certificate], check=True, capture_output=True)
        text = open(os.path.join(EXAMPLES, FILES[name])).read()
        text = text.replace("127.0.0.1:8080", upstream).replace("127.0.0.1:8443", upstream)
        path = os.path.join(self._directory, "configuration")
        if name.startswith("nginx"):
            text = text.replace("listen 443", f"listen 127.0.0.1:{self.port}")
            text = re.sub(r"ssl_certificate_key .*;", f"ssl_certificate_key {key};", text)
            text = re.sub(r"ssl_certificate /.*;", f"ssl_certificate {certificate};", text)
            text = self._around_nginx(text)
            command = ["nginx", "-e", "stderr", "-p", self._directory, "-c", path]
        elif name == "caddy":
            text = self._around_caddy(text, certificate, key)
            command = ["caddy", "run", "--adapter", "caddyfile", "--config", path]
        else:
            both = os.path.join(self._directory, "both.pem")
            # As many file descriptors as a test may have.
            text = text.replace("maxconn 20000", "maxconn 500")
            open(both, "w").write(open(certificate).read() + open(key).read())
            text = text.replace(":443 ssl crt /etc/haproxy/push.example.org.pem", f":443 ssl crt {both}")
            text = text.replace("bind :443", f"bind 127.0.0.1:{self.port}")
            command = ["haproxy", "-db", "-f", path]
        open(path, "w").write(text)
        super().__init__(command, os.path.join(self._directory, "log"))

    def _around_nginx(self, text):
        paths = "".join(
            f"{kind}_temp_path {self._directory}/{kind};\n"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        # Workers of root would be another user's, who may not use the server's socket.
        user = "user root;\n" if os.geteuid() == 0 else ""
        return user + (
            f"daemon off;\npid {self._directory}/pid;\nevents {{}}\n"
            f"http {{\naccess_log off;\n{paths}{text}\n}}\n")

    def _around_caddy(self, text, certificate, key):
        """A certificate of its own instead of an authority's, and no other port than the test's."""
        text = text.replace(
            "push.example.org {",
            f"https://:{self.port} {{\n\tbind 127.0.0.1\n\ttls {certificate} {key}", 1)
        settings = "\tadmin off\n\tauto_https disable_redirects\n"
        return f"{{\n{settings}\tstorage file_system {self._directory}\n}}\n{text}"

    async def start(self):
        with open(self._log, "ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *self._command, stdout=asyncio.subprocess.PIPE, stderr=log,
                env={**os.environ, "XDG_CONFIG_HOME": self._directory, "XDG_DATA_HOME": self._directory})
        if not await eventually(self._answers):
            raise processes.Failed(f"{self.name} does not answer\n{self.log_tail()}")

    def _answers(self):
        try:
            return request(self, "GET", "/health/ready", "127.0.0.1")[0] == 200
        except OSError:
            return False


def request(proxy, method, path, source, user=None, fields={}, content=None):
    """Status and body of a request from an address of this machine."""
    fields = dict(fields)
    if user:
        fields["Authorization"] = "Basic " + base64.b64encode(":".join(user).encode()).decode()
    context = ssl._create_unverified_context()
    connection = http.client.HTTPSConnection(
        "127.0.0.1", proxy.port, timeout=20, context=context, source_address=(source, 0))
    try:
        connection.request(method, path, content, headers=fields)
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


class OtherServer(processes.Program):
    """A server without a clear-text listener on TCP."""

    def __init__(self, binary, data, log, *options):
        super().__init__([binary, "serve", "--data", data, *options], log)


class Judged:
    def __init__(self, binary, directory):
        self._binary, self._directory = binary, directory
        self.data = os.path.join(directory, "data")
        self.server = processes.Server(
            binary, self.data, os.path.join(directory, "server.log"), "--trusted-proxies", PROXY)

    async def run(self):
        await self.server.start()
        processes.create_hub(self._binary, self.data, "demo")
        # A hub that can send takes secrets, for devices that there are none of.
        processes.martlet(self._binary, "hub", "credential", "set", "demo", "webpush", "--generate", "--subject",
                          "mailto:ops@example.org", "--data", self.data)
        for name, password in USERS.items():
            processes.martlet(self._binary, "user", "add", name, "--data", self.data, "--password-stdin", stdin=password)
        for name in ("nginx", "haproxy", "caddy"):
            if shutil.which(name) or os.path.exists(f"/usr/sbin/{name}"):
                await self._drill(name, f"127.0.0.1:{self.server.port}")
            else:
                print(f"proxies: {name} is not installed and was left out", flush=True)
        self._direct()
        await self.server.stop()
        await self._over_unix_socket()
        await self._proxy_protocol()
        await self._untrusted()

    async def _over_unix_socket(self):
        path = os.path.join(self._directory, "http.sock")
        self.server = OtherServer(
            self._binary, self.data, os.path.join(self._directory, "unix.log"), "--listen", f"unix:{path}",
            "--trusted-proxies", "unix")
        line = await self.server.start()
        checks.that("the ready line names the socket", f"unix:{path}" in line, line)
        checks.equal("the socket is its group's", oct(os.stat(path).st_mode & 0o777), "0o660")
        await self._drill("nginx over a Unix socket", f"unix:{path}")
        await self.server.stop()
        checks.that("the socket is gone after the server", not os.path.exists(path))

    async def _proxy_protocol(self):
        self.server = OtherServer(
            self._binary, self.data, os.path.join(self._directory, "proxy.log"), "--tls-listen", "127.0.0.1:0",
            "--tls-self-signed", "--trusted-proxies", PROXY, "--proxy-protocol", "--access-log", "all")
        line = await self.server.start()
        port = int(re.search(r"https://[^:\s]+:(\d+)", line).group(1))
        await self._drill("haproxy with the PROXY protocol", f"127.0.0.1:{port}")
        statuses = {self._names_itself(port, header) for header in ("PROXY UNKNOWN", "PROXY TCP4 127.0.5.99 127.0.0.1 1 2")}
        checks.equal("a client that names itself by a field is answered as any other", statuses, {401})
        lines = [json.loads(line) for line in open(os.path.join(self._directory, "proxy.log"))]
        clients = {line["client"]: line.get("proxy") for line in lines if line.get("route") == "/api/register"}
        checks.equal("the access log names the client and the proxy", clients.get("127.0.5.77"), "127.0.0.1")
        checks.that(
            "with the PROXY protocol no field names a client",
            "127.0.5.99" in clients and "203.0.113.66" not in clients, sorted(clients))
        with socket.create_connection(("127.0.0.1", port)) as stranger:
            stranger.settimeout(20)
            stranger.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            try:
                answer = stranger.recv(100)
            except ConnectionResetError:
                # What the server has not read makes its end a reset.
                answer = b""
            checks.equal("a connection without a header is closed unanswered", answer, b"")
        await self.server.stop()
        refused = subprocess.run(
            [self._binary, "serve", "--data", self.data, "--proxy-protocol"], capture_output=True, text=True)
        checks.that(
            "the PROXY protocol of anybody is refused", refused.returncode and "--trusted-proxies" in refused.stderr,
            refused.stderr)

    @staticmethod
    def _names_itself(port, header):
        """The status of a request whose client has written the field that a proxy of HTTP would write."""
        context = ssl._create_unverified_context()
        with socket.create_connection(("127.0.0.1", port), 20) as raw:
            raw.sendall(header.encode() + b"\r\n")
            with context.wrap_socket(raw) as connection:
                connection.sendall(
                    b"POST /api/register HTTP/1.1\r\nHost: push.example.org\r\nX-Forwarded-For: 203.0.113.66\r\n"
                    b"Content-Length: 0\r\nConnection: close\r\n\r\n")
                return int(connection.recv(4096).split()[1])

    async def _drill(self, name, upstream):
        os.environ["PATH"] += ":/usr/sbin"
        proxy = Proxy(name, self._directory, upstream)
        await proxy.start()
        # Each proxy has clients of its own, so that the counts of the one before do not matter.
        network = f"127.0.{list(FILES).index(name) + 2}"
        attacker, fresh, victim = (f"{network}.{host}" for host in (66, 77, 88))
        try:
            answers = [
                request(proxy, "POST", "/api/register", attacker, (f"user{number}", "wrong"))[0]
                for number in range(FAILURES)]
            checks.that(f"{name}: whoever fails again and again is slowed down", 429 in answers, answers)
            status, body = request(proxy, "POST", "/api/register", fresh, ("alice", USERS["alice"]))
            checks.equal(f"{name}: a user from another address gets in after {FAILURES} failures", status, 200)
            statuses = [self._tries_after_failures(proxy, attacker, bob) for bob in BOBS]
            checks.that(f"{name}: from the attacker's address nobody new gets in", 429 in statuses, statuses)
            forged = {"X-Forwarded-For": victim}
            for number in range(FAILURES):
                request(proxy, "POST", "/api/register", attacker, (f"other{number}", "wrong"), forged)
            carol = CAROLS[list(FILES).index(name)]
            status, _ = request(proxy, "POST", "/api/register", victim, (carol, USERS[carol]))
            checks.equal(f"{name}: failures under a forged address do not count for that address", status, 200)
            self._audited(name, proxy, fresh, victim)
            status, body = request(proxy, "GET", "/health/ready", fresh)
            checks.equal(f"{name}: other requests go through", status, 200)
        finally:
            await proxy.stop()

    def _audited(self, name, proxy, reader, victim):
        """What the audit says of a fetch through the proxy: the reader's address, whatever the reader claims."""
        alice = ("alice", USERS["alice"])
        status, body = request(
            proxy, "POST", "/api/notifications/secure", reader, alice, {"Content-Type": "application/json"},
            json.dumps({"to": ["alice"], "payload": "The vault opens at noon."}))
        checks.equal(f"{name}: a secret is sent through it", status, 201)
        if status != 201:
            return
        secret = str(json.loads(body)["id"])
        status, _ = request(
            proxy, "GET", f"/api/notifications/{secret}", reader, alice, {"X-Forwarded-For": victim})
        checks.equal(f"{name}: and fetched through it", status, 200)
        printed = processes.martlet(self._binary, "audit", "--payload", secret, "--json", "--data", self.data)
        print(f"proxies: {name}: {printed.strip()}", flush=True)
        checks.equal(f"{name}: the audit has the reader's address", [json.loads(line)["address"] for line in
                                                                     printed.splitlines()], [reader])

    def _tries_after_failures(self, proxy, attacker, user):
        """The status of a right log-in directly after a wrong one was refused unread. On a slow machine an attempt becomes
        free between the two, therefore there are several users."""
        for number in range(FAILURES):
            if request(proxy, "POST", "/api/register", attacker, (f"late{number}", "wrong"))[0] == 429:
                break
        return request(proxy, "POST", "/api/register", attacker, (user, USERS[user]))[0]

    def _direct(self):
        """Without a proxy, in clear text on loopback: this machine is trusted, and says so itself."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=20)
        secret = base64.b64encode(f"alice:{USERS['alice']}".encode()).decode()
        connection.request(
            "POST", "/api/register", headers={"Authorization": f"Basic {secret}", "X-Forwarded-Proto": "http",
                                              "X-Forwarded-For": "203.0.113.9"})
        response = connection.getresponse()
        body = response.read().decode()
        checks.equal("a password that came to the proxy in clear text is refused", response.status, 403)
        checks.that("the refusal says why", "clear text" in body, body)
        connection.close()

    async def _untrusted(self):
        """A server that trusts nobody says that a proxy seems to stand in front, once."""
        log = os.path.join(self._directory, "untrusted.log")
        self.server = processes.Server(self._binary, self.data, log)
        await self.server.start()
        for _ in range(3):
            connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=20)
            connection.request("GET", "/health/ready", headers={"X-Forwarded-For": "203.0.113.9"})
            connection.getresponse().read()
            connection.close()
        notices = [line for line in open(log) if "--trusted-proxies" in line]
        checks.equal("a proxy that is not trusted is named once", len(notices), 1)
        checks.that("the notice names the proxy", notices and "127.0.0.1" in json.loads(notices[0])["message"], notices)
        self._forged_by_a_stranger()
        slowed = [json.loads(line) for line in open(log) if "slowed down" in line]
        checks.equal("the log says once whose log-ins are slowed down", [line["message"] for line in slowed],
                     ["Failed log-ins from 127.0.0.0/24 are slowed down."])
        await self.server.stop()

    def _forged_by_a_stranger(self):
        """A stranger claims another address with every attempt: the attempts count for the stranger's own address."""

        def ask(method, path, user, claimed, content=None):
            connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=20)
            secret = base64.b64encode(":".join(user).encode()).decode()
            try:
                connection.request(method, path, content, {
                    "Authorization": f"Basic {secret}", "X-Forwarded-For": claimed, "Content-Type": "application/json"})
                response = connection.getresponse()
                return response.status, response.read().decode()
            finally:
                connection.close()

        alice = ("alice", USERS["alice"])
        status, body = ask("POST", "/api/notifications/secure", alice, "198.51.100.1",
                           json.dumps({"to": ["alice"], "payload": "The vault opens at noon."}))
        secret = str(json.loads(body)["id"]) if status == 201 else "0"
        checks.equal("a stranger's fetch succeeds", ask("GET", f"/api/notifications/{secret}", alice, "198.51.100.2")[0], 200)
        printed = processes.martlet(self._binary, "audit", "--payload", secret, "--json", "--data", self.data)
        print(f"proxies: a forged field: {printed.strip()}", flush=True)
        checks.equal("the audit has the stranger's address, not the claimed one",
                     [json.loads(line)["address"] for line in printed.splitlines()], ["127.0.0.1"])
        answers = [
            ask("POST", "/api/register", (f"guess{number}", "wrong"), f"198.51.100.{number}")[0]
            for number in range(FAILURES)]
        checks.that("claiming another address with each attempt does not get around the limit", 429 in answers, answers)


checks.finish_on_a_server(Judged)
