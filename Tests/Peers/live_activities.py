"""A Live Activity from its start to its end, through a real `martlet serve` with its simulator: one user with a phone, a
token that starts activities and a token for each that goes on, all under the same tags. Every message must reach the
tokens that it is for, spare the others, and lose none of them.

    live_activities.py MARTLET
"""

import asyncio
import json
import os
import re
import sys
import tempfile
import time

import processes
from checks import Checks, eventually
from service_answers import RULE, Hub
from service_faults import Simulator

checks = Checks("live-activities")
HUB, APP = "orders", "com.example.app"
SUFFIXES = {
    "voip": ".voip", "complication": ".complication", "fileprovider": ".pushkit.fileprovider",
    "location": ".location-query", "pushtostart": ".push-type.liveactivity", "liveactivity": ".push-type.liveactivity",
    "pushtotalk": ".voip-ptt", "widgets": ".push-type.widgets", "controls": ".push-type.controls",
}


class OrderHub(Hub):
    async def request(self, tags, body, query="", **fields):
        """Status, and the message's id or a sentence."""
        headers = {"Content-Type": "application/json", "ServiceBusNotification-Format": "apple"}
        headers |= {"ServiceBusNotification-Tags": tags} if tags else {}
        headers |= {name.replace("_", "-"): value for name, value in fields.items()}
        status, answered, content = await self._call("POST", "messages" + query, headers, json.dumps(body).encode())
        if status != 201:
            return status, content.decode()
        return status, answered["location"].rpartition("/messages/")[2].partition("?")[0]

    async def add_template(self, name, template):
        patch = [{"op": "add", "path": "/templates/update", "value": json.dumps({"body": json.dumps(template)})}]
        headers = {"Content-Type": "application/json"}
        status, _, content = await self._call("PATCH", f"installations/{name}", headers, json.dumps(patch).encode())
        checks.that(f"{name} gets a template", status == 200, content)

    async def notify(self, name, tags, aps, wanted, **fields):
        """Sends, and waits for these counts and no others."""
        body = {"aps": aps} if "ServiceBusNotification_Format" not in fields else aps
        status, message = await self.request(tags, body, **fields)
        checks.equal(f"{name} is taken", status, 201)
        counts = [f"<Name>{outcome}</Name><Count>{count}</Count>" for outcome, count in wanted.items()]
        checks.that(f"{name} comes to {wanted}", await self.comes_to(message, "<State>Completed</State>", *counts))


def event(kind, **members):
    return {"timestamp": int(time.time()), "event": kind} | members


START = event(
    "start", **{"content-state": {"minutes": 12}, "attributes-type": "OrderAttributes", "attributes": {"order": 17},
                "alert": {"title": "Order 17", "body": "On its way"}})


class Course:
    def __init__(self, hub, simulator):
        self.hub, self.simulator, self.handles, self.seen = hub, simulator, {}, {}

    async def add(self, name, kind, *tags):
        topic = APP + SUFFIXES.get(kind, "")
        token = self.simulator.call("POST", "devices", {"platform": "apns", "topic": topic})["handle"]
        handle = f"{kind}:{token}" if kind else token
        status, sentence = await self.hub.register("apns", name, handle, list(tags))
        checks.that(f"{name} is registered", status == 200, sentence)
        self.handles[name], self.seen[token] = (handle, token), 0

    async def arrives(self, name, *receivers):
        """What each of the receivers got, one delivery each; nobody else got anything."""
        tokens = [self.handles[receiver][1] for receiver in receivers]
        for token in tokens:
            self.seen[token] += 1
        await eventually(lambda: all(len(self.simulator.inbox(token)) == self.seen[token] for token in tokens))
        found = {token: len(self.simulator.inbox(token)) for token in self.seen}
        checks.equal(f"{name} reaches {', '.join(receivers)} and nobody else", found, self.seen)
        return [self.simulator.inbox(token)[-1] for token in tokens]

    async def activity(self):
        await self.add("phone", "alert", "user:anna")
        await self.add("start", "pushtostart", "user:anna")
        await self.hub.notify("a start", "user:anna", START, {"Success": 1, "Skipped": 1})
        [delivery] = await self.arrives("a start", "start")
        checks.equal("its type", delivery["headers"]["apns-push-type"], "liveactivity")
        checks.equal("its topic", delivery["headers"]["apns-topic"], APP + ".push-type.liveactivity")
        checks.equal("its payload", delivery["payload"], {"aps": START})

        await self.add("order17", "liveactivity", "user:anna", "activity:17")
        await self.add("order18", "liveactivity", "user:anna", "activity:18")
        update = event("update", **{"content-state": {"minutes": 3}})
        await self.hub.notify("an update", "activity:17", update, {"Success": 1}, apns_priority="5")
        [delivery] = await self.arrives("an update", "order17")
        checks.equal("its priority", delivery["headers"]["apns-priority"], "5")
        await self.hub.notify("an update of all", "user:anna", update, {"Success": 2, "Skipped": 2})
        await self.arrives("an update of all", "order17", "order18")
        await self.hub.add_template("order18", {"aps": {
            "timestamp": "#(at)", "event": "update", "content-state": {"place": "$(place)"}}})
        properties = {"at": str(update["timestamp"]), "place": "bridge"}
        await self.hub.notify("a template", "user:anna", properties, {"Success": 1},
                              ServiceBusNotification_Format="template")
        [delivery] = await self.arrives("a template", "order18")
        checks.equal("its rendering", delivery["payload"], {"aps": update | {"content-state": {"place": "bridge"}}})
        await self.hub.notify("an alert", "user:anna", {"alert": "Hello"}, {"Success": 1, "Skipped": 3})
        await self.arrives("an alert", "phone")
        await self.hub.notify("an alert to everybody", None, {"alert": "Hello"}, {"Success": 1, "Skipped": 3})
        await self.arrives("an alert to everybody", "phone")
        await self.hub.notify("an end", "activity:17", event("end"), {"Success": 1})
        await self.arrives("an end", "order17")

    async def removal(self):
        """The activity is over: its token goes, and nothing else does."""
        handle, token = self.handles["order17"]
        self.simulator.call("DELETE", f"devices/{token}")
        update = event("update", **{"content-state": {}})
        await self.hub.notify("an update that is too late", "activity:17", update, {"ExpiredChannel": 1})
        checks.that("the token of an activity that is over goes", await self.hub.drops("order17"))
        self.handles.pop("order17")

    async def plain_tokens(self):
        """What no mark tells apart."""
        await self.add("tablet", None, "user:bob")
        await self.hub.notify("a start to a phone", "user:bob", START, {"WrongToken": 1})
        await self.arrives("a start to a phone")
        token = self.simulator.call(
            "POST", "devices", {"platform": "apns", "topic": APP + SUFFIXES["liveactivity"]})["handle"]
        self.handles["direct"], self.seen[token] = (token, token), 0
        for handle in (token, f"liveactivity:{token}"):
            status, sentence = await self.hub.request(
                None, {"aps": event("end")}, ServiceBusNotification_DeviceHandle=handle, query="?direct")
            checks.that("a direct send is taken", status == 201, sentence)
            await self.arrives("a direct send", "direct")
        self.handles.pop("direct")

    async def other_kinds(self):
        for kind in SUFFIXES.keys() - {"pushtostart", "liveactivity"}:
            await self.add(kind, kind, "user:carl")
        for kind in SUFFIXES.keys() - {"pushtostart", "liveactivity"}:
            aps = {"content-changed": True} if kind in ("widgets", "controls") else {}
            await self.hub.notify(f"a push of {kind}", "user:carl", aps, {"Success": 1, "Skipped": 6},
                                  apns_push_type=kind)
            [delivery] = await self.arrives(f"a push of {kind}", kind)
            checks.equal(f"the topic of {kind}", delivery["headers"]["apns-topic"], APP + SUFFIXES[kind])

    async def refusals(self):
        for left_out in ("timestamp", "content-state", "attributes-type", "attributes", "alert"):
            aps = {name: value for name, value in START.items() if name != left_out}
            status, sentence = await self.hub.request("user:anna", {"aps": aps})
            is_refused = status == 400 and f"aps.{left_out}" in sentence
            checks.that(f"a start without {left_out} is refused", is_refused, sentence)

    async def kept(self):
        for name, (handle, _) in self.handles.items():
            checks.equal(f"{name} is kept", await self.hub.channel(name), handle)


async def course(binary, directory):
    data = os.path.join(directory, "data")
    os.mkdir(data, 0o700)
    key = processes.create_hub(binary, data, HUB)[RULE]
    server = processes.Server(
        binary, data, os.path.join(directory, "server.log"), "--simulator", "--simulator-listen", "127.0.0.1:0")
    try:
        line = await server.start()
        simulator = Simulator(re.search(r" simulator=(\S+)", line)[1], os.path.join(data, "simulator-ca.pem"))
        judge = Course(OrderHub(server.port, key, HUB), simulator)
        for part in (judge.activity, judge.removal, judge.plain_tokens, judge.other_kinds, judge.refusals, judge.kept):
            await part()
        code, _ = await server.stop()
        checks.equal("SIGTERM ends the server with 0", code, 0)
    finally:
        if server.process and server.process.returncode is None:
            await server.kill()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as directory:
        checks.finish(course(os.path.abspath(sys.argv[1]), directory))


if __name__ == "__main__":
    main()
