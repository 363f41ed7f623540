"""One composed message to the six simulated services and a real Firefox: what each device got, by the simulator's ledger and
by Firefox's own list of what it shows.

A hub has three devices on each service, which speak English, Austrian German and Korean; some have the push variable that
the message uses. A page in Firefox is subscribed at the simulator and speaks German. The message has texts in three languages, a picture, a link, a button, a badge and data. Every device must
get its own language and its own name once, in the form of its platform, read here by parsers that share no code with
Martlet; what a dry run showed before must be what arrives; and one notification must account for all of it. Then a message
with the same collapse key, a silent one, and those that are to be refused.

    one_message.py MARTLET [--show]

--show prints what each device was shown.
"""

import asyncio
import collections
import json
import os
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree

import firefox
import hub_client
import processes
import simulators
from browser_site import Site
from checks import Checks, eventually

checks = Checks("one-message")
HUB, RULE = "demo", "DefaultFullSharedAccessSignature"
LINK, PICTURE, BUY = "https://shop.example/sale?a=1&b=2", "https://shop.example/p.jpg", "https://shop.example/buy"
TITLES = {"en": "Half price until noon", "de": "Bis Mittag zum halben Preis", "ko": "정오까지 반값"}
TEXTS = {"en": "$(name), every <bike> & \"tube\"", "de": "$(name), jedes Rad", "ko": "$(name), 모든 자전거"}
BUTTONS = {"en": "Buy", "de": "Kaufen", "ko": "구매"}
MESSAGE = {
    "title": TITLES, "text": TEXTS, "language": "en", "variables": {"name": "Hello"}, "link": LINK, "picture": PICTURE,
    "sound": "default", "badge": 3, "data": {"sale": "17 & more"},
    "actions": [{"id": "buy", "title": BUTTONS, "link": BUY}], "priority": "high", "collapse": "sale",
}
# What devices say of themselves: the tag of a language, the variable, and the language that they must get.
SPEAKERS = [([], {}, "en"), (["lang:de-AT"], {"name": 'Änne "<&>"'}, "de"), (["lang:ko"], {}, "ko")]
PATIENCE = 60
SHOWS = "--show" in sys.argv and not sys.argv.remove("--show")


def seen(service, payload):
    """What a device of a service is told, by the service's own documents."""
    if service == "apns":
        aps = payload["aps"]
        return {
            "title": aps["alert"]["title"], "text": aps["alert"]["body"], "picture": payload["picture"],
            "link": payload["link"], "button": payload["actions"][0]["title"], "badge": aps["badge"],
            "data": payload["sale"], "id": payload["notificationId"]}
    if service == "fcmv1":
        message = payload.get("message", payload)
        return {
            "title": message["notification"]["title"], "text": message["notification"]["body"],
            "picture": message["notification"]["image"], "link": message["data"]["link"],
            "button": json.loads(message["data"]["actions"])[0]["title"],
            "badge": message["android"]["notification"]["notification_count"], "data": message["data"]["sale"],
            "id": message["data"]["notificationId"]}
    if service == "browser":
        return {
            "title": payload["title"], "text": payload["body"], "picture": payload["image"],
            "link": payload["data"]["link"], "button": payload["actions"][0]["title"], "badge": payload["data"]["badge"],
            "data": payload["data"]["sale"], "id": payload["notificationId"]}
    if service == "adm":
        data = payload["data"]
        return {
            "title": data["title"], "text": data["message"], "picture": data["picture"], "link": data["link"],
            "button": json.loads(data["actions"])[0]["title"], "badge": int(data["badge"]), "data": data["sale"],
            "id": data["notificationId"]}
    document = ElementTree.fromstring(payload)
    if service == "wns":
        texts = [element.text for element in document.iter("text")]
        launch = dict(urllib.parse.parse_qsl(document.get("launch"), strict_parsing=True))
        return {
            "title": texts[0], "text": texts[1], "picture": document.find(".//image").get("src"), "link": launch["link"],
            "button": document.find(".//action").get("content"), "badge": int(launch["badge"]), "data": launch["sale"],
            "id": launch["notificationId"]}
    space = "{WPNotification}"
    query = document.find(f".//{space}Param").text.removeprefix("/?")
    launch = dict(urllib.parse.parse_qsl(query, strict_parsing=True))
    return {
        "title": document.find(f".//{space}Text1").text, "text": document.find(f".//{space}Text2").text,
        "link": launch["link"], "badge": int(launch["badge"]), "data": launch["sale"], "id": launch["notificationId"]}


def wanted(service, variables, language, notification):
    shown = {
        "title": TITLES[language], "text": TEXTS[language].replace("$(name)", variables.get("name", "Hello")),
        "picture": PICTURE, "link": LINK, "button": BUTTONS[language], "badge": 3, "data": "17 & more", "id": notification}
    if service == "mpns":
        del shown["picture"], shown["button"]
    return shown


class Course:
    def __init__(self, binary, directory):
        self._data = os.path.join(directory, "data")
        self._key = processes.create_hub(binary, self._data, HUB)[RULE]
        self._simulator = simulators.Simulator(binary, os.path.join(directory, "simulator"))
        self.server = processes.Server(binary, self._data, os.path.join(directory, "server.log"))
        self._directory = directory
        self._devices = {}  # handle -> service, variables, language
        self._arrived = []

    async def run(self):
        try:
            await self._simulator.start()
            await self.server.start()
            self._simulator.set_credentials(self._data, HUB)
            self._arrivals = simulators.Arrivals(self._simulator.ledger)
            self._connection = hub_client.Connection(self.server.port, timeout=60)
            self._token = hub_client.signature(hub_client.hub_resource(HUB, self.server.port), RULE, self._key)
            await self._register()
            await self._dry_run()
            await self._one_message()
            await self._silent()
            await self._refused()
        finally:
            if self._simulator.process and self._simulator.process.returncode is None:
                await self._simulator.kill()

    async def _call(self, method, path, body=b"", **fields):
        target = f"/{HUB}/{path}{'&' if '?' in path else '?'}{hub_client.API_VERSION}"
        fields = {name.replace("_", "-"): value for name, value in fields.items()}
        fields = {"Authorization": self._token, "Content-Type": "application/json"} | fields
        return await self._connection.request(method, target, fields, body)

    async def _send(self, message, path="messages"):
        fields = {"ServiceBusNotification_Format": "message"}
        return await self._call("POST", path, json.dumps(message).encode(), **fields)

    async def _register(self):
        checks.equal("there are six services", len(self._simulator.services), 6)
        for service in self._simulator.services:
            for number, (tags, variables, language) in enumerate(SPEAKERS):
                handle, name = self._simulator.device(service), f"{service}-{number}"
                body = json.loads(simulators.installation(name, service, handle, tags))
                body["pushVariables"] = variables
                status, _, content = await self._call("PUT", f"installations/{name}", json.dumps(body).encode())
                if status != 200:
                    raise processes.Failed(f"{name} is answered {status}: {content}")
                self._devices[handle] = (service, variables, language)

    async def _dry_run(self):
        status, _, content = await self._send(MESSAGE, "messages?dryRun")
        checks.equal("a dry run is answered", status, 200)
        run = json.loads(content)
        checks.equal("it would go to everybody", run["targeted"], len(self._devices))
        checks.equal("it finds nothing wrong", run["problems"], [])
        for service, part in run["platforms"].items():
            languages = sorted(payload["language"] for payload in part["payloads"])
            checks.equal(f"{service} shows a payload for each language", languages, ["de", "en", "ko"])
            for payload in part["payloads"]:
                appearance, language = payload["appearance"], payload["language"]
                text = TEXTS[language].replace("$(name)", "Hello")
                checks.equal(f"{service} tells the title in {language}", appearance["title"], TITLES[language])
                checks.equal(f"{service} tells the text in {language}", appearance["text"], text)
        checks.equal("nothing arrived", list(self._arrivals.read()), [])
        return run

    async def _settled(self, notification):
        for _ in range(PATIENCE * 20):
            _, _, content = await self._call("GET", f"messages/{notification}/status")
            status = json.loads(content)
            if status["state"] in ("Completed", "Abandoned", "NoTargetFound"):
                return status
            await asyncio.sleep(0.05)
        raise processes.Failed(f"not over: {content}")

    async def _accepted(self, message):
        status, fields, content = await self._send(message)
        if status != 201:
            raise processes.Failed(f"a message is answered {status}: {content}")
        return fields["location"].rpartition("/")[2].partition("?")[0]

    async def _arrive(self, count):
        """So many lines of the ledger, by handle."""
        lines = []
        await eventually(lambda: lines.extend(self._arrivals.read()) or len(lines) >= count)
        await asyncio.sleep(0.2)
        lines.extend(self._arrivals.read())
        return lines

    async def _one_message(self):
        site = Site()
        try:
            await self._one_message_with(site)
        finally:
            site.close()

    async def _open_firefox(self, site):
        """A Firefox whose push service is the simulator, with a page that is subscribed and registered."""
        service = self._simulator.call("GET", "services")["browser"]
        preferences = {
            "dom.push.serverURL": service["sockets"], "dom.push.testing.allowInsecureServerURL": True,
            "dom.push.connection.enabled": True, "permissions.default.desktop-notification": 1,
            "alerts.useSystemBackend": False}
        browser = firefox.Firefox(
            os.path.join(self._directory, "profile"), preferences, os.path.join(self._directory, "firefox.log"))
        await eventually(lambda: any(each["isConnected"] for each in self._simulator.call("GET", "sockets")["browser"]), PATIENCE)
        browser.goto(site.origin + "/")
        found = browser.run("return window.subscribe(arguments[0])", service["credential"]["VapidPublicKey"])
        body = {
            "installationId": "firefox", "platform": "browser", "tags": ["lang:de"], "pushVariables": {"name": "Jürgen"},
            "pushChannel": {"endpoint": found["endpoint"]} | found["keys"]}
        # Firefox may have taken so long that the server has closed the connection.
        self._connection.close()
        status, _, content = await self._call("PUT", "installations/firefox", json.dumps(body).encode())
        checks.equal("Firefox is registered", (status, content), (200, b""))
        return browser

    async def _one_message_with(self, site):
        browser = await self._open_firefox(site)
        try:
            notification = await self._accepted(MESSAGE)
            status = await self._settled(notification)
            checks.that("Firefox hears of it", await eventually(site.heard, PATIENCE), site.reports)
            [shown] = browser.run("return window.shown()")
        finally:
            browser.close()
        checks.equal("Firefox shows it in its language", (shown["title"], shown["body"]), (
            TITLES["de"], TEXTS["de"].replace("$(name)", "Jürgen")))
        checks.equal("Firefox has link, badge and data", (shown["data"]["link"], shown["data"]["badge"], shown["data"]["sale"]),
                     (LINK, 3, "17 & more"))
        checks.that("Firefox has the button, where it knows buttons", shown["actions"] in ([], [BUTTONS["de"]]), shown)
        if SHOWS:
            print(f"one-message: Firefox shows {json.dumps(shown, ensure_ascii=False)}")
        [report] = site.heard()
        told = json.loads(report["text"])
        checks.equal("the page was told all of it", (told["image"], told["actions"], told["notificationId"]), (
            PICTURE, [{"action": "buy", "title": BUTTONS["de"]}], notification))
        checks.equal("one notification has reached everybody", (status["state"], status["succeeded"]),
                     ("Completed", len(self._devices) + 1))
        checks.equal("it is on six platforms", len(status["platforms"]), 6)
        lines = await self._arrive(len(self._devices) + 1)
        times = collections.Counter(line["handle"] for line in lines)
        elsewhere = [handle for handle in times if handle not in self._devices]
        checks.equal("Firefox was sent it once", [times.pop(handle) for handle in elsewhere], [1])
        checks.equal("every device got it once", times, collections.Counter(list(self._devices)))
        if SHOWS:
            print(f"one-message: the ledger has {len(lines)} pushes: "
                  f"{dict(collections.Counter(line['service'] for line in lines))}; status: {status['platforms']}")
        await self._call("DELETE", "installations/firefox")
        for line in lines:
            if line["handle"] in elsewhere:
                continue
            service, variables, language = self._devices[line["handle"]]
            name = f"{service} in {language}"
            try:
                found = seen(service, line["payload"])
            except (KeyError, TypeError, AttributeError, IndexError, ElementTree.ParseError) as error:
                checks.that(f"{name} has its form", False, (error, line["payload"]))
                continue
            if SHOWS:
                print(f"one-message: {name} was told {json.dumps(found, ensure_ascii=False)}")
            checks.equal(f"{name} got what it is to show", found, wanted(service, variables, language, notification))
        status, _, content = await self._call("GET", f"messages/{notification}/devices/apns-1")
        trace = json.loads(content)
        shown = trace["registrations"][0]["payload"]["appearance"]
        checks.equal("a trace tells what the device showed", (trace["verdict"], shown["title"]), ("delivered", TITLES["de"]))

    async def _silent(self):
        notification = await self._accepted({"silent": True, "data": {"sale": "18"}})
        status = await self._settled(notification)
        checks.equal("a silent message reaches everybody", status["succeeded"], len(self._devices))
        for line in await self._arrive(len(self._devices)):
            text = json.dumps(line["payload"], ensure_ascii=False)
            checks.that(f"{line['service']} shows nothing", not any(title in text for title in TITLES.values()), text)
            checks.that(f"{line['service']} passes the data on", "18" in text, text)

    async def _refused(self):
        for message, code, sentence in [
            ({"text": "x", "tittle": "y"}, 400, "The message has the unknown member 'tittle'."),
            ({"text": {"de": "x"}, "language": "en"}, 400, "The message's text needs the message's own language, en."),
            ({"text": "$(nam)", "variables": {"name": ""}}, 400, "The message's text uses $(nam), so variables must have a default"),
            ({"text": "x", "platforms": {"aple": False}}, 400, "The message's platforms has 'aple'"),
            ({"text": "x", "link": "javascript:alert(1)"}, 400, "The message's link must be"),
            ({"text": "x" * 4000}, 413, "For "),
        ]:
            status, _, content = await self._send(message)
            checks.equal(f"{sentence} is refused", status, code)
            said = content.decode().replace("&#39;", "'").replace("&apos;", "'").replace("&quot;", '"')
            checks.that(f"{sentence} is said", sentence in said, said)
        status, _, _ = await self._send({"text": "x" * 4000, "truncate": True})
        checks.equal("a long text goes out where it may be cut", status, 201)
        lines = await self._arrive(len(self._devices))
        checks.equal("everybody gets it", len(lines), len(self._devices))
        checks.that("and sees that it was cut where there was no room",
                    any("…" in json.dumps(line["payload"], ensure_ascii=False) for line in lines))
        checks.equal("what was refused reached nobody",
                     [line for line in lines if "tittle" in json.dumps(line["payload"])], [])


checks.finish_on_a_server(Course)
