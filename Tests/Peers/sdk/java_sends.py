"""What the Java SDK sends: to tags, to one handle, to many, for later; and how it reads what became of it."""

import calendar
import json
import time
import uuid

from sdk import java_reader
from sdk.java_hub import JSON_TEMPLATE, MPNS_TEMPLATE, TOAST_TEMPLATE, registration_xml

ALERT_TEMPLATE = '{"aps":{"alert":"$(title)","badge":"#(count)"}}'
BOUNDARY = "nh-batch-multipart-boundary"
HALF_DAY = 12 * 3600


def twelve_hours(moment):
    """The default expiry of an Apple notification: a clock of twelve hours that does not say which half it is in."""
    return time.strftime("%m/%d/%Y %I:%M:%S", time.gmtime(moment))


def multipart(body, handles, kind="application/json; charset=UTF-8"):
    parts = [("notification", kind, body), ("devices", "application/json; charset=UTF-8", json.dumps(handles))]
    text = "".join(
        f"--{BOUNDARY}\r\nContent-Disposition: inline; name={name}\r\nContent-Type: {content}\r\n\r\n{value}\r\n"
        for name, content, value in parts)
    return f"{text}--{BOUNDARY}--\r\n"


class JavaSends:
    """`sendNotification`, `sendDirectNotification`, `scheduleNotification`, their cancelling and their telemetry."""

    first, second, third = "aa21" * 16, "aa22" * 16, "aa23" * 16

    def __init__(self, place, sdk):
        self.place, self.sdk = place, sdk

    def run(self):
        for token, tag in ((self.first, "one"), (self.second, "two")):
            xml = registration_xml("Apple", {"DeviceToken": token}, ["sends", f"send:{tag}"])
            self.sdk.create_registration(xml, f"a device of {tag}")
        self.tags()
        self.headers()
        self.direct()
        self.batches()
        self.platforms()
        self.templates()
        self.schedules()
        self.repeats()
        self.refusals()

    @staticmethod
    def alert(text):
        return json.dumps({"aps": {"alert": text}}, ensure_ascii=False, separators=(",", ":"))

    def apple(self, text, *arguments, **options):
        """As `createAppleNotification(body)`, whose headers have an expiry of a day ahead."""
        expiry = {"ServiceBusNotification-Apns-Expiry": twelve_hours(time.time() + 24 * 3600)}
        return self.sdk.send("apple", self.alert(text), *arguments, headers=expiry, **options)

    def tags(self):
        sdk = self.sdk
        self._sent("a set of tags", self.apple("java set", ["send:one", "send:nobody"]), "java set", [self.first])
        sentence, text = "an expression", "java expression „Grüße“ \U0001f426"
        answer = self.apple(text, "(send:one || send:two) && !send:two")
        identifier = self._sent(sentence, answer, text, [self.first])
        read = sdk.telemetry(identifier, sentence)
        if read:
            sdk.equal("telemetry is Completed", read["NotificationStatusFromString"], "Completed")
            sdk.equal("telemetry has the id", read["NotificationId"], identifier)
            sdk.equal("telemetry has the address", read["Location"], sdk.address("messages", identifier))
            sdk.equal("telemetry has the body", read["NotificationBody"], self.alert(text))
            sdk.equal("telemetry has the platform", read["TargetPlatforms"], "apple")
            sdk.equal("telemetry counts the success", read["ApnsOutcomeCounts"], {"Success": 1})
            sdk.that("telemetry has its times in order", read["EnqueueTimeFromString"]
                     <= read["StartTimeFromString"] <= read["EndTimeFromString"], read.values)
        answer = self.apple("java all")
        identifier = self._sent("a broadcast", answer, "java all", [self.first, self.second])
        listed = sdk.read("a list", java_reader.registrations, sdk.call("GET", f"/registrations?{sdk.version}"))
        handles = {one["DeviceToken"].lower() for one in listed if one.kind == "Apple"}
        read = sdk.telemetry(identifier, "a broadcast")
        found = read and read["ApnsOutcomeCounts"].get("Success")
        sdk.equal("a broadcast reaches every device once", found, len(handles))
        nobody = sdk.message("a send to nobody", self.apple("java nobody", "send:nobody"))
        read = sdk.telemetry(nobody, "a send to nobody")
        sdk.equal("a send to nobody", read and read["NotificationStatusFromString"], "NoTargetFound")

    def _sent(self, sentence, answer, text, tokens, query=None):
        """The id of a message that arrives once at each of the devices."""
        identifier = self.sdk.message(sentence, answer)
        wanted = self.sdk.address("messages", identifier, query or self.sdk.version)
        self.sdk.field(sentence, answer, "location", wanted)
        self.sdk.equal(f"{sentence} has no body in its answer", answer.body, b"")
        for token in tokens:
            self.place.arrived(f"Java: {sentence}", token, self.alert(text))
        return identifier

    def headers(self):
        """The expiry on a clock of twelve hours, and a caller's own headers, which replace even the format's."""
        now = time.time()
        for sentence, moment in {"before noon": "08:22:54", "after noon": "16:22:54"}.items():
            day = time.strftime("%m/%d/%Y", time.gmtime(now + 2 * 24 * 3600))
            meant = calendar.timegm(time.strptime(f"{day} {moment}", "%m/%d/%Y %H:%M:%S"))
            expiry = {"ServiceBusNotification-Apns-Expiry": twelve_hours(meant)}
            self.sdk.send("apple", self.alert(f"java {sentence}"), "send:one", headers=expiry)
            found = self.place.arrived(f"Java: an expiry {sentence}", self.first, self.alert(f"java {sentence}"))
            read = int(found.get("apns-expiration", 0))
            holds = read in (meant, meant - HALF_DAY)
            self.sdk.that(f"an expiry {sentence} is near what was meant", holds, read - meant)
        body = '{"aps":{"content-available":1},"own":"java"}'
        own = {"apns-push-type": "background", "apns-priority": "5"}
        answer = self.sdk.send(None, body, "send:one", headers=own | {"apns-collapse-id": "java"})
        self.sdk.message("a caller's own headers without a format", answer)
        found = self.place.arrived("Java: a caller's own headers", self.first, body)
        wanted = own | {"apns-collapse-id": "java"}
        self.sdk.equal("a caller's own headers arrive", {name: found.get(name) for name in wanted}, wanted)

    def direct(self):
        answer = self.apple("java direct", direct=self.second)
        identifier = self._sent("a direct send", answer, "java direct", [self.second], f"{self.sdk.version}&direct")
        read = self.sdk.telemetry(identifier, "a direct send")
        self.sdk.equal("a direct send succeeds", read and read["ApnsOutcomeCounts"], {"Success": 1})
        unknown = "aa2f" * 16
        self._sent("a direct send to a device that is not registered", self.apple("java unknown", direct=unknown),
                   "java unknown", [unknown], f"{self.sdk.version}&direct")

    def batches(self):
        version = f"{self.sdk.version}&direct"
        for number, content in enumerate((
            f"multipart/mixed; boundary={BOUNDARY}", f"multipart/mixed; charset=UTF-8; boundary={BOUNDARY}",
            f"multipart/mixed; boundary={BOUNDARY}; charset=ISO-8859-1",
        )):
            text = f"java batch {number}"
            fields = {"Content-Type": content, "ServiceBusNotification-Format": "apple"}
            body = multipart(self.alert(text), [self.first, self.second]).encode()
            answer = self.sdk.call("POST", f"/messages/$batch?{version}", fields, body)
            identifier = self._sent("a batch", answer, text, [self.first, self.second], version)
            read = self.sdk.telemetry(identifier, "a batch")
            self.sdk.equal("a batch succeeds twice", read and read["ApnsOutcomeCounts"], {"Success": 2})
        fields = {"Content-Type": f"multipart/mixed; boundary={BOUNDARY}", "ServiceBusNotification-Format": "apple"}
        second = f"--{BOUNDARY}\r\nContent-Disposition: inline; name=devices"
        for sentence, body in {
            "a batch of one part": multipart("x", []).partition(second)[0] + f"--{BOUNDARY}--\r\n",
            "a batch without devices": multipart(self.alert("x"), []),
            "a batch of more than a thousand": multipart(self.alert("x"), [self.first] * 1001),
        }.items():
            answer = self.sdk.call("POST", f"/messages/$batch?{version}", fields, body.encode())
            self.sdk.refused(sentence, answer, 400)

    def platforms(self):
        """Every other service's notification as its factory makes it; telemetry counts it under the service's name."""
        data = '{"data":{"m":"hi"}}'
        xml, toast = "application/xml; charset=ISO-8859-1", TOAST_TEMPLATE.replace("$(msg)", "hi")
        for form, body, content, headers, counts, target in (
            ("gcm", data, None, {}, "Gcm", "gcm"), ("adm", data, None, {}, "Adm", "adm"),
            ("fcmv1", '{"message":{"data":{"m":"hi"}}}', None, {}, "FcmV1", "fcmv1"),
            ("baidu", '{"title":"hi","description":"hi"}', None, {}, "Baidu", "baidu"),
            ("windows", toast, xml, {}, "Wns", "windows"),
            ("windows", "raw", "application/octet-stream", {"X-WNS-Type": "wns/raw"}, "Wns", "windows"),
            ("windowsphone", MPNS_TEMPLATE.replace("$(msg)", "hi"), xml, {}, "Mpns", "windowsphone"),
        ):
            sentence = f"a send to {form}"
            options = {"headers": headers, "content": content} if content else {"headers": headers}
            identifier = self.sdk.message(sentence, self.sdk.send(form, body, "changed", **options))
            read = self.sdk.telemetry(identifier, sentence)
            if not read:
                continue
            found = read[f"{counts}OutcomeCounts"] or {}
            self.sdk.equal(f"telemetry of {sentence} counts its device", sum(found.values()), 1)
            self.sdk.equal(f"telemetry of {sentence} has its platform", read["TargetPlatforms"], target)

        sent = self.sdk.message("a send to browser", self.sdk.send("browser", '{"title":"hi"}', "changed"))
        self.sdk.telemetry(sent, "a send to browser")

    def templates(self):
        sdk = self.sdk
        xml = registration_xml("AppleTemplate", {"DeviceToken": self.third}, ["templated"], ALERT_TEMPLATE)
        sdk.create_registration(xml, "a device with a template")
        sdk.create_registration(
            registration_xml("FcmV1Template", {"FcmV1RegistrationId": "java-templated"}, ["templated"], JSON_TEMPLATE),
            "another device with a template")
        properties = '{"title":"java „Grüße“ & <more>","count":"3","unused":"x"}'
        identifier = sdk.message("a template send", sdk.send("template", properties, "templated"))
        wanted = json.dumps({"aps": {"alert": "java „Grüße“ & <more>", "badge": 3}})
        self.place.arrived("Java: a template send", self.third, wanted)
        read = sdk.telemetry(identifier, "a template send")
        if read:
            sdk.equal("telemetry of a template send", read["ApnsOutcomeCounts"], {"Success": 1})
            found = set((read["TargetPlatforms"] or "").split(","))
            sdk.that("it names the template's platforms", {"appletemplate", "fcmv1template"} <= found, found)
        # A value with quotes, which the SDK does not escape.
        broken = sdk.send("template", '{"title":"he said "hi""}', "templated")
        sdk.refused("properties that are no JSON", broken, 400)

    def schedules(self):
        sdk = self.sdk

        def schedule(text, moment, tags="send:one"):
            fields = {"ServiceBusNotification-ScheduleTime": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment))}
            return sdk.send("apple", self.alert(text), tags, headers=fields, path="/schedulednotifications")

        answer = schedule("java later", time.time() + 3600)
        identifier = sdk.message("a schedule", answer)
        sdk.field("a schedule", answer, "location", sdk.address("schedulednotifications", identifier))
        read = sdk.telemetry(identifier, "a schedule", ["Scheduled"])
        sdk.equal("a schedule waits", read and read["NotificationStatusFromString"], "Scheduled")
        path = f"/schedulednotifications/{identifier}?{sdk.version}"
        sdk.expect("cancelling", sdk.call("DELETE", path), 200)
        read = sdk.telemetry(identifier, "a cancelled schedule", ["Canceled"])
        sdk.equal("a cancelled schedule", read and read["NotificationStatusFromString"], "Canceled")
        sdk.expect("cancelling again", sdk.call("DELETE", path), 200, 404)
        unknown = sdk.call("DELETE", f"/schedulednotifications/{uuid.uuid4().hex}-20260101000000-1-1?{sdk.version}")
        sdk.expect("cancelling what never was", unknown, 404)
        soon = sdk.message("a schedule of soon", schedule("java soon", time.time() + 2))
        self.place.arrived("Java: a schedule of soon", self.first, self.alert("java soon"))
        read = sdk.telemetry(soon, "a schedule of soon")
        sdk.equal("a schedule is Completed", read and read["NotificationStatusFromString"], "Completed")

    def repeats(self):
        """The retries of the SDK: after 5xx it sends the same request again, with the same `TrackingId`."""
        tracking = str(uuid.uuid4())
        answers = [self.apple("java again", "send:one", tracking=tracking) for _ in range(3)]
        found = {self.sdk.message("a repeated send", answer) for answer in answers}
        self.sdk.equal("a repeated send is one message", len(found), 1)
        for answer in answers:
            self.sdk.field("a repeated send", answer, "trackingid", tracking)
        self.place.arrived("Java: a repeated send", self.first, self.alert("java again"))

    def refusals(self):
        sdk = self.sdk
        wrong = sdk.send("pigeon", "{}", "send:one")
        said = 'The HTTP header "ServiceBusNotification-Format" has an invalid value'
        sdk.refused("an unknown format", wrong, 400, said)
        sdk.refused("no format at all", sdk.send(None, "{}", "send:one"), 400)
        for expression in ("send:one &&", "send:one AND send:two", "(send:one", "a b"):
            sdk.refused(f"the expression {expression}", sdk.send("apple", self.alert("x"), expression), 400)
        # Clients take an empty body too.
        sdk.expect("too large a body", sdk.send("apple", self.alert("x" * 65_536), "send:one"), 413)
        sdk.refused("an unknown message", sdk.call("GET", f"/messages/{uuid.uuid4()}?{sdk.version}"), 404)
        direct = sdk.call("POST", f"/messages?{sdk.version}&direct", {"ServiceBusNotification-Format": "apple"}, b"{}")
        sdk.refused("a direct send to no handle", direct, 400)
