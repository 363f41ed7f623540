"""The console's API over real HTTP: invitation, sessions, roles, the stream of events, restarts, and attacks.

    console_api.py MARTLET
"""

import asyncio
import http.client
import json
import os
import re
import socket
import time

import processes
from checks import Checks

checks = Checks("console-api")

PASSWORD = "correct horse"
MARKUP = "<img src=x onerror=alert(1)>\u202e"


class Page:
    """What a page of the console at one address sends."""

    def __init__(self, port, host="127.0.0.1"):
        self.port, self.host, self.cookie = port, host, None

    def ask(self, method, path, body=None, **changes):
        """Status, header fields and body of an answer; a header that is changed to None is left out."""
        headers = {"Host": f"{self.host}:{self.port}", "Sec-Fetch-Site": "same-origin"}
        if method != "GET":
            headers |= {
                "Origin": f"http://{self.host}:{self.port}", "Martlet-Console": "1", "Content-Type": "application/json"}
        if self.cookie:
            headers["Cookie"] = self.cookie
        headers |= {name.replace("_", "-"): value for name, value in changes.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request(
            method, path, None if body is None else json.dumps(body),
            {name: value for name, value in headers.items() if value is not None})
        response = connection.getresponse()
        data = response.read()
        connection.close()
        return response.status, dict((name.lower(), value) for name, value in response.getheaders()), data

    def api(self, method, path, body=None, **changes):
        status, _, data = self.ask(method, "/console/api" + path, body, **changes)
        try:
            return status, json.loads(data) if data else None
        except ValueError:
            return status, data

    def enter(self, path, body):
        status, headers, data = self.ask("POST", "/console/api" + path, body)
        if status == 200:
            self.cookie = headers["set-cookie"].split(";")[0]
        return status, json.loads(data)


class Stream:
    """An open stream of events."""

    def __init__(self, page, topics="now"):
        self.socket = socket.create_connection(("127.0.0.1", page.port), timeout=20)
        self.socket.sendall(
            f"GET /console/api/events?topics={topics} HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\n"
            f"Cookie: {page.cookie}\r\n\r\n".encode())
        self.text = ""

    def wait(self, pattern):
        while not re.search(pattern, self.text):
            data = self.socket.recv(65536)
            if not data:
                break
            self.text += data.decode()
        return re.search(pattern, self.text) is not None

    def status(self):
        self.wait(r"\r\n\r\n")
        return int(self.text.split(" ")[1])

    def close(self):
        self.socket.close()


class Judged:
    def __init__(self, binary, directory):
        self.binary, self.data = binary, os.path.join(directory, "data")
        self.server = processes.Server(
            binary, self.data, os.path.join(directory, "log"), "--simulator", "--simulator-listen", "127.0.0.1:0")

    def martlet(self, *words):
        return processes.martlet(self.binary, *words, "--data", self.data).strip()

    def invite(self, name, role):
        return self.martlet("operator", "invite", name, "--role", role).split("#")[1]

    async def run(self):
        line = await self.server.start()
        self.page = Page(self.server.port)
        checks.that("the ready line has the console's address", f" console=http://127.0.0.1:{self.server.port}/console/" in line)
        checks.equal("without an operator there is no console", self.page.ask("GET", "/console/")[0], 404)
        self.martlet("hub", "create", "shop")
        self.martlet("hub", "create", "other")
        self.signing_in()
        self.sending()
        self.backups()
        self.attacks()
        await self.streams()
        await self.restart()
        code, _ = await self.server.stop()
        checks.equal("the server ends in peace", code, 0)

    def signing_in(self):
        page, token = self.page, self.invite("ops", "admin")
        checks.equal("a link is read without being used up", page.api("POST", "/link", {"token": token})[1]["name"], "ops")
        checks.equal("a short password is refused", page.enter("/link/use", {"token": token, "password": "short"})[0], 400)
        checks.equal("the link signs in", page.enter("/link/use", {"token": token, "password": PASSWORD})[0], 200)
        checks.equal("it does so once", Page(page.port).enter("/link/use", {"token": token, "password": PASSWORD})[0], 404)
        other = Page(page.port)
        checks.equal("the password signs in too", other.enter("/sign-in", {"name": "OPS", "password": PASSWORD})[0], 200)
        checks.that("each time with another session", other.cookie != page.cookie)
        link = self.martlet("console").split("#")[1]
        checks.equal("so does a link of the machine", Page(page.port).enter("/link/use", {"token": link})[0], 200)
        statuses = [Page(page.port).enter("/sign-in", {"name": "ops", "password": str(n)})[0] for n in range(22)]
        checks.that("failed sign-ins are slowed down", statuses[0] == 401 and statuses[-1] == 429, statuses)

    def sending(self):
        page = self.page
        _, device = page.api("POST", "/simulator/devices", {"platform": "apns"})
        status, _ = page.api("PUT", "/rest/shop/installations/phone1?api-version=2020-06", {
            "installationId": "phone1", "platform": "apns", "pushChannel": device["handle"],
            "tags": ["news", "username:alice"]})
        checks.equal("a made-up phone is registered", status, 200)
        send = "/rest/shop/messages?api-version=2020-06"
        fields = {"ServiceBusNotification_Format": "message"}
        message = {"title": MARKUP, "text": "Every bike"}
        checks.equal("a send to everybody must be meant", page.api("POST", send, message, **fields)[0], 400)
        status, headers, _ = page.ask(
            "POST", "/console/api" + send, message, ServiceBusNotification_Tags="news", **fields)
        checks.equal("a send is accepted", status, 201)
        identifier = re.search(r"/messages/([^?]+)", headers["location"]).group(1)
        deadline = time.monotonic() + 20
        while page.api("GET", f"/hubs/shop/messages/{identifier}/status")[1]["state"] != "Completed":
            if time.monotonic() > deadline:
                break
        row = page.api("GET", "/hubs/shop/sends")[1]["sends"][0]
        checks.equal("the list has it, with its markup as data", (row["id"], row["text"], row["succeeded"]), (identifier, MARKUP, 1))
        found = page.api("POST", "/hubs/shop/devices/search", {"text": "ali"})[1]
        checks.equal("a user is found by the beginning of the name", found["users"], ["alice"])
        found = page.api("POST", "/hubs/shop/devices/search", {"text": device["handle"]})[1]
        checks.equal("a device is found by its handle", [entry["installation"] for entry in found["devices"]], ["phone1"])
        checks.that("which is not shown", device["handle"] not in json.dumps(found))
        meant = page.api("GET", "/hubs/shop/devices/phone1/sends")[1]["sends"]
        checks.equal("what was meant for it is told", [(entry["id"], entry["verdict"]) for entry in meant], [(identifier, "delivered")])
        trace = page.api("GET", f"/hubs/shop/messages/{identifier}/devices/phone1")[1]
        checks.equal("and why", trace["verdict"], "delivered")
        services = {entry["platform"]: entry for entry in page.api("GET", "/hubs/shop/services")[1]["platforms"]}
        checks.that("the simulated service is usable", services["apns"]["state"] == "usable" and services["apns"]["isSimulated"])
        audit = page.api("GET", "/audit/operators?limit=500")[1]["entries"]
        checks.that("the audit log has the send", any(entry["action"] == "POST /rest/{hub}/messages" and entry["answer"] == 201 for entry in audit), audit)
        checks.that("and no content", MARKUP not in json.dumps(audit) and device["handle"] not in json.dumps(audit))

    def backups(self):
        page = self.page
        checks.equal("a hub without jobs says so", page.api("GET", "/hubs/shop/jobs")[1]["jobs"], [])
        checks.equal("there is no backup at first", page.api("GET", "/backups")[1]["backups"], [])
        checks.equal("a backup is begun", page.api("POST", "/backups", {})[0], 202)
        deadline = time.monotonic() + 60
        while (found := page.api("GET", "/backups")[1])["work"] and time.monotonic() < deadline:
            pass
        checks.that("it is made and was read again", found["failure"] is None and [one["isVerified"] for one in found["backups"]] == [True], found)
        name = found["backups"][0]["name"]
        status, headers, data = page.ask("GET", f"/console/api/backups/{name}")
        checks.equal("it is downloaded whole", (status, len(data)), (200, found["backups"][0]["bytes"]))
        checks.that("without the server's keys", b"secret.key" not in data and headers["content-type"] == "application/x-tar")
        with open(os.path.join(self.data, "backups", name), "r+b") as file:
            file.seek(len(data) // 2)
            file.write(b"damage")
        checks.equal("one is read again", page.api("POST", f"/backups/{name}/verify", {})[0], 202)
        while (found := page.api("GET", "/backups")[1])["work"] and time.monotonic() < deadline:
            pass
        checks.that("a damaged one is told", found["backups"][0]["isVerified"] is False and found["backups"][0]["problem"], found)
        for other in ["../secret.key", "secret.key", "martlet.db"]:
            checks.equal(f"{other} is no backup", page.api("GET", "/backups/" + other.replace("/", "%2F"))[0], 404)

    def attacks(self):
        page, change = self.page, "/hubs/other"
        for sentence, expected, changes in [
            ("a page of another port", 403, {"Origin": "http://127.0.0.1:1", "Sec_Fetch_Site": "same-site"}),
            ("a page of another port in an old browser", 403, {"Origin": "http://127.0.0.1:1", "Sec_Fetch_Site": None}),
            ("a page of another site", 403, {"Origin": "https://evil.example", "Sec_Fetch_Site": "cross-site"}),
            ("a request without the field", 403, {"Martlet_Console": None}),
            ("a form", 415, {"Content_Type": "text/plain"}),
            ("a name that was rebound to this machine", 421, {"Host": f"evil.example:{page.port}", "Origin": f"http://evil.example:{page.port}"}),
            ("a request without a session", 401, {"Cookie": None}),
            ("a cookie beside a forged one", 401, {"Cookie": f"{page.cookie}; {page.cookie}"}),
        ]:
            checks.equal(f"{sentence} deletes no hub", page.api("DELETE", change, **changes)[0], expected)
        checks.equal("the hub is still there", page.api("GET", change)[0], 200)
        headers = page.ask("GET", "/console/")[1]
        checks.that("no page may frame the console", "frame-ancestors 'none'" in headers["content-security-policy"])
        for path in ["/console/../data/secret.key", "/console/%2e%2e/secret.key", "/console/..%2fsecret.key"]:
            checks.equal(f"{path} leads nowhere", page.ask("GET", path)[0], 404)
        status, invited = page.api("POST", "/operators", {"name": "lee", "roles": ["sender@shop"]})
        entry = page.api("GET", "/audit/operators?limit=1")[1]["entries"][0]
        checks.equal(
            "an operator invites another, and the audit log has the name",
            (status, "#" in invited["link"], entry["action"], entry["subject"]), (201, True, "POST /operators", "lee"))
        viewer = Page(page.port)
        viewer.enter("/link/use", {"token": self.invite("kim", "viewer@shop"), "password": PASSWORD})
        checks.equal("a viewer sees the hub of the role", [hub["name"] for hub in viewer.api("GET", "/hubs")[1]], ["shop"])
        for method, path in [
            ("GET", "/hubs/other"), ("GET", "/hubs/other/sends"), ("POST", "/hubs/shop/messages/x/cancel"), ("GET", "/hubs/shop/keys"),
            ("GET", "/operators"), ("GET", "/audit/operators"), ("DELETE", "/hubs/shop"), ("GET", "/users"), ("GET", "/simulator/services"),
            ("GET", "/backups"), ("POST", "/backups"), ("GET", "/hubs/shop/jobs/x/failed"), ("GET", "/hubs/other/jobs"),
        ]:
            checks.equal(f"a viewer of one hub may not {method} {path}", viewer.api(method, path)[0], 403)
        self.viewer = viewer

    async def streams(self):
        stream = Stream(self.page, "now,sends:shop")
        checks.that("a stream begins with the past", stream.wait(r"event: past\r?\ndata: \{"))
        checks.that("and goes on each second", stream.wait(r"event: second(.|\n)*event: second"))
        stream.close()
        watched = Stream(self.viewer)
        checks.that("a viewer watches", watched.wait("event: past"))
        self.martlet("operator", "role", "kim", "--role", "sender@shop")
        checks.that("other roles end the stream", watched.wait(r'"reason":"roles"'))
        watched.close()
        again = Stream(self.viewer)
        checks.that("a new stream has them", again.wait("event: past"))
        self.martlet("operator", "disable", "kim")
        checks.that("a disabled operator's stream ends", again.wait(r'"reason":"signed-out"'))
        checks.equal("and so does the session", self.viewer.api("GET", "/session")[0], 401)
        again.close()
        open_streams = [Stream(self.page) for _ in range(4)]
        checks.equal("a session has four streams", [entry.status() for entry in open_streams], [200] * 4)
        fifth = Stream(self.page)
        checks.equal("and no fifth", fifth.status(), 429)
        for entry in open_streams + [fifth]:
            entry.close()

    async def restart(self):
        stream = Stream(self.page)
        stream.wait("event: past")
        begin = time.monotonic()
        loop = asyncio.get_running_loop()
        ended = loop.run_in_executor(None, stream.wait, r'"reason":"stopping"')
        code, _ = await self.server.stop()
        checks.that("a stream is told of the end at once", await ended and time.monotonic() - begin < 5)
        stream.close()
        await self.server.start()
        self.page.port = self.server.port
        checks.equal("a session outlives a restart", self.page.api("GET", "/session")[1]["operator"], "ops")
        checks.equal("so do roles", self.martlet("operator", "list"), "kim sender@shop (disabled)\nlee sender@shop\nops admin")
        self.martlet("operator", "end-sessions", "ops")
        checks.equal("until it is ended", self.page.api("GET", "/session")[0], 401)


checks.finish_on_a_server(Judged)
