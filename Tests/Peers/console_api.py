"""The console's API over real HTTP: invitation, sessions, roles, the stream of events, restarts, and attacks.

    console_api.py MARTLET
"""

import asyncio
import base64
import http.client
import json
import os
import re
import socket
import time

import jsonschema_rs
import processes
from checks import Checks
from one_time import one_time_password

checks = Checks("console-api")

PASSWORD = "correct horse"
MARKUP = "<img src=x onerror=alert(1)>\u202e"


class Page:
    """What a page of the console at one address sends."""

    # Method, path, status and body of every answer of the API.
    answers = []

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
        self.answers.append((method, path.partition("?")[0], response.status, response.getheader("content-type") or "", data))
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


class Description:
    """The OpenAPI description of the console's API, and what it says of an answer."""

    def __init__(self, document):
        self.components, self.operations = document["components"], []
        for path, methods in document["paths"].items():
            pattern = re.compile("/".join("[^/]+" if part.startswith("{") else re.escape(part) for part in path.split("/")))
            self.operations += [(path.count("{"), pattern, method.upper(), f"{method.upper()} {path}", operation) for method, operation in methods.items()]
        self.operations.sort(key=lambda operation: operation[0])

    def problem(self, method, path, status, media_type, data):
        """The name of the operation, None where there is none, and what is not as described."""
        found = next((one for one in self.operations if one[2] == method and one[1].fullmatch(path)), None)
        if not found:
            return None, None
        *_, name, operation = found
        answer = operation["responses"].get(str(status))
        if answer is None:
            return name, f"{status} is not described"
        if not data:
            return name, None
        form = answer.get("content", {}).get(media_type.partition(";")[0])
        if form is None:
            return name, f"{status} has no {media_type}"
        if "json" not in media_type:
            return name, None
        errors = jsonschema_rs.validator_for(form["schema"] | {"components": self.components}).iter_errors(json.loads(data))
        return name, "; ".join(f"{status} {list(error.instance_path)}: {error.message[:200]}" for error in errors) or None


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
        self.authors()
        self.campaigns()
        self.failures()
        self.users()
        self.second_factor()
        self.description()
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
        status, refusal = page.api("DELETE", "/rest/shop/schedulednotifications/none?api-version=2020-06")
        checks.that("a refusal of the hub's API is a sentence", status == 404 and "TrackingId" not in refusal["error"], refusal)
        found = page.api("POST", "/hubs/shop/devices/search", {"text": device["handle"]})[1]
        checks.equal("a device is found by its handle", [entry["installation"] for entry in found["devices"]], ["phone1"])
        checks.that("which is not shown", device["handle"] not in json.dumps(found))
        meant = page.api("GET", "/hubs/shop/devices/phone1/sends")[1]["sends"]
        checks.equal("what was meant for it is told", [(entry["id"], entry["verdict"]) for entry in meant], [(identifier, "delivered")])
        trace = page.api("GET", f"/hubs/shop/messages/{identifier}/devices/phone1")[1]
        checks.equal("and why", trace["verdict"], "delivered")
        services = {entry["platform"]: entry for entry in page.api("GET", "/hubs/shop/services")[1]["platforms"]}
        checks.that("the simulated service is usable", services["apns"]["state"] == "usable" and services["apns"]["isSimulated"])
        page.api("POST", "/simulator/faults", {"fault": "unavailable", "service": "apns"})
        page.api("PUT", "/rest/other/installations/phone2?api-version=2020-06", {
            "installationId": "phone2", "platform": "apns", "pushChannel": page.api("POST", "/simulator/devices", {"platform": "apns"})[1]["handle"], "tags": ["news"]})
        page.ask("POST", "/console/api" + send.replace("shop", "other"), message, ServiceBusNotification_Tags="news", **fields)
        deadline = time.monotonic() + 20
        found = []
        while not found and time.monotonic() < deadline:
            found = [one for one in page.api("GET", "/alerts")[1]["alerts"] if one["code"] == "service-failing"]
        checks.that("a push service that answers 503 to everything is an alert within seconds", [(one["hub"], one["platform"], one["status"], one["severity"]) for one in found] == [("other", "apns", 503, "error")], found)
        state = {entry["platform"]: entry for entry in page.api("GET", "/hubs/other/services")[1]["platforms"]}["apns"]
        checks.that("the hub's services say so too", state["failing"][0]["status"] == 503 and state["waiting"]["pushes"] == 1, state)
        page.api("DELETE", "/simulator/faults")
        self.degraded(send.replace("shop", "other"), fields)
        page.api("DELETE", "/rest/shop/installations/phone1?api-version=2020-06")
        status, former = page.api("POST", "/hubs/shop/devices/former", {"user": "alice"})
        checks.equal("a device that a user had is told with what ended it", [(one["installation"], one["change"]) for one in former["devices"]], [("phone1", "deleted")])
        checks.that("and its handle is not shown", device["handle"] not in json.dumps(former))
        checks.equal("a user who never had one has none", page.api("POST", "/hubs/shop/devices/former", {"user": "carol"})[1]["devices"], [])
        page.api("PUT", "/rest/shop/installations/phone1?api-version=2020-06", {
            "installationId": "phone1", "platform": "apns", "pushChannel": device["handle"], "tags": ["news", "username:alice"]})
        page.api("POST", send + "&test", message, ServiceBusNotification_Tags="news", **fields)
        audit = page.api("GET", "/audit/operators?limit=500")[1]["entries"]
        tests = [entry["subject"] for entry in audit if entry["action"].endswith("?test")]
        checks.that("a test send leaves the digest of its text and its audience", len(tests) == 1 and re.fullmatch(r"sha256:[0-9a-f]{16} → news", tests[0]), tests)
        made = [(entry["operator"], entry["address"], entry["action"], entry["hub"]) for entry in audit if entry["hub"] == "other" and entry["operator"] != "ops"]
        checks.equal("a change by command is in the audit log", made, [("command line", f"uid {os.getuid()}", "PUT /hubs/{hub}", "other")])
        checks.that("the audit log has the send", any((entry["action"], entry["answer"], entry["subject"]) == ("POST /rest/{hub}/messages", 201, identifier) for entry in audit), audit)
        status, _ = page.api("POST", send + "&dryRun", message, ServiceBusNotification_Tags="news", **fields)
        checks.equal("a dry run is not in it", (status, len(page.api("GET", "/audit/operators?limit=500")[1]["entries"])), (200, len(audit)))
        checks.equal("tags of single devices are not listed", page.api("GET", "/hubs/shop/tags")[1]["tags"], ["news", "username:alice"])
        own = page.api("GET", "/hubs/shop/tags?prefix=$InstallationId:")[1]["tags"]
        checks.equal("unless they are asked for", len(own), 1)
        checks.equal("nor are their beginnings", page.api("GET", "/hubs/shop/tags/prefixes")[1]["prefixes"], ["username:"])
        listeners = page.api("GET", "/server")[1]["listeners"]
        before = page.api("GET", "/server-key")[1]
        made = page.api("POST", "/server-key")[1]
        checks.that("a new key of the server is the first", made["keys"][1:] == before["keys"] and made["left"] > 0, made)
        checks.equal("the older one is needed until all is under the new one", page.api("DELETE", "/server-key")[0], 409)
        checks.equal("which takes a moment", page.api("POST", "/server-key/reseal")[1]["left"], 0)
        checks.equal("then it goes", page.api("DELETE", "/server-key")[1], {"keys": made["keys"][:1], "left": 0})
        checks.equal("the server names its listeners", listeners, [{"purpose": "shared", "address": f"http://127.0.0.1:{page.port}", "isTLS": False}])
        checks.that("and no content", MARKUP not in json.dumps(audit) and device["handle"] not in json.dumps(audit))

    def degraded(self, send, fields):
        page = self.page
        for index in range(60):
            page.api("PUT", f"/rest/other/installations/fcm{index}?api-version=2020-06", {
                "installationId": f"fcm{index}", "platform": "fcmv1", "pushChannel": page.api("POST", "/simulator/devices", {"platform": "fcmv1"})[1]["handle"], "tags": ["half"]})
        page.api("POST", "/simulator/faults", {"fault": "unavailable", "service": "fcmv1", "probability": 0.4})
        deadline, found = time.monotonic() + 30, []
        while not found and time.monotonic() < deadline:
            page.ask("POST", "/console/api" + send, {"title": "Late"}, ServiceBusNotification_Tags="half", **fields)
            found = [one for one in page.api("GET", "/alerts")[1]["alerts"] if one["code"] == "service-degraded"]
        checks.that("a push service that fails part of the time is an alert", [(one["platform"], one["severity"], one["share"] >= 0.2) for one in found] == [("fcmv1", "warning", True)], found)
        page.api("DELETE", "/simulator/faults")

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
    def authors(self):
        page = self.page
        sends = page.api("GET", "/hubs/shop/sends")[1]["sends"]
        checks.equal("the console's send is of its operator", sends[0]["author"], "operator:ops")
        identifier = sends[0]["id"]
        checks.equal("its status says so", page.api("GET", f"/hubs/shop/messages/{identifier}/status")[1]["author"], "operator:ops")
        trace = page.api("GET", f"/hubs/shop/messages/{identifier}/devices/phone1")[1]
        checks.equal("and so does the trace", trace["author"], "operator:ops")
        sent = self.martlet("send", "shop", "--platform", "apns", "--body", '{"aps":{"alert":"hi"}}', "--tags", "news").split()[-1]
        found = page.api("GET", "/hubs/shop/sends?author=administrator")[1]["sends"]
        checks.equal("a send of the socket is the administrator's", [send["author"] for send in found], ["administrator"])
        checks.that("as the command prints it", found[0]["id"] in sent, sent)
        own = page.api("GET", "/hubs/shop/sends?author=operator:OPS")[1]["sends"]
        checks.equal("the filter leaves the operator's", [send["id"] for send in own], [identifier])
        checks.equal("what is no author is refused", page.api("GET", "/hubs/shop/sends?author=me")[0], 400)
        lines = self.martlet("sends", "shop", "--author", "operator:ops").splitlines()
        checks.that("the command lists it too", len(lines) == 1 and identifier in lines[0] and "operator:ops" in lines[0], lines)
        why = self.martlet("why", "shop", identifier, "phone1")
        checks.that("and says why", "by the operator 'ops' in the web console" in why, why)

    def description(self):
        """Every answer of this run is as the description says."""
        checks.equal("the description is for operators", Page(self.page.port).api("GET", "/openapi.json")[0], 401)
        for path in ("/hubs", "/hubs/shop", "/hubs/shop/limits", "/hubs/shop/services", "/hubs/shop/tags/prefixes", "/hubs/shop/tags",
                     "/hubs/shop/audience", "/operators", "/audit", "/server", "/sessions", "/hubs/shop/keys", "/backups"):
            self.page.api("GET", path)
        document = self.page.api("GET", "/openapi.json")[1]
        checks.equal("the API is described", document["openapi"], "3.1.0")
        description, seen, wrong = Description(document), set(), set()
        for answer in list(Page.answers):
            name, problem = description.problem(*answer)
            if name and answer[2] < 300:
                seen.add(name)
            if problem:
                wrong.add(f"{name}: {problem}")
        checks.equal("every answer is as described", sorted(wrong), [])
        checks.that("most operations were seen to succeed", len(seen) >= 45, sorted(seen))

    def campaigns(self):
        page, path = self.page, "/hubs/shop/campaigns"
        draft = {"text": MARKUP, "to": "news"}
        status, made = page.api("POST", path, {"name": "Spring", "draft": draft})
        checks.equal("a draft is kept", (status, made["draft"], made["version"], made["changedBy"]), (201, draft, 1, "operator:ops"))
        own = f"{path}/{made['id']}"
        status, changed = page.api("PUT", own, {"name": "Spring!", "draft": {"text": "b"}, "version": 1})
        checks.equal("and changed by who has read it", (status, changed["name"], changed["version"]), (200, "Spring!", 2))
        status, refused = page.api("PUT", own, {"name": "Other", "draft": {}, "version": 1})
        checks.equal("but not by who has not", (status, refused["campaign"]["draft"]), (409, {"text": "b"}))
        listed = page.api("GET", path)[1]["campaigns"]
        checks.that("the list has it without the draft", len(listed) == 1 and "draft" not in listed[0], listed)
        wrong = ({"name": "", "draft": {}}, {"name": "x" * 101, "draft": {}}, {"name": "x"}, {"name": "x", "draft": []},
                 {"name": "a\u0000b", "draft": {}}, {"name": "x", "draft": {"text": "s", "confidential": True}})
        for body in wrong:
            checks.equal(f"{str(body)[:60]} is no campaign", page.api("POST", path, body)[0], 400)
        large = {"name": "x", "draft": {"text": "y" * 98_400}}
        checks.equal("nor is one that is too large", page.api("POST", path, large)[0], 413)
        identifier = page.api("GET", "/hubs/shop/sends?author=operator:ops")[1]["sends"][0]["id"]
        unknown = {"notification": "0" * 8 + "-0000-0000-0000-" + "0" * 12}
        checks.equal("a send that is not there is not recorded", page.api("PUT", own + "/send", unknown)[0], 400)
        checks.equal("one that is there is", page.api("PUT", own + "/send", {"notification": identifier})[1]["send"], identifier)
        checks.equal("then it stays", page.api("PUT", own, {"name": "a", "draft": {}, "version": 2})[0], 409)
        checks.equal("it can be deleted", page.api("DELETE", own)[0], 204)
        checks.equal("once", page.api("DELETE", own)[0], 404)

    def failures(self):
        page = self.page
        found = []
        for _ in range(2):
            # The device stays registered, so that the message can be sent to it again.
            page.api("POST", "/simulator/faults", {"fault": "PayloadTooLarge", "service": "apns", "next": 1})
            _, headers, _ = page.ask(
                "POST", "/console/api/rest/shop/messages?api-version=2020-06", {"text": "hi"},
                ServiceBusNotification_Format="message", ServiceBusNotification_Tags="news")
            found.append(re.search(r"/messages/([^?]+)", headers["location"]).group(1))
            deadline = time.monotonic() + 20
            while not page.api("GET", f"/hubs/shop/messages/{found[-1]}/status")[1]["endedAt"] and time.monotonic() < deadline:
                pass
        path = "/hubs/shop/deadletters?order=newest"
        listed = page.api("GET", path)[1]["notifications"]
        checks.equal("failures are listed newest first", [entry["notification"] for entry in listed], found[::-1])
        outcome = next(iter(listed[0]["platforms"]["apns"]))
        first = page.api("GET", f"{path}&limit=1&outcome={outcome}")[1]
        rest = page.api("GET", f"{path}&limit=1&outcome={outcome}&continuation={first['continuation']}")[1]
        checks.equal("by outcome and in pages", [page_["notifications"][0]["notification"] for page_ in (first, rest)], found[::-1])
        checks.equal("none has another", page.api("GET", path + "&outcome=Throttled")[1]["notifications"], [])
        reasons = page.api("GET", f"/hubs/shop/messages/{found[0]}/deadletters/reasons")[1]
        checks.equal("reasons are counted", [(one["outcome"], one["count"]) for one in reasons["reasons"]], [(outcome, 1)])
        letters = page.api("GET", f"/hubs/shop/messages/{found[0]}/deadletters?outcome=Throttled")[1]["deadLetters"]
        checks.equal("and letters are of one outcome", letters, [])
        status, answer = page.api("POST", f"/hubs/shop/messages/{found[1]}/deadletters/resend", {})
        checks.that("they are sent again", status == 201, (status, answer))
        again = page.api("GET", f"/hubs/shop/sends/{answer['notification']}")[1]
        checks.equal(
            "as of their original", (again["author"], again["resentFrom"], again["resentBy"]),
            (f"resend:{found[1]}", found[1], "operator:ops"))
        for author in ("resend", f"resend:{found[1]}"):
            ids = [send["id"] for send in page.api("GET", f"/hubs/shop/sends?author={author}")[1]["sends"]]
            checks.equal(f"the filter {author[:7]} finds it", ids, [answer["notification"]])
        status, sending = page.api("PUT", "/rest/shop/sending?api-version=2020-06", {"testers": "internal"})
        checks.equal("the hub's testers are set", (status, sending["testers"]), (200, "internal"))
        checks.equal("and read", page.api("GET", "/rest/shop/sending?api-version=2020-06")[1]["testers"], "internal")

    def users(self):
        for name in ("bob", "Carol", "carla"):
            processes.martlet(self.binary, "user", "add", name, "--password-stdin", "--data", self.data, stdin="long enough\n")
        first = self.page.api("GET", "/users?limit=2")[1]
        checks.equal("users are paged", ([user["name"] for user in first["users"]], first["next"]), (["bob", "carla"], "carla"))
        rest = self.page.api("GET", "/users?limit=2&after=carla")[1]
        checks.equal("to the last", ([user["name"] for user in rest["users"]], rest["next"]), (["Carol"], None))
        found = self.page.api("GET", "/users?prefix=CAR")[1]["users"]
        checks.equal("and found by their beginning", [user["name"] for user in found], ["carla", "Carol"])
        checks.equal("a page has a limit", self.page.api("GET", "/users?limit=201")[0], 400)
        one = self.page.api("GET", "/users/CARLA")[1]
        checks.equal("one user is told with roles and sessions", (one["name"], one["roles"], one["sessions"]), ("carla", [], 0))
        checks.equal("sessions end", self.page.api("DELETE", "/users/carla/sessions")[0], 204)
        checks.equal("of a user who is there", [self.page.api(method, path)[0] for method, path in (("GET", "/users/eve"), ("DELETE", "/users/eve/sessions"))], [404, 404])
        checks.equal("the command lists all", self.martlet("user", "list").splitlines(), ["bob", "carla", "Carol"])

    def second_factor(self):
        page = Page(self.page.port)
        page.enter("/link/use", {"token": self.invite("max", "sender"), "password": PASSWORD})
        other = Page(page.port)
        other.enter("/sign-in", {"name": "max", "password": PASSWORD})
        secret = page.api("POST", "/session/factor", {})[1]["secret"]
        checks.equal("it is not asked for yet", Page(page.port).enter("/sign-in", {"name": "max", "password": PASSWORD})[0], 200)
        checks.equal("a wrong code confirms nothing", page.api("POST", "/session/factor/confirm", {"code": "abcdef"})[1]["code"], "bad-code")
        # The step before the present one is accepted too, so that the one after it is new at once.
        step = int(time.time()) // 30
        status, confirmed = page.api("POST", "/session/factor/confirm", {"code": one_time_password(secret, step)})
        checks.equal("a code confirms it", (status, len(confirmed["recoveryCodes"])), (200, 10))
        checks.equal("other sessions end", other.api("GET", "/session")[0], 401)
        sign_in = {"name": "max", "password": PASSWORD}
        enter = lambda **more: Page(page.port).enter("/sign-in", sign_in | more)
        checks.equal("now a code is asked for", enter()[1]["code"], "needs-code")
        checks.equal("the one of the confirmation is used up", enter(code=one_time_password(secret, step))[1]["code"], "bad-code")
        checks.equal("the next one signs in", enter(code=one_time_password(secret, step + 1))[0], 200)
        checks.equal("once", enter(code=one_time_password(secret, step + 1))[1]["code"], "bad-code")
        checks.equal("a recovery code does", enter(code=confirmed["recoveryCodes"][0])[0], 200)
        checks.equal("once as well", enter(code=confirmed["recoveryCodes"][0])[1]["code"], "bad-code")
        guesses = [enter(code="000000")[0] for _ in range(7)]
        checks.that("guesses are limited", guesses[0] == 401 and guesses[-1] == 429, guesses)
        entries = self.page.api("GET", "/audit/operators?operator=max&limit=50")[1]["entries"]
        checks.that("failures are in the audit log", any(one["action"] == "sign in" and one["answer"] == 401 for one in entries), entries)
        Page(page.port).enter("/sign-in", {"name": "hunter2hunter2", "password": "x"})
        unknown = self.page.api("GET", "/audit/operators?operator=%3F&limit=50")[1]["entries"]
        checks.equal("so is that of somebody unknown", (unknown[0]["action"], unknown[0]["answer"]), ("sign in", 401))
        log = json.dumps(self.page.api("GET", "/audit/operators?limit=500")[1])
        checks.that("nothing that was typed is in the log", "hunter2" not in log and PASSWORD not in log and secret not in log)
        with open(os.path.join(self.data, "martlet.db"), "rb") as file, open(os.path.join(self.data, "martlet.db-wal"), "rb") as wal:
            content = file.read() + wal.read()
        checks.that("the secret is encrypted at rest", base64.b32decode(secret) not in content and secret.encode() not in content)
        self.martlet("operator", "reset-factor", "max")
        checks.equal("a reset ends the sessions", page.api("GET", "/session")[0], 401)
        checks.equal("and asks for no code", enter()[0], 200)
        self.martlet("operator", "disable", "max")

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
        _, headers, _ = page.ask(
            "POST", "/console/api/rest/shop/messages?api-version=2020-06", {"text": "For two"},
            ServiceBusNotification_Format="message", ServiceBusNotification_Tags="username:alice || username:zoe")
        identifier = re.search(r"/messages/([^?]+)", headers["location"]).group(1)
        for path in ("sends", "devices/phone1/sends", f"messages/{identifier}/devices/phone1"):
            known = [json.dumps(one.api("GET", f"/hubs/shop/{path}")[1]) for one in (page, viewer)]
            checks.equal(f"{path} names users to who may list them, not to a viewer", ["username:zoe" in one for one in known], [True, False])
        for method, path in [
            ("GET", "/hubs/other"), ("GET", "/hubs/other/sends"), ("POST", "/hubs/shop/messages/x/cancel"), ("GET", "/hubs/shop/keys"),
            ("GET", "/operators"), ("GET", "/audit/operators"), ("DELETE", "/hubs/shop"), ("GET", "/users"), ("GET", "/simulator/services"),
            ("GET", "/users/bob"), ("DELETE", "/users/bob/sessions"), ("GET", "/server-key"), ("POST", "/server-key"), ("DELETE", "/server-key"),
            ("GET", "/backups"), ("POST", "/backups"), ("GET", "/hubs/shop/jobs/x/failed"), ("GET", "/hubs/other/jobs"),
            ("POST", "/hubs/shop/campaigns"), ("GET", "/hubs/shop/campaigns/1"), ("PUT", "/hubs/shop/campaigns/1/send"),
            ("DELETE", "/hubs/shop/campaigns/1"), ("GET", "/hubs/other/campaigns"), ("PUT", "/rest/shop/sending"),
            ("DELETE", "/operators/ops/factor"), ("GET", "/hubs/other/messages/x/deadletters/reasons"),
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
        checks.equal("and the session", self.viewer.api("GET", "/session")[0], 401)
        self.viewer.enter("/sign-in", {"name": "kim", "password": PASSWORD})
        checks.equal("a new session has them", self.viewer.api("GET", "/session")[1]["roles"], ["sender@shop"])
        again = Stream(self.viewer)
        checks.that("and a new stream begins", again.wait("event: past"))
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
        checks.equal("so do roles", self.martlet("operator", "list"), "kim sender@shop (disabled)\nlee sender@shop\nmax sender (disabled)\nops admin")
        self.martlet("operator", "end-sessions", "ops")
        checks.equal("until it is ended", self.page.api("GET", "/session")[0], 401)


checks.finish_on_a_server(Judged)
