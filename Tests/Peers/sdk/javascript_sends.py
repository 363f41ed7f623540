"""What the JavaScript SDK sends: to tags, to everybody, to handles, as a test, for later; and what it reads of it."""

import datetime
import json
import time

from sdk import documents, javascript_reader
from sdk.java_hub import AUTH, MPNS_TEMPLATE, P256DH, TOAST_TEMPLATE
from sdk.java_sends import ALERT_TEMPLATE
from sdk.javascript_hub import ATOM, VERSION, registration_xml
from sdk.jobs import Container

XML = "application/xml;charset=utf-8"
SENT = "The Notification was successfully sent to the Push Notification System"


class JavaScriptSends:
    """Sends, broadcasts, schedules and their cancelling, details, the feedback container."""

    first, second, third = "bb21" * 16, "bb22" * 16, "bb23" * 16

    def __init__(self, place, sdk):
        self.place, self.sdk = place, sdk

    def run(self):
        for token, tag in ((self.first, "one"), (self.second, "two")):
            self._register("Apple", {"DeviceToken": token}, ["sends", f"send:{tag}"])
        self.tags()
        self.direct()
        self.batches()
        self.platforms()
        self.templates()
        self.tests()
        self.schedules()
        self.feedback()
        self.refusals()

    def _register(self, kind, handle, tags, template=None):
        xml = registration_xml(kind, handle, tags, template, "sent" if template else None)
        answer = self.sdk.call("createRegistration", "POST", "/registrations", ATOM, xml)
        self.sdk.expect(f"a registration of {kind} to send to", answer, 200, 201)

    @staticmethod
    def alert(text):
        return json.dumps({"aps": {"alert": text}}, ensure_ascii=False, separators=(",", ":"))

    def _sent(self, sentence, answer, text, tokens, query=VERSION):
        """The id of a message that arrives once at each of the devices."""
        if not self.sdk.expect(sentence, answer, 201):
            return ""
        identifier = self.sdk.third(sentence, answer)
        self.sdk.field(sentence, answer, "location", self.sdk.address("messages", identifier, query))
        for name in ("trackingid", "x-ms-correlation-request-id"):
            self.sdk.that(f"{sentence} has {name}", answer[name], answer)
        for token in tokens:
            self.place.arrived(f"JavaScript: {sentence}", token, self.alert(text))
        return identifier

    def tags(self):
        sdk = self.sdk
        headers = {
            "apns-push-type": "alert", "apns-priority": "5", "apns-collapse-id": "js", "apns-topic": "com.example.app",
            "apns-expiration": str(int(time.time()) + 600),
        }
        text = "js tags „Grüße“ \U0001f426 <&>"
        answer = sdk.send("apple", self.alert(text), "send:one||send:nobody", headers)
        identifier = self._sent("a send to tags", answer, text, [self.first])
        found = self.place.arrived("JavaScript: a send with headers", self.first, self.alert(text))
        sdk.equal("the headers of APNs arrive", {name: found.get(name) for name in headers}, headers)
        read = sdk.telemetry(identifier, "a send to tags")
        wanted = {
            "NotificationId": identifier, "Location": sdk.address("messages", identifier), "State": "Completed",
            "TargetPlatforms": "apple", "NotificationBody": self.alert(text), "Apns": {"Success": 1},
        }
        sdk.equal("telemetry of a send to tags", {name: read.get(name) for name in wanted}, wanted)
        answer = sdk.send("apple", self.alert("js everybody"))
        identifier = self._sent("a broadcast", answer, "js everybody", [self.first, self.second])
        found = sdk.telemetry(identifier, "a broadcast").get("Apns", {})
        sdk.that("a broadcast has several successes", found.get("Success", 0) > 2, found)
        answer = sdk.send("apple", self.alert("js nobody"), "send:nobody")
        read = sdk.telemetry(self._sent("a send to nobody", answer, "js nobody", []), "a send to nobody")
        sdk.equal("a send to nobody", read.get("State"), "NoTargetFound")

    def direct(self):
        query = f"{VERSION}&direct=true"
        answer = self.sdk.direct("apple", self.alert("js direct"), self.second.upper())
        location = answer["location"] or ""
        self.sdk.that("a direct send repeats its flag", "&direct" in location, location)
        identifier = self._direct("a direct send", answer, "js direct", [self.second])
        found = self.sdk.telemetry(identifier, "a direct send").get("Apns")
        self.sdk.equal("a direct send succeeds", found, {"Success": 1})
        browser = {"endpoint": "https://127.0.0.1:9/push/js?x=1", "p256dh": P256DH, "auth": AUTH}
        answer = self.sdk.direct("browser", '{"title":"js"}', browser)
        self._direct("a direct send to a browser", answer, "js", [])

    def _direct(self, sentence, answer, text, tokens):
        """`Location` repeats the query, whose flag may be bare."""
        bare = (answer["location"] or "").endswith("&direct")
        return self._sent(sentence, answer, text, tokens, f"{VERSION}&direct" + ("" if bare else "=true"))

    def batches(self):
        answer = self.sdk.batch("apple", self.alert("js batch"), [self.first, self.second])
        identifier = self._direct("a batch", answer, "js batch", [self.first, self.second])
        self.sdk.equal("a batch succeeds", self.sdk.telemetry(identifier, "a batch").get("Apns"), {"Success": 2})

    def platforms(self):
        data, toast = '{"data":{"m":"hi"}}', TOAST_TEMPLATE.replace("$(msg)", "hi")
        json_type = "application/json;charset=utf-8"
        mpns = {"X-NotificationClass": "2", "X-WindowsPhone-Target": "toast"}
        for form, body, content, headers, counts in (
            ("gcm", data, json_type, {}, "Gcm"), ("fcmv1", '{"message":{"data":{"m":"hi"}}}', json_type, {}, "FcmV1"),
            ("adm", data, json_type, {}, "Adm"), ("baidu", '{"title":"hi","description":"hi"}', json_type, {}, "Baidu"),
            ("xiaomi", '{"title":"hi"}', json_type, {}, "Xiaomi"),
            ("windows", toast, XML, {"X-WNS-Type": "wns/toast"}, "Wns"),
            ("windows", "raw", "application/octet-stream", {"X-WNS-Type": "wns/raw"}, "Wns"),
            ("windowsphone", MPNS_TEMPLATE.replace("$(msg)", "hi"), XML, mpns, "Mpns"),
        ):
            sentence = f"a send to {form}"
            identifier = self._sent(sentence, self.sdk.send(form, body, "js-changed", headers, content), "", [])
            read = self.sdk.telemetry(identifier, sentence)
            self.sdk.equal(f"telemetry of {sentence} has its platform", read.get("TargetPlatforms"), form)
            # The SDK reads no counts of MPNS.
            if counts != "Mpns":
                self.sdk.equal(f"telemetry of {sentence} counts its device", sum(read.get(counts, {}).values()), 1)

        sent = self._sent("a send to browser", self.sdk.send("browser", '{"title":"hi"}', "js-changed"), "", [])
        self.sdk.telemetry(sent, "a send to browser")

    def templates(self):
        self._register("AppleTemplate", {"DeviceToken": self.third}, ["templated"], ALERT_TEMPLATE)
        properties = json.dumps({"title": 'js "quoted" \\ é', "count": "4"}, ensure_ascii=False)
        identifier = self._sent("a template send", self.sdk.send("template", properties, "templated"), "", [])
        wanted = json.dumps({"aps": {"alert": 'js "quoted" \\ é', "badge": 4}})
        self.place.arrived("JavaScript: a template send", self.third, wanted)
        read = self.sdk.telemetry(identifier, "a template send")
        self.sdk.equal("telemetry of a template send", read.get("Apns"), {"Success": 1})

    def tests(self):
        """A test send, which answers with what came of it."""
        for sentence, tags, wanted in (("a test send", "send:one", 1), ("a test send to nobody", "send:nobody", 0)):
            body = self.alert(f"js {sentence}")
            answer = self.sdk.send("apple", body, tags, test="true")
            if not self.sdk.expect(sentence, answer, 201):
                continue
            self.sdk.field(sentence, answer, "content-type", "application/xml; charset=utf-8")
            found = self.sdk.read(sentence, javascript_reader.outcome, answer)
            if not found:
                continue
            self.sdk.equal(f"{sentence} counts", found[:2], (wanted, 0))
            self.sdk.equal(f"{sentence} has its results", len(found[2]), wanted)
            for result in found[2]:
                texts = result["ApplicationPlatform"], result["PnsHandle"].lower(), result["Outcome"]
                self.sdk.equal(f"a result of {sentence}", texts, ("apple", self.first, SENT))
            if wanted:
                self.place.arrived(f"JavaScript: {sentence}", self.first, body)

    def schedules(self):
        sdk = self.sdk

        def schedule(text, seconds):
            moment = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
            text_of_moment = moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03}Z"
            fields = {
                "ServiceBusNotification-ScheduleTime": text_of_moment,
                "ServiceBusNotification-Format": "apple", "Content-Type": "application/json;charset=utf-8",
                "ServiceBusNotification-Tags": "send:one",
            }
            body = self.alert(text).encode()
            return sdk.call("scheduleNotification", "POST", "/schedulednotifications/", fields, body)

        answer = schedule("js later", 3600)
        sdk.expect("a schedule", answer, 201)
        identifier = sdk.third("a schedule", answer)
        sdk.field("a schedule", answer, "location", sdk.address("schedulednotifications", identifier))
        sdk.telemetry(identifier, "a schedule", ["Scheduled"])
        cancelled = sdk.call("cancelScheduledNotification", "DELETE", f"/schedulednotifications/{identifier}")
        sdk.expect("cancelling", cancelled, 200)
        sdk.telemetry(identifier, "a cancelled schedule", ["Canceled"])
        answer = schedule("js soon", 1.5)
        soon = sdk.third("a schedule of soon", answer)
        self.place.arrived("JavaScript: a schedule of soon", self.first, self.alert("js soon"))
        sdk.telemetry(soon, "a schedule of soon", ["Completed"])
        unknown = sdk.call("cancelScheduledNotification", "DELETE", "/schedulednotifications/none")
        sdk.refused("cancelling what never was", unknown, 404)

    def feedback(self):
        """The bare URL of a container, which lists its files when it is asked as a blob service is."""
        answer = self.sdk.feedback()
        if self.sdk.unserved(answer, "the feedback container"):
            return
        if self.sdk.expect("the feedback container", answer, 200):
            found = answer.text
            holds = found.startswith("https://") and "sig=" in found
            self.sdk.that("it is an https URL with a signature", holds, found)
            container = Container(self.place, found)
            listing = container.list()
            self.sdk.expect("its listing", listing, 200)
            for name in self.sdk.read("its listing", documents.blob_names, listing) or []:
                self.sdk.read("a file of feedback", documents.feedback_lines, container.get(name))

    def refusals(self):
        sdk = self.sdk
        answer = sdk.send("fcm2", "{}", "send:one")
        said = 'The HTTP header "ServiceBusNotification-Format" has an invalid value'
        sdk.refused("an unknown format", answer, 400, said)
        sdk.refused("a batch of nobody", sdk.batch("apple", self.alert("x"), []), 400)
