"""Every send of a message, every roll-out and every setting that must be refused, and the sentence that says why.

    refused_sends.py MARTLET [--write]

Each block of refused_sends.txt is a request by its name, then its status and sentence. Nothing may be stored of any of them,
and the requests at the limits, which look much the same, must be accepted. --write writes what the server says now.
"""

import argparse
import asyncio
import html
import http.client
import json
import os
import re
import sqlite3
import tempfile
import time

import hub_client
import processes
from checks import Checks

checks = Checks("refused-sends")
GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "refused_sends.txt")
HUB, RULE = "demo", "DefaultFullSharedAccessSignature"
TOKEN = "0123456789abcdef" * 4
HANDLES = {"apns": TOKEN, "fcmv1": "token", "wns": "https://db5p.notify.windows.com/?token=x"}
SEND, SCHEDULE = ("POST", "messages"), ("POST", "schedulednotifications")
MESSAGE, TYPE = ("ServiceBusNotification-Format", "message"), ("Content-Type", "application/json")
LATER = (
    "ServiceBusNotification-ScheduleTime", time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() + 86_400)))
BATCH = (
    "--b\r\nContent-Type: application/json\r\nContent-Disposition: inline; name=notification\r\n\r\n{\"text\": \"x\"}\r\n"
    f"--b\r\nContent-Type: application/json\r\nContent-Disposition: inline; name=devices\r\n\r\n[\"{TOKEN}\"]\r\n--b--\r\n")


def many(count, text="x"):
    return {f"a{number}": text for number in range(count)}


def languages(count):
    return {f"x-{number}" if number else "en": "x" for number in range(count)}


def deep(levels):
    return json.loads('{"a":' * levels + "1" + "}" * levels)


def platform(part, name="apns"):
    return {"text": "x", "platforms": {name: part}}


# What a message cannot be: its name, and the members or the body itself.
MESSAGES = [
    ("an unknown member", {"text": "x", "tittle": "y"}),
    ("an unknown member of an action", {"text": "x", "actions": [{"id": "a", "title": "b", "url": "https://a.example"}]}),
    ("an unknown member of a platform", platform({"merg": {}})),
    ("an unknown platform", platform({"merge": {}}, "aple")),
    ("an array", "[]"),
    ("no JSON", "hello"),
    ("JSON that ends early", '{"text": '),
    ("an unpaired surrogate", '{"text": "\\ud800"}'),
    ("bytes that are no UTF-8", b'{"text": "\xff"}'),
    ("no body", ""),
    ("65,537 bytes", '{"text": "x"}' + " " * (65_537 - 13)),
    ("nothing to show", {}),
    ("a subtitle alone", {"subtitle": "x"}),
    ("a title of 1,025 bytes", {"title": "x" * 1025}),
    ("a subtitle of 1,025 bytes", {"text": "x", "subtitle": "x" * 1025}),
    ("a text of 16,385 bytes", {"text": "x" * 16_385}),
    ("a text with NUL", {"text": "a\0b"}),
    ("a text that is a number", {"text": 1}),
    ("an empty title", {"title": ""}),
    ("a text without its language", {"text": {"de": "x"}}),
    ("a text that lacks the message's language", {"text": {"de": "x"}, "language": "en"}),
    ("a button that lacks the message's language",
     {"text": "x", "language": "en", "actions": [{"id": "a", "title": {"de": "x"}}]}),
    ("41 languages", {"text": languages(41), "language": "en"}),
    ("a language twice", {"text": {"en": "x", "EN": "y"}, "language": "en"}),
    ("a text with no language tag", {"text": {"en": "x", "e_n": "y"}, "language": "en"}),
    ("a language of 36 bytes", {"text": "x", "language": "en-" + "a" * 33}),
    ("a language that is none", {"text": "x", "language": "english!"}),
    ("a variable that is not declared", {"text": "$(name)", "variables": {"nam": "x"}}),
    ("a variable of the title that is not declared", {"title": "$(name)", "variables": {"nam": "x"}}),
    ("a variable with a wrong name", {"text": "x", "variables": {"a b": "c"}}),
    ("a variable twice", {"text": "x", "variables": {"a": "b", "A": "c"}}),
    ("21 variables", {"text": "x", "variables": many(21)}),
    ("a variable that is no text", {"text": "x", "variables": {"a": 1}}),
    ("a link that runs", {"text": "x", "link": "javascript:alert(1)"}),
    ("a link that holds data", {"text": "x", "link": "DATA:text/html,x"}),
    ("a link to a file", {"text": "x", "link": "file:///etc/passwd"}),
    ("a link that runs on Windows", {"text": "x", "link": "vbscript:x"}),
    ("a relative link", {"text": "x", "link": "/sale"}),
    ("a link of 2,049 bytes", {"text": "x", "link": "https://a.example/" + "x" * 2031}),
    ("a button's link that runs", {"text": "x", "actions": [{"id": "a", "title": "b", "link": "javascript:x"}]}),
    ("a picture without TLS", {"text": "x", "picture": "http://a.example/p.jpg"}),
    ("a sound with a space", {"text": "x", "sound": "a b"}),
    ("a sound of 65 bytes", {"text": "x", "sound": "a" * 65}),
    ("a badge below zero", {"text": "x", "badge": -1}),
    ("a badge of 100,000", {"text": "x", "badge": 100_000}),
    ("a badge of +2", {"text": "x", "badge": "+2"}),
    ("a badge with a fraction", {"text": "x", "badge": 1.5}),
    ("33 data", {"text": "x", "data": many(33)}),
    ("data of 4,097 bytes", {"text": "x", "data": {"a": "x" * 4096}}),
    ("data with a wrong name", {"text": "x", "data": {"a-b": "c"}}),
    ("data that is no text", {"text": "x", "data": {"a": 1}}),
    ("data with a name of ours", {"text": "x", "data": {"Link": "y"}}),
    ("data with the name of a receipt's id", {"text": "x", "data": {"notificationId": "y"}}),
    ("data with a name of APNs", {"text": "x", "data": {"aps": "y"}}),
    ("data with a name of FCM", {"text": "x", "data": {"from": "y"}}),
    ("data with a beginning of FCM's", {"text": "x", "data": {"google_x": "y"}}),
    ("four actions", {"text": "x", "actions": [{"id": f"a{number}", "title": "b"} for number in range(4)]}),
    ("an action twice", {"text": "x", "actions": [{"id": "a", "title": "b"}] * 2}),
    ("an action without a title", {"text": "x", "actions": [{"id": "a"}]}),
    ("an action with a wrong id", {"text": "x", "actions": [{"id": "a b", "title": "c"}]}),
    ("an unknown priority", {"text": "x", "priority": "urgent"}),
    ("a thread of 65 bytes", {"text": "x", "thread": "x" * 65}),
    ("a collapse key with a space", {"text": "x", "collapse": "a b"}),
    ("truncate that is a text", {"text": "x", "truncate": "true"}),
    ("silent with a text", {"silent": True, "text": "x"}),
    ("silent with a badge", {"silent": True, "badge": 1}),
    ("platforms that are a list", {"text": "x", "platforms": ["apns"]}),
    ("a platform that is true", platform(True)),
    ("a platform with merge and payload", platform({"merge": {}, "payload": "x"})),
    ("a platform with headers alone", platform({"headers": {}})),
    ("headers with a merge", platform({"merge": {}, "headers": {}})),
    ("a header of another platform", platform({"payload": {"aps": {}}, "headers": {"X-WNS-Type": "wns/toast"}})),
    ("a header with a line break", platform({"payload": {"aps": {}}, "headers": {"apns-topic": "a\r\nb"}})),
    ("a merge of XML", platform({"merge": {"a": 1}}, "wns")),
    ("a merge that is a text", platform({"merge": "x"})),
    ("a merge that makes it invalid", platform({"merge": {"message": "x"}}, "fcmv1")),
    ("a merge of 65 levels", platform({"merge": deep(65)})),
    ("a payload that is invalid", platform({"payload": "{"})),
    ("a merge that makes it too large", platform({"merge": {"more": "x" * 5000}})),
    ("a payload that is too large", platform({"payload": {"aps": {"alert": "x" * 5000}}})),
    ("a text that does not fit", {"text": "x" * 5000}),
    ("a text that does not fit in one language", {"text": {"en": "x", "de": "x" * 5000}, "language": "en"}),
    ("data that does not fit though the text may be cut",
     {"text": "x", "truncate": True, "data": {"a": "x" * 4000}, "link": "https://a.example/" + "x" * 200}),
    ("no text and a platform without a payload", platform({"payload": {"aps": {}}}) | {"text": None}),
]
# A header of a send, or several.
ROLLOUTS = [
    "first=0", "first=1e3", "first=100001", "first=0%", "first=0.001%", "first=51%", "first=", "first", "first=-1", "wait=PT10M",
    "rate=5; wait=PT10M", "first=10; wait=PT59S", "first=10; wait=P8D", "first=10; wait=10m", "first=10; first=20", "frist=10",
    "First=10", "first=10; rate=1; over=PT1M", "halt=5%", "first=10;", "first=10; halt=100%", "first=10; halt=5", "rate=0",
    "over=10m", "", "first=10, wait=PT10M",
]
TWICE = [
    ("Martlet-Rollout", "first=10", "first=20"), ("Martlet-Rollout", "first=10", "first=10"),
    ("ServiceBusNotification-Format", "message", "apple"), ("ServiceBusNotification-Format", "message", "message"),
    ("ServiceBusNotification-Tags", "a", "b"), ("ServiceBusNotification-DeviceHandle", TOKEN, TOKEN), ("Martlet-Expires", "PT1H", "PT2H"),
    ("Martlet-Confidential", "true", "false"), ("Idempotency-Key", "a", "b"),
    ("ServiceBusNotification-TestSend", "true", "false"),
]
OTHERS = [
    ("a direct send", "POST", "messages?direct", [MESSAGE, TYPE, ("ServiceBusNotification-DeviceHandle", TOKEN)], '{"text": "x"}'),
    ("a batch", "POST", "messages/$batch", [MESSAGE, ("Content-Type", "multipart/mixed; boundary=b")], BATCH),
    ("an unknown format", *SEND, [("ServiceBusNotification-Format", "messages"), TYPE], '{"text": "x"}'),
    ("a handle without direct", *SEND, [MESSAGE, TYPE, ("ServiceBusNotification-DeviceHandle", TOKEN)], '{"text": "x"}'),
    ("dryrun misspelt", "POST", "messages?dry-run", [MESSAGE, TYPE], '{"text": "x"}'),
    ("a wrong tag expression", *SEND, [MESSAGE, TYPE, ("ServiceBusNotification-Tags", "a &&")], '{"text": "x"}'),
    ("a wrong expiry", *SEND, [MESSAGE, TYPE, ("Martlet-Expires", "soon")], '{"text": "x"}'),
    ("a wrong confidential", *SEND, [MESSAGE, TYPE, ("Martlet-Confidential", "yes")], '{"text": "x"}'),
    ("a schedule's time on a send", *SEND, [MESSAGE, TYPE, LATER], '{"text": "x"}'),
    ("a schedule without its time", *SCHEDULE, [MESSAGE, TYPE], '{"text": "x"}'),
    ("a schedule with a wrong message", *SCHEDULE, [MESSAGE, TYPE, LATER], '{"text": "x", "tittle": "y"}'),
    ("a schedule that is too large", *SCHEDULE, [MESSAGE, TYPE, LATER], json.dumps({"text": "x" * 5000})),
    ("a schedule's time twice", *SCHEDULE, [MESSAGE, TYPE, LATER, LATER], '{"text": "x"}'),
    ("a replacement of what is not there", "PUT", "schedulednotifications/1", [MESSAGE, TYPE, LATER], '{"text": "x"}'),
    ("a dry run of a wrong message", "POST", "messages?dryRun", [MESSAGE, TYPE], '{"text": "x", "tittle": "y"}'),
    ("a test of a wrong message", "POST", "messages?test", [MESSAGE, TYPE], '{"text": "x", "tittle": "y"}'),
    ("a test with a canary", "POST", "messages?test", [MESSAGE, TYPE, ("Martlet-Rollout", "first=10")], '{"text": "x"}'),
    ("a wrong place in the list of schedules", "GET", "schedulednotifications?continuation=x", [], ""),
    ("a wrong testers' expression", "PUT", "sending", [TYPE], '{"testers": "a &&"}'),
    ("an unknown setting", "PUT", "sending", [TYPE], '{"tester": "a"}'),
    ("an unknown setting of the app", "PUT", "sending", [TYPE], '{"app": {"nam": "Shop"}}'),
    ("an app's name that is a number", "PUT", "sending", [TYPE], '{"app": {"name": 1}}'),
    ("an icon without TLS", "PUT", "sending", [TYPE], '{"app": {"icon": "http://a.example/i.png"}}'),
    ("settings that are a list", "PUT", "sending", [TYPE], "[]"),
    ("a resume of what is not there", "POST", "messages/1/resume", [], ""),
]
# What is at its limit and goes out. "$(" that is not closed, and a text from right to left, are texts like others.
ACCEPTED = [
    ("40 languages", {"text": languages(40), "language": "en"}),
    ("20 variables", {"text": "$(a19)", "variables": many(20)}),
    ("a reference that is not closed", {"text": "$(name, $(", "variables": {"name": "x"}}),
    ("a text from right to left", {"text": "\u202eשלום\u202c مرحبا"}),
    ("a character of two surrogates", '{"text": "\\ud83d\\ude00"}'),
    ("a title of 1,024 bytes", {"title": "x" * 1024}),
    ("32 data", {"text": "x", "data": many(32)}),
    ("a badge of 99,999", {"text": "x", "badge": 99_999}),
    ("three actions", {"text": "x", "actions": [{"id": f"a{number}", "title": "b"} for number in range(3)]}),
    ("a link of 2,048 bytes", {"text": "x", "link": "https://a.example/" + "x" * 2030}),
    ("65,536 bytes", '{"text": "x"}' + " " * (65_536 - 13)),
    ("a text of 16,384 bytes that may be cut", {"text": "x" * 16_384, "truncate": True}),
]


def requests():
    """Each with its name, method, path, headers and body."""
    for name, message in MESSAGES:
        if isinstance(message, dict):
            message = json.dumps({key: value for key, value in message.items() if value is not None})
        yield f"a message: {name}", *SEND, [MESSAGE, TYPE], message
    for text in ROLLOUTS:
        yield f"Martlet-Rollout: {text}".rstrip(), *SEND, [MESSAGE, TYPE, ("Martlet-Rollout", text)], '{"text": "x"}'
    for name, first, second in TWICE:
        base = [] if name == MESSAGE[0] else [MESSAGE]
        yield f"{name}: {first} and {second}", *SEND, [*base, TYPE, (name, first), (name, second)], '{"text": "x"}'
    yield from OTHERS


def golden():
    with open(GOLDEN) as file:
        blocks = re.split(r"^\$ ", file.read(), flags=re.MULTILINE)[1:]
    return {name: said.rstrip("\n") for name, _, said in (block.partition("\n") for block in blocks)}


class Hub:
    def __init__(self, port, key):
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._token = hub_client.signature(hub_client.hub_resource(HUB, port), RULE, key)

    def ask(self, method, path, headers, body):
        """The status and the sentence."""
        query = "&" if "?" in path else "?"
        self._connection.putrequest(method, f"/{HUB}/{path}{query}{hub_client.API_VERSION}")
        body = body.encode() if isinstance(body, str) else body
        for name, value in [("Authorization", self._token), ("Content-Length", str(len(body))), *headers]:
            self._connection.putheader(name, value)
        self._connection.endheaders(body)
        answer = self._connection.getresponse()
        text = html.unescape(answer.read().decode())
        detail = re.search(r"<Detail>(.*?)</Detail>", text, re.DOTALL)
        said = re.sub(r"\.?TrackingId:.*", "", detail[1] if detail else text, flags=re.DOTALL)
        return answer.status, said


def stored(data):
    """How many notifications there are, and the hub's settings."""
    with sqlite3.connect(f"file:{data}/martlet.db?mode=ro", uri=True) as database:
        [(count,)] = database.execute("SELECT count(*) FROM notifications")
        return count, database.execute("SELECT * FROM hubs").fetchall()


async def course(binary, directory, write):
    data = os.path.join(directory, "data")
    key = processes.create_hub(binary, data, HUB)[RULE]
    server = processes.Server(binary, data, os.path.join(directory, "server.log"))
    await server.start()
    try:
        hub, found = Hub(server.port, key), []
        for platform, handle in HANDLES.items():
            installation = {"installationId": platform, "platform": platform, "pushChannel": handle}
            status, _ = hub.ask("PUT", f"installations/{platform}", [TYPE], json.dumps(installation))
            checks.equal(f"a device of {platform} is registered", status, 200)
        before, expected = stored(data), {} if write else golden()
        for name, *request in requests():
            status, sentence = hub.ask(*request)
            said = f"{status}\n{sentence.strip()}"
            found.append(f"$ {name}\n{said}\n")
            if not write:
                checks.equal(name, said, expected.pop(name, None))
            checks.that(f"{name} is refused", 400 <= status < 500, said)
            now = stored(data)
            checks.equal(f"of {name} nothing is stored", now, before)
            before = now
        checks.equal("the file has no others", list(expected), [])
        for name, message in ACCEPTED:
            body = json.dumps(message) if isinstance(message, dict) else message
            checks.equal(f"{name} is accepted", hub.ask(*SEND, [MESSAGE, TYPE], body)[0], 201)
        checks.equal("what was accepted is stored", stored(data)[0], before[0] + len(ACCEPTED))
        if write:
            with open(GOLDEN, "w") as file:
                file.write("\n".join(found))
    finally:
        if server.process and server.process.returncode is None:
            await server.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("martlet", help="the program")
    parser.add_argument("--write", action="store_true", help="write what it says now")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        checks.finish(course(os.path.abspath(options.martlet), directory, options.write))


if __name__ == "__main__":
    main()
