"""Dead letters of a real `martlet serve`: listed with their reasons, sent again once the cause is mended, and received
exactly once by devices of an independent FCM; a resend that is killed leaves a whole new message or none; and what a wrong
project says of every device is not believed, also after a restart.

    letters.py MARTLET
"""

import asyncio
import json
import os
import random

import hub_client
import processes
import service_answers
from checks import Checks, eventually
from service_answers import HUB, RULE, Hub, count, google
from service_peers import Peer

checks = service_answers.checks = Checks("deadLetters")
THIRD_PARTY = google(401, "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR")
UNREGISTERED = google(404, "NOT_FOUND", "UNREGISTERED")
# Rounds in which a resend is killed.
ROUNDS = 8
# More devices than the first page of a message has.
CROWD = 130


def body(text):
    return json.dumps({"message": {"data": {"m": text}}})


class Course:
    def __init__(self, binary, directory):
        self.binary, self.data = binary, os.path.join(directory, "data")
        self.peer = Peer(directory)
        key = processes.create_hub(binary, self.data, HUB)[RULE]
        account = os.path.join(directory, "account.json")
        with open(account, "w") as file:
            json.dump(self.peer.fcm_tokens.file(), file)
        self.martlet(
            "hub", "credential", "set", HUB, "fcmv1", "--service-account-file", account, "--endpoint",
            self.peer.origin, "--ca-file", self.peer.ca)
        self.server = processes.Server(binary, self.data, os.path.join(directory, "server.log"))
        self._key = key

    def martlet(self, *arguments):
        return processes.martlet(self.binary, *arguments, "--data", self.data)

    async def start(self):
        await self.server.start()
        self.hub = Hub(self.server.port, self._key)

    async def run(self):
        await self.start()
        await self.listed_and_sent_again()
        await self.changed_meanwhile()
        await self.spared_together()
        await self.killed()
        await self.wrong_project()
        checks.equal("no rule was broken", self.peer.violations, [])
        code, _ = await self.server.stop()
        checks.equal("SIGTERM ends the server with 0", code, 0)
        self.peer.close()

    async def register(self, tag, number, *answers):
        devices = [self.peer.fcmv1(f"{tag}{place}", *answers) for place in range(number)]
        for place, device in enumerate(devices):
            status, text = await self.hub.register("fcmv1", f"{tag}{place}", device.handle, tags=[tag])
            checks.that(f"{tag}{place} is registered", status == 200, text)
        return devices

    async def call(self, method, path):
        status, fields, content = await self.hub._call(method, path)
        return status, json.loads(content) if content.startswith(b"{") else content.decode()

    def received(self, devices, text):
        """How often each device was brought a message."""
        return [sum(message["body"]["data"]["m"] == text for message in device.messages) for device in devices]

    async def listed_and_sent_again(self):
        sick = await self.register("news", 3, THIRD_PARTY)
        healthy = [self.peer.fcmv1("well"), self.peer.fcmv1("odd", google(400, "FAILED_PRECONDITION"))]
        for name, device in zip(("well", "odd"), healthy):
            await self.hub.register("fcmv1", name, device.handle, tags=["news"])
        message = await self.hub.send("fcmv1", "news", body("one"))
        checks.that("three fail", await self.hub.comes_to(message, *count("InvalidCredentials", 3)))
        status, page = await self.call("GET", f"messages/{message}/deadletters")
        letters = {letter.get("installation"): letter for letter in page["deadLetters"]}
        checks.equal("those are the dead letters", (status, sorted(letters)), (200, ["news0", "news1", "news2", "odd"]))
        checks.that("with their reasons", all(
            letters[f"news{place}"]["reason"] == "THIRD_PARTY_AUTH_ERROR" and letters[f"news{place}"]["status"] == 401
            for place in range(3)))
        checks.that("without handles", "APA91b" not in json.dumps(page))
        status, sends = await self.call("GET", "deadletters")
        checks.equal("the hub has one message with some", [entry["notification"] for entry in sends["notifications"]], [message])
        printed = self.martlet("dead-letters", HUB, message)
        checks.that("the command lists them too", printed.count("THIRD_PARTY_AUTH_ERROR") == 3, printed)
        checks.that("and the message", message in self.martlet("dead-letters", HUB))
        again = self.martlet("resend", HUB, message, "--outcome", "InvalidCredentials").strip()
        checks.that("the three arrive", await self.hub.comes_to(again, *count("Success", 3)))
        checks.equal("each of them once more", self.received(sick, "one"), [2, 2, 2])
        checks.equal("nobody else", self.received(healthy, "one"), [1, 1])
        status, refusal = await self.call("POST", f"messages/{message}/deadletters/resend?outcome=InvalidCredentials")
        checks.equal("not again", status, 409)
        status, rest = await self.call("POST", f"messages/{message}/deadletters/resend")
        checks.equal("the rest is sent as well", status, 201)
        checks.that("and arrives", await self.hub.comes_to(rest["notification"], *count("Success", 1)))
        checks.equal("to whom it was for", self.received(healthy, "one"), [1, 2])
        status, nothing = await self.call("POST", f"messages/{again}/deadletters/resend")
        checks.equal("what arrived is not sent again", status, 409)

    async def changed_meanwhile(self):
        """A device that changed users, one that is gone, and one with a new handle."""
        devices = await self.register("ann", 4, THIRD_PARTY)
        message = await self.hub.send("fcmv1", "ann", body("private"))
        checks.that("all fail", await self.hub.comes_to(message, *count("InvalidCredentials", 4)))
        await self.hub.register("fcmv1", "ann0", devices[0].handle, tags=["bob"])
        await self.hub._call("DELETE", "installations/ann1")
        moved = self.peer.fcmv1("moved")
        await self.hub.register("fcmv1", "ann2", moved.handle, tags=["ann"])
        again = self.martlet("resend", HUB, message).strip()
        checks.that("the two that are left arrive", await self.hub.comes_to(again, *count("Success", 2)))
        checks.equal("nobody else's device shows it", self.received(devices, "private"), [1, 1, 1, 2])
        checks.equal("a device is known by its id", self.received([moved], "private"), [1])

    async def spared_together(self):
        """Of more than a page that nothing could be sent to, each device has its letter, and is sent it again."""
        names = [f"crowd{place:03}" for place in range(CROWD)]
        await asyncio.gather(*[
            self.hub.register("adm", name, self.peer.adm(name).handle, tags=["crowd"]) for name in names])
        message = await self.hub.send("adm", "crowd")
        checks.that("there is no credential", await self.hub.comes_to(message, *count("InvalidCredentials", CROWD)))
        _, page = await self.call("GET", f"messages/{message}/deadletters")
        found = [letter["installation"] for letter in page["deadLetters"]]
        checks.equal("everybody has a letter", sorted(found), names)
        again = self.martlet("resend", HUB, message).strip()
        checks.that("all are sent it again", await self.hub.comes_to(again, *count("InvalidCredentials", CROWD)))

    async def killed(self):
        """However a resend is killed: there is a whole new message or none, and in the end everybody has it."""
        devices = await self.register("many", 20)
        for round in range(ROUNDS):
            text = f"kill {round}"
            for device in devices:
                device._answers = [THIRD_PARTY]
            message = await self.hub.send("fcmv1", "many", body(text))
            checks.that(f"all fail of {text}", await self.hub.comes_to(message, *count("InvalidCredentials", 20)))
            path = f"messages/{message}/deadletters"
            request = asyncio.create_task(self.call("POST", f"{path}/resend"))
            await asyncio.sleep(random.uniform(0, 0.03))
            await self.server.kill()
            answers = await asyncio.gather(request, return_exceptions=True)
            await self.start()
            _, page = await self.call("GET", path)
            resends = [resend["notification"] for resend in page["resends"]]
            was_answered = isinstance(answers[0], tuple) and answers[0][0] == 201
            checks.that(f"{text}: one or none", len(resends) <= 1, resends)
            checks.that(f"{text}: what was answered is there", not was_answered or resends == [answers[0][1]["notification"]])
            if not resends:
                _, made = await self.call("POST", f"{path}/resend")
                resends = [made["notification"]]
            checks.that(f"{text}: all arrive", await self.hub.comes_to(resends[0], *count("Success", 20)))
            checks.that(f"{text}: nobody is left out", all(times >= 2 for times in self.received(devices, text)))

    async def wrong_project(self):
        """All look unregistered, the server is restarted, and still all do, one by one: nobody is removed."""
        devices = await self.register("other", 30)
        for device in devices:
            device._answers = [UNREGISTERED] * 2
        message = await self.hub.send("fcmv1", "other", body("lost"))
        checks.that("all look gone", await self.hub.comes_to(message, *count("ExpiredChannel", 30)))
        log = self.server._log
        checks.that("an alarm is raised", await eventually(lambda: "look gone" in open(log).read()))
        checks.that("and measured", 'martlet_quarantines{platform="fcmv1"} 1' in self.martlet("metrics"))
        await self.server.kill()
        await self.start()
        for place in range(30):
            checks.equal(f"other{place} is kept", await self.hub.channel(f"other{place}"), devices[place].handle)
        checks.that("the quarantine goes on", 'martlet_quarantines{platform="fcmv1"} 1' in self.martlet("metrics"))
        again = self.martlet("resend", HUB, message).strip()
        checks.that("they look gone again", await self.hub.comes_to(again, *count("ExpiredChannel", 30)))
        third = self.martlet("resend", HUB, again).strip()
        checks.that("with the right project all arrive", await self.hub.comes_to(third, *count("Success", 30)))
        checks.equal("each once", self.received(devices, "lost"), [3] * 30)


if __name__ == "__main__":
    checks.finish_on_a_server(Course)
