"""PyPI's azure-notification-hub-unofficial against a real `martlet serve`, over http and https: every operation it has.

The package sends, lists, reads and deletes but cannot create a registration, so those are put with its own client,
addresses and signatures. What it sends must arrive at the strict APNs peer; of what goes to platforms that nothing
sends to, telemetry must say so. What the package itself gets wrong is checked too, and printed.

    notification_hub_client.py MARTLET
"""

import base64
import json
import os
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from datetime import datetime, timedelta, timezone

import azure_notification_hub as package
from azure_notification_hub import (
    AzureNHError, NotificationHubsClient, create_apple_body, create_apple_notification,
)

import hub_client
import processes
from checks import Checks, eventually

checks = Checks("notification-hub-client")

# What the device tokens of each course begin with.
MARKS = {"http": "0a", "https": "0b"}
# A browser's public key: a point of the curve.
_POINT = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
# Platforms that the server sends to, for which the hub has no credential here.
SENT_TO = {"Adm", "Browser", "FcmV1", "Gcm", "Mpns", "Windows"}


class Hub:
    """One hub of the server as the package sees it."""

    def __init__(self, address, name, rule):
        rule_name, key = rule
        self._answers = []
        self.connection = f"Endpoint={address}/;SharedAccessKeyName={rule_name};SharedAccessKey={key}"
        self.client = NotificationHubsClient(self.connection, name)
        # The package drops the answer's Location, where the message's id is.
        self.client._client.event_hooks["response"] = [self._answers.append]

    def register(self, identifier, token, tags):
        url = self.client._request_url(f"/registrations/{identifier}")
        headers = self.client._create_headers({"Content-Type": "application/atom+xml;type=entry;charset=utf-8"})
        answer = self.client._client.put(url, content=hub_client.registration_entry(token, tags), headers=headers)
        return answer.status_code

    def new_identifier(self):
        url, headers = self.client._request_url("/registrationids"), self.client._create_headers()
        answer = self.client._client.post(url, headers=headers)
        return answer.status_code, answer.headers["location"].rpartition("/registrationids/")[2].partition("?")[0]

    def register_element(self, identifier, element, parts):
        """A native registration of any platform, tagged `all`."""
        fields = "".join(f"<{name}>{value}</{name}>" for name, value in parts.items())
        entry = (
            f'<entry xmlns="{hub_client.ATOM}"><content type="application/xml"><{element}RegistrationDescription '
            f'xmlns="{hub_client.SERVICE}"><Tags>all</Tags>{fields}</{element}RegistrationDescription></content></entry>'
        )
        url, headers = self.client._request_url(f"/registrations/{identifier}"), self.client._create_headers()
        answer = self.client._client.put(url, content=entry, headers=headers)
        return answer.status_code

    def last_answer(self):
        return self._answers[-1]

    def last_message(self, kind="messages"):
        return self.last_answer().headers["location"].rpartition(f"/{kind}/")[2].partition("?")[0]


class Course:
    def __init__(self, scheme, address, name, rules, ledger):
        self._scheme, self._name, self._ledger = scheme, name, ledger
        full, listen = "DefaultFullSharedAccessSignature", "DefaultListenSharedAccessSignature"
        self._hub = Hub(address, name, (full, rules[full]))
        self._listener = Hub(address, name, (listen, rules[listen]))
        self._stranger = Hub(address, name, (full, "d3Jvbmc="))
        self._nowhere = Hub(address, "nowhere", (full, rules[full]))
        mark = MARKS[scheme]
        self._tokens = {name: mark + f"{number}C" * 31 for number, name in enumerate(("phone", "tablet", "other"), 1)}

    async def run(self):
        client = self._hub.client
        self._register()
        self._read(client)
        await self._send(client)
        await self._formats(client)
        await self._schedule(client)
        await self._test(client)
        await self._templates(client)
        self._installations(client)
        self._refusals(client)
        self._faults(client)
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
        with NotificationHubsClient(f"{self._hub.connection};EntityPath={self._name}", "another") as named:
            checks.equal("a connection string that names the hub leads to it", len(named.list_registrations()), len(found))

    async def _send(self, client):
        body = create_apple_body(alert="Grüße, „Alice“ \U0001f426\nbye", badge=3, custom={"order": "17"})
        headers = {"apns-priority": "5", "apns-collapse-id": "greeting", "apns-expiration": "0"}
        client.send_notification(create_apple_notification(body, headers), tag_expression="user:alice")
        message = self._hub.last_message()
        for delivery in await self._arrive(body, "phone", "tablet"):
            wanted = headers | {"apns-push-type": "alert", "apns-topic": "com.example.app"}
            checks.equal("the apns fields arrive", {name: delivery.get(name) for name in wanted}, wanted)
        await self._outcome(client, message, "Completed", 2)

        body = create_apple_body(alert="until midnight")
        tomorrow = datetime.now(timezone.utc).replace(microsecond=0) + timedelta(days=1)
        headers = {"ServiceBusNotification-Apns-Expiry": tomorrow.strftime("%m/%d/%Y %H:%M:%S")}
        client.send_notification(create_apple_notification(body, headers), tag_expression="user:bob")
        [delivery] = await self._arrive(body, "other")
        checks.equal("the hub's expiry arrives as the service's", delivery.get("apns-expiration"),
                     str(int(tomorrow.timestamp())))

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

    async def _arrive(self, body, *names, times=1):
        """The deliveries of this body, which must be exactly as many for each device."""
        expected = sorted(self._tokens[name].lower() for name in names for _ in range(times))

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

    # What each platform's registration is called in XML, what its handle is, and what may be sent to it.
    def _platforms(self):
        text = {"data": {"m": "hi"}}
        toast = package.create_windows_toast_body("hi")
        return {
            "Gcm": ({"GcmRegistrationId": f"{self._scheme}-gcm"}, [
                package.create_fcm_legacy_notification(package.create_fcm_legacy_body(data={"m": "hi"}))]),
            "FcmV1": ({"FcmV1RegistrationId": f"{self._scheme}-fcm"}, [
                package.create_fcm_v1_notification(package.create_fcm_v1_body(data={"m": "hi"})),
                package.create_fcm_v1_notification({"message": {"notification": {"title": "Hi"}}})]),
            "Windows": ({"ChannelUri": f"https://db5.notify.windows.com/?token={self._scheme}"}, [
                package.create_windows_toast_notification(toast),
                package.create_windows_tile_notification("<tile/>"),
                package.create_windows_badge_notification('<badge value="1"/>'),
                package.create_windows_raw_notification("anything"),
                package.create_windows_notification(toast, headers={"X-WNS-TTL": "60"})]),
            "Mpns": ({"ChannelUri": f"http://sn1.notify.live.net/{self._scheme}"}, [
                package.create_windowsphone_notification(package.create_windowsphone_toast_body("hi")),
                package.create_windowsphone_notification(
                    package.create_windowsphone_toast_body("hi"),
                    {"X-WindowsPhone-Target": "toast", "X-NotificationClass": "2"})]),
            "Adm": ({"AdmRegistrationId": f"{self._scheme}-adm"}, [
                package.create_adm_notification(package.create_adm_body(data={"m": "hi"}, expires_after=60))]),
            "Baidu": ({"BaiduUserId": f"{self._scheme}-user", "BaiduChannelId": "1"}, [
                package.create_baidu_notification(package.create_baidu_body(title="Hi", description="there"))]),
            "Xiaomi": ({"XiaomiRegistrationId": f"{self._scheme}-xiaomi"}, [package.create_xiaomi_notification(text)]),
            "Browser": (self._subscription(), [package.create_browser_notification({"title": "Hi"})]),
        }

    def _subscription(self):
        def encode(octets):
            return base64.urlsafe_b64encode(octets).decode().rstrip("=")

        return {
            "Endpoint": f"https://push.example/{self._scheme}", "P256DH": _POINT,
            "Auth": encode(bytes(range(16))),
        }

    async def _formats(self, client):
        """Every format reaches its own platform's registrations, of which telemetry says what became of them."""
        counts = {"Gcm": "Gcm", "Windows": "Wns", "Mpns": "Mpns"}
        for element, (handle, notifications) in self._platforms().items():
            _, identifier = self._hub.new_identifier()
            checks.equal(f"a {element} registers", self._hub.register_element(identifier, element, handle), 200)
            for notification in notifications:
                name = f"{element}, {notification.get('headers', {})}"
                answer = client.send_notification(notification, tag_expression="all && !none")
                checks.equal(f"sending to {name} answers with nothing", answer, {})
                tree = await self._details(client, self._hub.last_message(), "Completed")
                found = self._counts(tree, counts.get(element, element))
                wanted = "InvalidCredentials" if element in SENT_TO else "NoPushService"
                checks.equal(f"{name} is counted as what it lacks", found, {wanted: 1})
                body = tree.findtext(f"{{{hub_client.SERVICE}}}NotificationBody")
                checks.equal(f"telemetry shows the body to {name} as it was sent", body, notification["body"])
            client.delete_registration(identifier)
        client.send_notification(package.create_browser_notification({"title": "Hi"}), ttl=60, urgency="high")
        await self._details(client, self._hub.last_message(), "NoTargetFound")

    async def _schedule(self, client):
        soon = datetime.now(timezone.utc) + timedelta(seconds=1.5)
        body = create_apple_body(alert="later")
        client.schedule_notification(soon, create_apple_notification(body), tag_expression="user:alice")
        message = self._hub.last_message("schedulednotifications")
        [delivery, *_] = await self._arrive(body, "phone", "tablet")
        late = delivery["time"] - soon.timestamp()
        checks.that("a scheduled notification does not come early", late >= 0, late)
        print(f"notification-hub-client: a scheduled notification was there {late:.3f} s after its time")
        await self._outcome(client, message, "Completed", 2)

        body = create_apple_body(alert="by a clock without a zone")
        naive = (datetime.now(timezone.utc) - timedelta(hours=1)).replace(tzinfo=None, microsecond=0)
        client.schedule_broadcast_notification(naive, create_apple_notification(body))
        await self._arrive(body, "phone", "tablet", "other")

        east = datetime.now(timezone(timedelta(hours=9))) + timedelta(days=300)
        client.schedule_notification(east, create_apple_notification(create_apple_body(alert="never")))
        message = self._hub.last_message("schedulednotifications")
        await self._details(client, message, "Scheduled")
        checks.equal("cancelling answers with nothing", client.cancel_scheduled_notification(message), {})
        await self._details(client, message, "Canceled")
        error = checks.raises(
            "cancelling what is not there is refused", AzureNHError, lambda: client.cancel_scheduled_notification("1"))
        checks.equal("its status", error and error.status_code, 404)

    async def _templates(self, client):
        """Templates come with installations, which the package takes in any form, and are filled in for each device."""
        names = {"watch": "4", "car": "5"}
        self._tokens |= {name: MARKS[self._scheme] + f"{number}C" * 31 for name, number in names.items()}
        alert = """{"aps":{"alert":"{$(greeting) + ', ' + $(name) + '!'}"}}"""
        counting = '{"aps":{"alert":"$(greeting)","badge":"#(count)"}}'
        for name, templates in {
            "watch": {"hello": {"body": alert, "tags": ["greeted"]}},
            "car": {"hello": {"body": alert, "headers": {"apns-priority": "5"}}, "badge": {"body": counting, "tags": ["counted"]}},
        }.items():
            made = {
                "installationId": f"{self._scheme}-{name}", "platform": "apns", "pushChannel": self._tokens[name],
                "tags": ["templates"], "templates": templates, "pushVariables": {"name": name}, "userId": "dora",
            }
            checks.equal(f"the installation of the {name} is put", client.create_or_update_installation(made), {})
        listed = [one for one in client.list_registrations() if one.get("BodyTemplate") == alert]
        checks.equal("each template is listed as a registration", len(listed), 2)

        said = {"greeting": 'Grüße, "you" \\ there', "count": "7"}
        notification = package.create_template_notification(said)
        client.send_notification(notification, tag_expression="hello && templates")
        message = self._hub.last_message()
        for name in names:
            body = json.dumps({"aps": {"alert": f"{said['greeting']}, {name}!"}})
            [delivery] = await self._arrive(body, name)
            wanted = "5" if name == "car" else "10"
            checks.equal(f"the template's header goes to the {name}", delivery.get("apns-priority"), wanted)
        await self._outcome(client, message, "Completed", 2)

        client.send_broadcast_notification(package.create_template_notification({"greeting": "Hi", "count": "three"}))
        message = self._hub.last_message()
        for name in names:
            await self._arrive(json.dumps({"aps": {"alert": f"Hi, {name}!"}}), name)
        tree = await self._details(client, message, "Completed")
        found = self._counts(tree, "Apns")
        checks.equal("what is no number is the outcome of its device", found, {"Success": 2, "InvalidNotificationFormat": 1})

        soon = datetime.now(timezone.utc) + timedelta(seconds=1)
        client.schedule_notification(soon, package.create_template_notification({"greeting": "Soon", "count": "1"}), "counted")
        await self._arrive(json.dumps({"aps": {"alert": "Soon", "badge": 1}}), "car")

        patches = [{"op": "replace", "path": "/pushVariables/name", "value": "wrist"}, {"op": "remove", "path": "/tags/templates"}]
        checks.equal("a push variable is patched", client.update_installation(f"{self._scheme}-watch", patches), {})
        user = package.create_template_notification({"greeting": "Again"})
        answer = client.send_notification(user, "$UserId:{dora} && hello && !templates", test_send=True)
        self._report(answer, "a template test", {"watch": True})
        await self._arrive(json.dumps({"aps": {"alert": "Again, wrist!"}}), "watch")
        client.send_notification(user, f"$InstallationId:{{{self._scheme}-watch}}")
        await self._outcome(client, self._hub.last_message(), "Completed", 1)
        body = json.dumps({"aps": {"alert": "Again, wrist!"}})
        await self._arrive(body, "watch", times=2)
        for name in names:
            client.delete_installation(f"{self._scheme}-{name}")

    async def _test(self, client):
        for name, expression, devices in (
            ("a test send", "user:bob", ["other"]), ("a test broadcast", None, ["phone", "tablet", "other"]),
        ):
            body = create_apple_body(alert=name)
            notification = create_apple_notification(body)
            if expression:
                answer = client.send_notification(notification, expression, test_send=True)
            else:
                answer = client.send_broadcast_notification(notification, test_send=True)
            self._report(answer, name, dict.fromkeys(devices, True))
            await self._arrive(body, *devices)
        _, identifier = self._hub.new_identifier()
        self._tokens["lost"] = MARKS[self._scheme] + "00" * 31
        self._hub.register(identifier, self._tokens["lost"], ["lost"])
        answer = client.send_notification(create_apple_notification(body), "lost", test_send=True)
        self._report(answer, "a test of a dead device", {"lost": False})
        checks.equal("a test does not remove it", client.get_registration(identifier)["DeviceToken"], self._tokens["lost"])
        client.delete_registration(identifier)
        answer = client.send_notification(create_apple_notification(body), "user:nobody", test_send=True)
        self._report(answer, "a test without targets", {})

    def _report(self, answer, name, devices):
        """The answer to a test send must say of each device whether it was reached."""
        def text(element, name):
            return element.findtext(f"{{{hub_client.SERVICE}}}{name}")

        tree = ElementTree.fromstring(answer["_raw_xml"])
        checks.equal(f"{name} is answered with its outcome", tree.tag, f"{{{hub_client.SERVICE}}}NotificationOutcome")
        reached = sum(devices.values())
        counts = (text(tree, "Success"), text(tree, "Failure"))
        checks.equal(f"{name} is counted", counts, (str(reached), str(len(devices) - reached)))
        results = list(tree.iter(f"{{{hub_client.SERVICE}}}RegistrationResult"))
        platforms = {text(one, "ApplicationPlatform") for one in results}
        checks.that(f"{name} names the platform", platforms <= {"apple"}, platforms)
        checks.that(f"{name} names the registrations", all(text(one, "RegistrationId") for one in results))
        outcomes = {
            True: "The Notification was successfully sent to the Push Notification System",
            False: "The Push Notification System handle for the registration is invalid",
        }
        found = {text(one, "PnsHandle").lower(): text(one, "Outcome") for one in results}
        wanted = {self._tokens[device].lower(): outcomes[is_reached] for device, is_reached in devices.items()}
        checks.equal(f"{name} has a result for each device", found, wanted)
        checks.equal(f"{name} has no id", self._hub.last_answer().headers.get("location"), None)

    def _installations(self, client):
        identifier = f"{self._scheme}-browser"
        channel = {name.lower(): value for name, value in self._subscription().items()}
        made = package.create_browser_installation(identifier, channel, ["user:carol"], "2099-01-01T00:00:00Z")
        checks.equal("an installation is put", client.create_or_update_installation(made), {})
        found = client.get_installation(identifier)
        wanted = {"installationId": identifier, "platform": "browser", "pushChannel": channel, "tags": ["user:carol"]}
        checks.equal("and comes back", {name: found.get(name) for name in wanted}, wanted)
        patches = [{"op": "add", "path": "/tags", "value": "news"}, {"op": "replace", "path": "/userId", "value": "carol"}]
        checks.equal("it is patched", client.update_installation(identifier, patches), {})
        found = client.get_installation(identifier)
        checks.equal("and changed", (sorted(found["tags"]), found.get("userId")), (["news", "user:carol"], "carol"))
        listed = [entry for entry in client.list_registrations() if entry.get("Endpoint") == channel["endpoint"]]
        checks.equal("its channel is listed as a registration", len(listed), 1)
        checks.equal("it is deleted", client.delete_installation(identifier), {})
        gone = checks.raises("and is gone", AzureNHError, lambda: client.get_installation(identifier))
        checks.equal("with the status", gone and gone.status_code, 404)

    async def _outcome(self, client, message, state, successes):
        tree = await self._details(client, message, state)
        if tree is not None:
            checks.equal("telemetry counts the successes", self._counts(tree, "Apns").get("Success", 0), successes)

    def _counts(self, tree, element):
        service = f"{{{hub_client.SERVICE}}}"
        outcomes = tree.iterfind(f"{service}{element}OutcomeCounts/{service}Outcome") if tree is not None else []
        return {one.findtext(f"{service}Name"): int(one.findtext(f"{service}Count")) for one in outcomes}

    async def _details(self, client, message, state):
        """The telemetry of a message that must come to this state."""
        def details():
            try:
                text = client.get_notification_outcome_details(message)["_raw_xml"]
            except AzureNHError as error:
                return None if error.status_code == 404 else error
            tree = ElementTree.fromstring(text)
            found = tree.findtext(f"{{{hub_client.SERVICE}}}State")
            return None if found in ("Enqueued", "Processing") and found != state else tree

        tree = await eventually(details)
        if not isinstance(tree, ElementTree.Element):
            checks.that("telemetry is there", False, tree)
            return None
        service = f"{{{hub_client.SERVICE}}}"
        checks.equal("telemetry names the message", tree.findtext(f"{service}NotificationId"), message)
        checks.equal("telemetry shows the state", tree.findtext(f"{service}State"), state)
        return tree

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

    def _faults(self, client):
        """What the package itself gets wrong: where one of these is mended, the package has changed."""
        def fault(sentence, is_there):
            checks.that(f"the package's own fault: {sentence}", is_there)
            self.faults.append(sentence)

        self.faults = []
        answer = client.send_notification(create_apple_notification(create_apple_body(alert="void")), "user:nobody")
        fault("a send's answer has no id, as Location is dropped", answer == {} and self._hub.last_message())
        toast = package.create_windows_toast_body("a < b & c")
        fault("a toast's text is not escaped, so it may be no XML", not is_xml(toast))
        phone = package.create_windowsphone_toast_body("hi")
        fault("a Windows Phone toast has no namespace and no Notification around it", not is_xml(phone))
        message = json.loads(package.create_fcm_v1_body(data={"m": "hi"}))
        fault("an FCM v1 body has no message around it (trap 41)", "message" not in message)
        url = client.get_feedback_container_url()
        fault("the feedback container's URL is lost, as it is looked for in JSON", url == "" and self._hub.last_answer().text)
        moment = datetime(2099, 1, 1, 12)
        fault("a local time is scheduled without its zone, which means UTC", moment.isoformat() == "2099-01-01T12:00:00")

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


def is_xml(text):
    try:
        ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return False
    return True


async def course(binary, directory):
    dead = [option for mark in MARKS.values() for option in ("--gone", mark + "00" * 31)]
    peer = processes.APNsPeer(os.path.join(directory, "apns"), *dead)
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
            course = Course(scheme, address, "demo", rules, peer.ledger)
            await course.run()
        for fault in course.faults:
            print(f"notification-hub-client: the package's own: {fault}")
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
