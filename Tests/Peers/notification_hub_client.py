"""PyPI's azure-notification-hub-unofficial against a real `martlet serve`, over http and https.

The package sends, lists, reads and deletes but cannot create a registration, so those are put with its own client,
addresses and signatures. What it sends must arrive at the strict APNs peer.

    notification_hub_client.py MARTLET
"""

import json
import os
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

from azure_notification_hub import (
    AzureNHError, NotificationHubsClient, create_apple_body, create_apple_notification,
)

import hub_client
import processes
from checks import Checks, eventually

checks = Checks("notification-hub-client")


class Hub:
    """One hub of the server as the package sees it."""

    def __init__(self, address, name, rule):
        rule_name, key = rule
        self._locations = []
        self.client = NotificationHubsClient(
            f"Endpoint={address}/;SharedAccessKeyName={rule_name};SharedAccessKey={key}", name
        )
        # The package drops the answer's Location, where the message's id is.
        self.client._client.event_hooks["response"] = [self._note_location]

    def _note_location(self, answer):
        self._locations.append(answer.headers.get("location"))

    def register(self, identifier, token, tags):
        url = self.client._request_url(f"/registrations/{identifier}")
        headers = self.client._create_headers({"Content-Type": "application/atom+xml;type=entry;charset=utf-8"})
        answer = self.client._client.put(url, content=hub_client.registration_entry(token, tags), headers=headers)
        return answer.status_code

    def new_identifier(self):
        url, headers = self.client._request_url("/registrationids"), self.client._create_headers()
        answer = self.client._client.post(url, headers=headers)
        return answer.status_code, answer.headers["location"].rpartition("/registrationids/")[2].partition("?")[0]

    def last_message(self):
        return self._locations[-1].rpartition("/messages/")[2].partition("?")[0]


class Course:
    def __init__(self, scheme, address, name, rules, ledger):
        self._scheme, self._ledger = scheme, ledger
        full, listen = "DefaultFullSharedAccessSignature", "DefaultListenSharedAccessSignature"
        self._hub = Hub(address, name, (full, rules[full]))
        self._listener = Hub(address, name, (listen, rules[listen]))
        self._stranger = Hub(address, name, (full, "d3Jvbmc="))
        self._nowhere = Hub(address, "nowhere", (full, rules[full]))
        mark = "0a" if scheme == "http" else "0b"
        self._tokens = {name: mark + f"{number}C" * 31 for number, name in enumerate(("phone", "tablet", "other"), 1)}

    async def run(self):
        client = self._hub.client
        self._register()
        self._read(client)
        await self._send(client)
        self._refusals(client)
        await self._delete(client)
        for hub in (self._hub, self._listener, self._stranger, self._nowhere):
            hub.client.close()

    def _register(self):
        self._identifiers = {}
        self._tags = {
            "phone": ["city:bern", "user:alice"], "tablet": ["city:rome", "user:alice"],
            "other": ["city:bern", "user:bob"],
        }
        for name, token in self._tokens.items():
            status, identifier = self._hub.new_identifier()
            checks.equal("a new registration id is created", status, 201)
            checks.equal(f"registering {name} succeeds", self._hub.register(identifier, token, self._tags[name]), 200)
            self._identifiers[name] = identifier

    def _read(self, client):
        found = {entry["RegistrationId"]: entry for entry in client.list_registrations()}
        checks.equal("the list has all registrations", set(found), set(self._identifiers.values()))
        for name, identifier in self._identifiers.items():
            entry = client.get_registration(identifier)
            checks.equal(f"{name}'s registration has its id", entry.get("RegistrationId"), identifier)
            checks.equal(f"{name}'s device token is as it was sent", entry.get("DeviceToken"), self._tokens[name])
            checks.equal(f"{name}'s tags are as they were sent", sorted(entry.get("Tags", [])), self._tags[name])
            checks.equal(f"{name}'s first etag", entry.get("etag"), 'W/"1"')
            checks.equal(f"{name} is titled with its id", entry.get("title"), identifier)
            checks.that(f"{name}'s entry has an address", f"/registrations/{identifier}" in entry.get("id", ""), entry)
            checks.equal(f"{name} is listed as it is read", found.get(identifier), entry)
        checks.equal("a page holds no more than was asked for", len(client.list_registrations(top=2)), 2)

    async def _send(self, client):
        body = create_apple_body(alert="Grüße, „Alice“ \U0001f426\nbye", badge=3, custom={"order": "17"})
        headers = {"apns-priority": "5", "apns-collapse-id": "greeting", "apns-expiration": "0"}
        client.send_notification(create_apple_notification(body, headers), tag_expression="user:alice")
        message = self._hub.last_message()
        for delivery in await self._arrive(body, "phone", "tablet"):
            wanted = headers | {"apns-push-type": "alert", "apns-topic": "com.example.app"}
            checks.equal("the apns fields arrive", {name: delivery.get(name) for name in wanted}, wanted)
        await self._outcome(client, message, "Completed", 2)

        body = create_apple_body(alert="expression")
        expression = "(user:alice || user:bob) && !city:rome"
        client.send_notification(create_apple_notification(body), tag_expression=expression)
        await self._arrive(body, "phone", "other")

        body = create_apple_body(sound=None, content_available=1, custom={"silent": "1"})
        client.send_broadcast_notification(create_apple_notification(json.loads(body)))
        for delivery in await self._arrive(body, "phone", "tablet", "other"):
            kind = (delivery.get("apns-push-type"), delivery.get("apns-priority"))
            checks.equal("a silent push is sent as one", kind, ("background", "5"))

        body = create_apple_body(alert="void")
        client.send_notification(create_apple_notification(body), tag_expression="user:nobody")
        await self._outcome(client, self._hub.last_message(), "NoTargetFound", 0)

    async def _arrive(self, body, *names):
        """The deliveries of this body, which must be exactly one for each device."""
        expected = sorted(self._tokens[name].lower() for name in names)

        def deliveries():
            with open(self._ledger, encoding="utf-8") as lines:
                found = [json.loads(line) for line in lines if line.endswith("\n")]
            wanted = json.loads(body)
            own = [one for one in found if one["token"].startswith(expected[0][:2])]
            self._found = [one for one in own if json.loads(one["payload"]) == wanted]
            return len(self._found) >= len(expected)

        await eventually(deliveries)
        checks.equal(f"{' and '.join(names)} alone get it", sorted(one["token"] for one in self._found), expected)
        return self._found

    async def _outcome(self, client, message, state, successes):
        def details():
            try:
                text = client.get_notification_outcome_details(message)["_raw_xml"]
            except AzureNHError as error:
                return None if error.status_code == 404 else error
            tree = ElementTree.fromstring(text)
            if tree.findtext(f"{{{hub_client.SERVICE}}}State") in ("Enqueued", "Processing"):
                return None
            return tree

        tree = await eventually(details)
        if not isinstance(tree, ElementTree.Element):
            return checks.that("telemetry is there", False, tree)
        service = f"{{{hub_client.SERVICE}}}"
        checks.equal("telemetry names the message", tree.findtext(f"{service}NotificationId"), message)
        checks.equal("telemetry shows the state", tree.findtext(f"{service}State"), state)
        outcomes = tree.iterfind(f"{service}ApnsOutcomeCounts/{service}Outcome")
        counts = {one.findtext(f"{service}Name"): int(one.findtext(f"{service}Count")) for one in outcomes}
        checks.equal("telemetry counts the successes", counts.get("Success", 0), successes)
        return None

    def _refusals(self, client):
        notification = create_apple_notification(create_apple_body(alert="never"))
        long = create_apple_notification(create_apple_body(alert="x" * 5000))
        cases = [
            ("a word operator", 400, lambda: client.send_notification(notification, tag_expression="a AND b")),
            ("an unknown format", 400, lambda: client.send_notification(notification | {"platform": "pigeon"})),
            ("a body that is no JSON", 400, lambda: client.send_notification(notification | {"body": "{"})),
            ("a body over 4 KB", 413, lambda: client.send_notification(long)),
            ("an unknown registration", 404, lambda: client.get_registration("1-1-1")),
            ("an unknown message", 404, lambda: client.get_notification_outcome_details("1-1-1-1")),
            ("a wrong key", 401, lambda: self._stranger.client.list_registrations()),
            ("a listener that sends", 403, lambda: self._listener.client.send_notification(notification)),
            ("a listener that lists", 403, lambda: self._listener.client.list_registrations()),
            ("an unknown hub", (401, 404), lambda: self._nowhere.client.list_registrations()),
        ]
        for name, status, work in cases:
            error = checks.raises(f"{name} is refused", AzureNHError, work)
            if error is None:
                continue
            statuses = status if isinstance(status, tuple) else (status,)
            checks.that(f"{name} answers {status}", error.status_code in statuses, error.status_code)
            if error.body:
                tree = ElementTree.fromstring(error.body)
                shape = (tree.tag, [child.tag for child in tree], tree.findtext("Code"))
                checks.equal(f"{name} has an error body", shape, ("Error", ["Code", "Detail"], str(error.status_code)))

    async def _delete(self, client):
        checks.equal("deleting answers with nothing", client.delete_registration(self._identifiers["tablet"]), {})
        gone = checks.raises(
            "a deleted registration is gone", AzureNHError, lambda: client.get_registration(self._identifiers["tablet"])
        )
        checks.equal("its status", gone and gone.status_code, 404)
        body = create_apple_body(alert="after the deletion")
        client.send_notification(create_apple_notification(body), tag_expression="user:alice")
        message = self._hub.last_message()
        await self._arrive(body, "phone")
        await self._outcome(client, message, "Completed", 1)
        for name in ("phone", "other"):
            client.delete_registration(self._identifiers[name])
        checks.equal("the list is empty", client.list_registrations(), [])


async def course(binary, directory):
    peer = processes.APNsPeer(os.path.join(directory, "apns"))
    data = os.path.join(directory, "data")
    server = processes.Server(
        binary, data, os.path.join(directory, "server.log"), "--tls-listen", "127.0.0.1:0", "--tls-self-signed"
    )
    os.mkdir(data, 0o700)
    await peer.start()
    try:
        await server.start()  # the hub is created while the server runs, which must follow at once
        rules = processes.create_hub(binary, data, "demo")
        credential = ["hub", "credential", "set", "demo", "apns", *peer.credential_arguments(), "--data", data]
        processes.martlet(binary, *credential)
        os.environ["SSL_CERT_FILE"] = os.path.join(data, "tls", "ca.pem")
        addresses = {"http": f"http://127.0.0.1:{server.port}", "https": f"sb://127.0.0.1:{server.ports['https']}"}
        for scheme, address in addresses.items():
            await Course(scheme, address, "demo", rules, peer.ledger).run()
    finally:
        if server.process:
            code, _ = await server.stop()
            checks.equal("SIGTERM ends the server with 0", code, 0)
        code, counts = await peer.stop()
        checks.equal("the APNs peer has nothing to complain of", code, 0)
        print(f"notification-hub-client: {counts.strip()}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as directory:
        checks.finish(course(os.path.abspath(sys.argv[1]), os.path.realpath(directory)))


if __name__ == "__main__":
    main()
