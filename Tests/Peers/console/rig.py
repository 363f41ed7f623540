"""A real server with its simulator, an operator who signs in by link, and a shop with devices and sends."""

import base64
import http.client
import json
import os
import re
import shutil
import sys
import time
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import processes  # noqa: E402

HUB, NAME, PASSWORD = "shop", "ops", "a swallow without feet"
API = "api-version=2020-06"
WEB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../Sources/CMartletConsoleWeb/Web")
# Whatever people may write: markup, right-to-left, emoji, and no space to break at.
WILD = ['<img src=x onerror="document.title=1"> & <b>bold</b>', "\u202eright to left\u202c عربي", "🚲👩‍👩‍👧‍👦 wheels", "x" * 4000]


class Refused(Exception):
    """The server has refused a request of the rig."""


def longer(text):
    """An English file of texts with texts that are two fifths longer."""
    more = lambda one: ("lang und weit " * (len(one) // 30 + 1))[: -(-len(one) * 2 // 5)]
    return re.sub(r'(: )"((?:[^"\\]|\\.)+)"', lambda match: f'{match[1]}"{match[2]} {more(match[2])}"', text)


class Rig:
    """The server, and the console's API as a program asks it."""

    def __init__(self, binary, directory, from_folder=True):
        self.binary, self.data = binary, os.path.join(directory, "data")
        options = ["--simulator", "--simulator-listen", "127.0.0.1:0"]
        # The pages of this working copy, so that a change shows without a build; a copy, so that texts can be made longer.
        self.web = os.path.join(directory, "web")
        if from_folder:
            shutil.copytree(WEB, self.web)
            options += ["--console-files", self.web]
        self.server = processes.Server(binary, self.data, os.path.join(directory, "serve.log"), *options)
        self.cookie = None

    async def start(self):
        line = await self.server.start()
        self.origin = f"http://127.0.0.1:{self.server.port}"
        self.console = f"{self.origin}/console/"
        return line

    async def stop(self):
        if self.server.process and self.server.process.returncode is None:
            await self.server.kill()

    async def restart(self):
        """Starts a server that was killed on the port that it had."""
        self.server.listen_again()
        await self.server.start()

    def signal(self, number):
        self.server.process.send_signal(number)

    def lengthen(self, are_longer):
        """Serves English with longer texts from now on, or no more."""
        for folder, _, names in os.walk(self.web):
            if "text.en.js" in names:
                path = os.path.join(folder, "text.en.js")
                with open(os.path.join(WEB, os.path.relpath(path, self.web))) as file:
                    text = file.read()
                with open(path, "w") as file:
                    file.write(longer(text) if are_longer else text)

    def invite(self, name=NAME, role="admin"):
        """The link of an invitation."""
        printed = processes.martlet(self.binary, "operator", "invite", name, "--role", role, "--data", self.data)
        return re.search(r"http://\S+/console/enter#\S+", printed)[0]

    def sign_in_link(self):
        """A link that signs the operator in."""
        return re.search(r"http://\S+/console/enter#\S+", processes.martlet(self.binary, "console", "--data", self.data))[0]

    def use(self, link, password=PASSWORD):
        """Takes up an invitation; the requests of the rig are then this operator's."""
        self.call("POST", "/link/use", {"token": link.partition("#")[2], "password": password})

    def sign_in(self, name=NAME, password=PASSWORD):
        self.call("POST", "/sign-in", {"name": name, "password": password})

    def call(self, method, path, body=None, fields=()):
        """The document of the answer; `location` is added where there is one."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        headers = {"accept": "application/json", "content-type": "application/json", "martlet-console": "1", "origin": self.origin}
        headers |= {"cookie": self.cookie} if self.cookie else {}
        connection.request(method, "/console/api" + path, None if body is None else json.dumps(body), headers | dict(fields))
        answer = connection.getresponse()
        text = answer.read()
        if answer.status >= 400:
            raise Refused(f"{method} {path}: {answer.status} {text[:300]!r}")
        if (set_cookie := answer.headers.get("set-cookie")):
            self.cookie = set_cookie.partition(";")[0]
        location = answer.headers.get("location")
        connection.close()
        document = json.loads(text) if text else {}
        return document | {"location": location} if location else document

    def device(self, platform, installation, tags, **facts):
        """Makes up a device and registers it; its handle."""
        handle = self.call("POST", "/simulator/devices", {"platform": platform} | facts)["handle"]
        channel = json.loads(handle) if platform == "browser" else handle
        self.call("PUT", f"/rest/{HUB}/installations/{installation}?{API}",
                  {"installationId": installation, "platform": platform, "pushChannel": channel, "tags": tags})
        return handle

    def send(self, tags, message, **fields):
        """The id of a composed message."""
        named = {"servicebusnotification-format": "message", **({"servicebusnotification-tags": tags} if tags else {"martlet-everybody": "true"})}
        made = self.call("POST", f"/rest/{HUB}/messages?{API}", message, named | {key.replace("_", "-"): value for key, value in fields.items()})
        return re.search(r"/messages/([^/?]+)", made["location"])[1]

    def settled(self, identifier, timeout=60):
        """The status of a send when it is over."""
        deadline = time.monotonic() + timeout
        while (status := self.call("GET", f"/hubs/{HUB}/messages/{identifier}/status"))["endedAt"] is None and time.monotonic() < deadline:
            time.sleep(0.05)
        return status

    def shop(self):
        """Devices for the hub, one of them gone, and sends of every kind."""
        for index in range(6):
            self.device("apns", f"phone{index}", ["news", f"city:{'berlin' if index % 2 else 'seoul'}", f"username:user{index}"], topic="com.example.app")
        for index in range(4):
            self.device("fcmv1", f"android{index}", ["news", "beta", f"username:user{index}"])
        self.device("browser", "laptop", ["news", "username:alice"])
        gone = self.device("apns", "phone7", ["news", "username:alice"], topic="com.example.app")
        self.call("DELETE", f"/simulator/device?handle={urllib.parse.quote(gone, safe='')}")
        self.sends = [self.settled(self.send("news", {"title": "Half price until noon", "text": "Every bike in the shop, today only"}))["notification"]]
        for text in WILD:
            self.sends.append(self.settled(self.send("city:berlin", {"title": text[:900], "text": text, "truncate": True}))["notification"])
        self.sends.append(self.settled(self.send("username:alice", {"title": "Your order is on its way"}))["notification"])
        self.sends.append(self.settled(self.send(None, {"title": "Closed on Monday"}, martlet_confidential="true"))["notification"])
        for name in ("Summer sale", WILD[0][:100]):
            self.call("POST", f"/hubs/{HUB}/campaigns", {"name": name, "draft": {"title": name, "to": "news"}})
        self.users()
        due = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 7200))
        self.call("POST", f"/rest/{HUB}/schedulednotifications?{API}", {"title": "Server maintenance tonight"},
                  {"servicebusnotification-format": "message", "servicebusnotification-tags": "news", "servicebusnotification-scheduletime": due})

    def users(self):
        """Users of the app backend, one with roles, who asks for a notification that is not there."""
        for name in ("alice", "Zoë", "x" * 100):
            self.call("PUT", f"/users/{urllib.parse.quote(name)}", {"password": PASSWORD, "roles": []})
        self.call("PUT", "/users/alice/roles/editor", {})
        self.call("PUT", "/users/alice/groups/board", {})
        secret = base64.b64encode(f"alice:{PASSWORD}".encode()).decode()
        self.app("GET", "/api/notifications/1234567", authorization=f"Basic {secret}")

    def app(self, method, path, body=None, **fields):
        """The status of an answer of the app backend."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        connection.request(method, path, None if body is None else json.dumps(body), {"content-type": "application/json"} | fields)
        status = connection.getresponse().status
        connection.close()
        return status


def enter(page, rig, name=NAME, password=PASSWORD):
    """Signs a browser in with the form."""
    page.goto(rig.console)
    page.type("input[name=username]", name)
    page.type("input[name=password]", password)
    page.click("button.primary")
    page.until("!!document.querySelector('.places')")
