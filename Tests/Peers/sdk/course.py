"""What the SDKs' courses share: the server they talk to, their checks, and what came out at the strict APNs peer."""

import json
import time

from sdk import documents
from checks import Checks
from sdk.documents import Unreadable

FULL, LISTEN = "DefaultFullSharedAccessSignature", "DefaultListenSharedAccessSignature"
ARRIVAL = 40
FINAL = ("Completed", "NoTargetFound", "Abandoned")

checks = Checks("sdk-wire")


class Place:
    """The server: where it is, keys and a container by hub, the namespace's rule, and the APNs peer's ledger."""

    def __init__(self, port, authority, rules, containers, namespace, ledger):
        self.port, self.authority, self.rules, self.containers = port, authority, rules, containers
        self.namespace, self.ledger = namespace, ledger

    def deliveries(self, token):
        """What came for a device, the oldest first."""
        with open(self.ledger, encoding="utf-8") as lines:
            found = [json.loads(line) for line in lines if line.endswith("\n")]
        return [one for one in found if one["token"].lower() == token.lower()]

    def arrived(self, sentence, token, payload):
        """The one delivery of this payload to the device, which must come, and only once."""
        wanted = json.loads(payload)
        found = eventually(lambda: [one for one in self.deliveries(token) if json.loads(one["payload"]) == wanted])
        checks.equal(f"{sentence} arrives once", len(found), 1)
        return found[0] if found else {}


def eventually(attempt, timeout=ARRIVAL):
    """The first true value of `attempt`, or the last one when the time is over."""
    deadline = time.monotonic() + timeout
    while not (found := attempt()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


class SDK:
    """An SDK at work: how it calls is the subclass's; here is how its statuses and readers are judged."""

    name = ""
    details_reader = job_reader = jobs_reader = None
    state, job_names = "State", {}

    def __init__(self, place, hub, rule=FULL):
        self.place, self.hub, self.rule = place, hub, rule
        self.key = place.rules[hub][rule]

    def expect(self, sentence, answer, *statuses):
        """Whether the answer has one of the statuses that the SDK takes for success."""
        holds = answer.status in statuses
        checks.that(f"{self.name}: {sentence} answers {' or '.join(map(str, statuses))}", holds, answer)
        return holds

    def read(self, sentence, reader, answer, *arguments):
        """What the SDK's reader makes of the body; an empty mapping where it cannot read it."""
        try:
            found = reader(answer.body, *arguments)
        except Unreadable as error:
            checks.that(f"{self.name}: {sentence} can be read", False, f"{error} in {answer!r}")
            return {}
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            checks.that(f"{self.name}: {sentence} can be read", False, f"{error!r} in {answer!r}")
            return {}
        checks.that(f"{self.name}: {sentence} can be read", True)
        return found

    def telemetry(self, identifier, sentence, states=FINAL):
        """What the SDK reads of a message once it is in one of the states, asked for again and again."""
        def attempt():
            answer = self.details(identifier)
            return answer if answer.status != 404 and any(f">{state}<" in answer.text for state in states) else None

        answer = eventually(attempt) or self.details(identifier)
        if not self.expect(f"telemetry of {sentence}", answer, 200):
            return {}
        self.field(f"telemetry of {sentence}", answer, "content-type", "application/xml; charset=utf-8")
        found = self.read(f"telemetry of {sentence}", self.details_reader, answer)
        if found:
            wanted = " or ".join(states)
            self.that(f"telemetry of {sentence} is {wanted}", found[self.state] in states, found[self.state])
        return found

    def equal(self, sentence, found, expected):
        checks.equal(f"{self.name}: {sentence}", found, expected)

    def that(self, sentence, holds, seen=None):
        checks.that(f"{self.name}: {sentence}", holds, seen)

    def field(self, sentence, answer, name, expected):
        self.equal(f"{sentence} has {name}", answer[name], expected)

    def address(self, kind, identifier="", query="api-version=2020-06"):
        """The absolute address of something of the hub, as `Location` must have it."""
        below = f"/{identifier}" if identifier else ""
        return f"https://127.0.0.1:{self.place.port}/{self.hub}/{kind}{below}?{query}"

    def unserved(self, answer, what):
        """Whether the server says that it does not have this yet; the print is the reason of what is left out."""
        missing = answer.status in (400, 404) and b"This server does not se" in answer.body
        if missing:
            print(f"sdk-wire: {self.name.lower()}: left out: {what}, which the server does not have yet", flush=True)
        return missing

    def as_job(self, read):
        """A job under the names that the courses use."""
        return {name: (read.get(own) if isinstance(read, dict) else read[own]) for name, own in self.job_names.items()}

    def refused(self, sentence, answer, status, detail=None):
        """An error with the body of all errors."""
        if not self.expect(sentence, answer, status):
            return
        self.field(sentence, answer, "content-type", "application/xml; charset=utf-8")
        found = self.read(f"the error of {sentence}", documents.error_detail, answer, status)
        if detail is not None:
            self.that(f"{sentence} says {detail!r}", isinstance(found, str) and found.startswith(detail), found)
