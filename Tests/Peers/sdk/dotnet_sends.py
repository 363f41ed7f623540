"""What the .NET SDK sends: natively, by template, to handles, as tests, for later; and what it reads of it."""

import json
import time

from sdk import documents, dotnet_reader
from sdk.course import eventually
from sdk.dotnet_hub import VERSION, DotNetHub, registration_xml
from sdk.java_hub import MPNS_TEMPLATE, TOAST_TEMPLATE
from sdk.java_sends import ALERT_TEMPLATE
from sdk.javascript_sends import SENT
from sdk.jobs import Container

XML = 'application/xml; charset="utf-8"'
DECLARATION = '<?xml version="1.0" encoding="utf-16"?>'


class DotNetSends:
    """`SendNotificationAsync`, `SendDirectNotificationAsync`, `ScheduleNotificationAsync` and what belongs to them."""

    first, second, third = "cc21" * 16, "cc22" * 16, "cc23" * 16

    def __init__(self, place, sdk):
        self.place, self.sdk = place, sdk

    def run(self):
        for kind, token, tag, template in (
            ("Apple", self.first, "one", None), ("Apple", self.second, "two", None),
            ("AppleTemplate", self.third, "templated", ALERT_TEMPLATE),
        ):
            xml = registration_xml(kind, {"DeviceToken": token}, ["sends", f"send:{tag}"], template)
            self.sdk.expect("a device to send to", self.sdk.write("POST", "/registrations", xml), 200, 201)
        self.tags()
        self.direct()
        self.platforms()
        self.templates()
        self.tests()
        self.schedules()
        self.feedback()

    @staticmethod
    def alert(text):
        return json.dumps({"aps": {"alert": text}}, ensure_ascii=False, separators=(",", ":"))

    def _sent(self, sentence, answer, text, tokens, query=VERSION, kind="messages"):
        """The id of a message that arrives once at each of the devices."""
        if not self.sdk.expect(sentence, answer, 201):
            return ""
        identifier = self.sdk.segment(sentence, answer)
        self.sdk.field(sentence, answer, "location", self.sdk.address(kind, identifier, query))
        for token in tokens:
            self.place.arrived(f"dotnet: {sentence}", token, self.alert(text))
        return identifier

    def tags(self):
        sdk, text = self.sdk, "net „Grüße“ \U0001f426"
        moment = int(time.time()) + 5000
        headers = {
            "ServiceBusNotification-Apns-Expiry": time.strftime("%m/%d/%Y %H:%M:%S", time.gmtime(moment)),
            "X-Apns-Priority": "5",
        }
        answer = sdk.send("apple", self.alert(text), "send:one||send:nobody", headers=headers, waits=True)
        identifier = self._sent("a send to tags behind a 100", answer, text, [self.first])
        found = self.place.arrived("dotnet: its headers", self.first, self.alert(text))
        names = ("apns-expiration", "apns-priority")
        sdk.equal("its headers arrive", [found.get(name) for name in names], [str(moment), "5"])
        read = sdk.telemetry(identifier, "a send to tags")
        wanted = {
            "NotificationId": identifier, "State": "Completed", "NotificationBody": self.alert(text),
            "TargetPlatforms": "apple", "ApnsOutcomeCounts": [{"Name": "Success", "Count": 1}],
        }
        sdk.equal("telemetry of a send to tags", {name: read.get(name) for name in wanted}, wanted)
        # It stands as it was parsed or as it was sent.
        tags = (read.get("Tags") or "").replace(" ", "")
        sdk.equal("telemetry has the tags", tags, "send:one||send:nobody")
        answer = sdk.send("apple", self.alert("net all"))
        self._sent("a broadcast", answer, "net all", [self.first, self.second])
        nobody = self._sent("a send to nobody", sdk.send("apple", self.alert("x"), "send:nobody"), "x", [])
        sdk.telemetry(nobody, "a send to nobody", ["NoTargetFound"])
        tag = "$InstallationId:{net-none} && send:one"
        self._sent("a send to an installation", sdk.send("apple", self.alert("x"), tag), "x", [])

    def direct(self):
        query = f"{VERSION}&direct"
        answer = self.sdk.send("apple", self.alert("net direct"), direct=self.second)
        identifier = self._sent("a direct send", answer, "net direct", [self.second], query)
        self._success(identifier, "a direct send", 1)
        answer = self.sdk.batch("apple", self.alert("net batch"), [self.first, self.second])
        identifier = self._sent("a batch", answer, "net batch", [self.first, self.second], query)
        self._success(identifier, "a batch", 2)

    def _success(self, identifier, sentence, count):
        read = self.sdk.telemetry(identifier, sentence)
        self.sdk.equal(f"telemetry of {sentence}", read.get("ApnsOutcomeCounts"), [{"Name": "Success", "Count": count}])

    def platforms(self):
        data, toast = '{"data":{"m":"hi"}}', TOAST_TEMPLATE.replace("$(msg)", "hi")
        json_type = "application/json; charset=utf-8"
        phone = {"X-WindowsPhone-Target": "toast", "X-NotificationClass": "2"}
        for form, body, content, headers, counts in (
            ("gcm", data, json_type, {}, "Gcm"), ("fcmv1", '{"message":{"data":{"m":"hi"}}}', json_type, {}, "FcmV1"),
            ("adm", data, json_type, {}, "Adm"),
            ("baidu", '{"title":"hi","description":"hi"}', "application/x-www-form-urlencoded",
             {"X-Baidu-Message-Type": "1"}, None),
            ("windows", DECLARATION + toast, XML, {"X-WNS-Type": "wns/toast"}, "Wns"),
            ("windows", "raw", "application/octet-stream", {"X-WNS-Type": "wns/raw"}, "Wns"),
            ("windowsphone", DECLARATION + MPNS_TEMPLATE.replace("$(msg)", "hi"), XML, phone, "Mpns"),
            ("windowsphone", MPNS_TEMPLATE, XML, phone | {"X-WindowsPhone-Target": "token"}, "Mpns"),
        ):
            sentence = f"a send to {form}"
            answer = self.sdk.send(form, body, "net-changed||net", None, headers, content)
            identifier = self._sent(sentence, answer, "", [])
            read = self.sdk.telemetry(identifier, sentence)
            self.sdk.equal(f"telemetry of {sentence} has its platform", read.get("TargetPlatforms"), form)
            self.sdk.equal(f"telemetry of {sentence} has its body", read.get("NotificationBody"), body)
            if counts:
                found = sum(one["Count"] for one in read.get(f"{counts}OutcomeCounts") or [])
                self.sdk.equal(f"telemetry of {sentence} counts its device", found, 1)

        sent = self._sent("a send to browser", self.sdk.send("browser", '{"title":"hi"}', "net"), "", [])
        self.sdk.telemetry(sent, "a send to browser")

    def templates(self):
        properties = json.dumps({"title": 'net "quoted"', "count": "5"})
        identifier = self._sent("a template send", self.sdk.send("template", properties, "send:templated"), "", [])
        wanted = json.dumps({"aps": {"alert": 'net "quoted"', "badge": 5}})
        self.place.arrived("dotnet: a template send", self.third, wanted)
        self._success(identifier, "a template send", 1)

    def tests(self):
        """`EnableTestSend`, whose flag stands in every address; sends answer with what came of them."""
        tester = DotNetHub(self.place, self.sdk.hub, tests=True)
        body = self.alert("net test")
        answer = tester.send("apple", body, "send:one")
        self._outcome("a test send", answer, [("apple", self.first, SENT)])
        self.place.arrived("dotnet: a test send", self.first, body)
        direct = tester.send("apple", self.alert("net test direct"), direct=self.second)
        self._outcome("a direct test send", direct, [("apple", self.second, SENT)])
        self._outcome("a test send to nobody", tester.send("apple", body, "send:nobody"), [])
        properties = '{"title":"net test template","count":"1"}'
        self._outcome("a template test send", tester.send("template", properties, "send:templated"), None)
        batch = tester.batch("apple", self.alert("net test batch"), [self.first])
        tester.expect("a batch that is a test", batch, 201)
        everything = tester.pages("/registrations", 3)
        tester.that("a list with the flag of tests", len(everything) > 3, len(everything))
        missing = tester.call("GET", "/registrations/none")
        tester.expect("a read with the flag of tests", missing, 404)

    def _outcome(self, sentence, answer, wanted):
        if not self.sdk.expect(sentence, answer, 200, 201):
            return
        read = self.sdk.read(sentence, dotnet_reader.outcome, answer)
        if not read:
            return
        results = read.get("Results") or []
        found = [(one["ApplicationPlatform"], one["PnsHandle"].lower(), one["Outcome"]) for one in results]
        if wanted is None:
            self.sdk.equal(f"{sentence} has a result", (read["Success"], len(found)), (1, 1))
            return
        self.sdk.equal(f"{sentence} has its results", found, wanted)
        self.sdk.equal(f"{sentence} has its counts", (read["Success"], read["Failure"]), (len(wanted), 0))

    def schedules(self):
        sdk = self.sdk

        def schedule(text, moment, hub=sdk):
            fields = {"ServiceBusNotification-ScheduleTime": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment))}
            return hub.send("apple", self.alert(text), "send:one", None, fields, path="/schedulednotifications")

        kind = "schedulednotifications"
        identifier = self._sent("a schedule", schedule("net later", time.time() + 3600), "", [], kind=kind)
        sdk.telemetry(identifier, "a schedule", ["Scheduled"])
        sdk.expect("cancelling", sdk.call("DELETE", f"/{kind}/{identifier}"), 200)
        sdk.telemetry(identifier, "a cancelled schedule", ["Canceled"])
        tester = DotNetHub(self.place, sdk.hub, tests=True)
        answer = schedule("net tested later", time.time() + 3600, tester)
        if sdk.expect("a schedule with the flag of tests", answer, 200, 201):
            identifier = sdk.segment("a schedule with the flag of tests", answer)
            sdk.expect("cancelling with the flag of tests", tester.call("DELETE", f"/{kind}/{identifier}"), 200)

    def feedback(self):
        """What a push service refused stands in a file behind the address in telemetry, and in the hub's container."""
        sdk, token = self.sdk, "cc29"
        xml = registration_xml("Apple", {"DeviceToken": token}, ["send:refused"])
        sdk.expect("a device that APNs refuses", sdk.write("POST", "/registrations", xml), 200, 201)
        container = sdk.call("GET", "/feedbackcontainer")
        if sdk.unserved(container, "the feedback container"):
            return
        sdk.expect("the feedback container", container, 200)
        sdk.that("it is an absolute URI", container.text.startswith("https://"), container.text)
        answer = sdk.send("apple", self.alert("net refused"), "send:refused")
        identifier = self._sent("a send that is refused", answer, "", [])

        def addressed():
            read = dotnet_reader.telemetry(sdk.details(identifier).body)
            return read if read.get("PnsErrorDetailsUri") else None

        read = eventually(addressed) or sdk.telemetry(identifier, "a send that is refused")
        sdk.that("telemetry counts what was refused", read.get("ApnsOutcomeCounts"), read)
        sdk.that("telemetry has the address of its errors", read.get("PnsErrorDetailsUri"), read)
        if not read.get("PnsErrorDetailsUri"):
            return
        file = Container(self.place, read["PnsErrorDetailsUri"]).get_whole()
        if sdk.expect("the file of errors", file, 200):
            lines = [sdk.read("a line of errors", dotnet_reader.feedback, Line(one)) for one in file.body.splitlines()]
            found = {(one["Platform"], one["PnsHandle"].lower(), one["NotificationId"]) for one in lines if one}
            sdk.equal("it tells of the device", found, {("apns", token, identifier)})
        listing = Container(self.place, container.text)
        names = sdk.read("the container's listing", documents.blob_names, listing.list()) or []
        sdk.that("the container has its files", names)
        for name in names:
            blob = listing.get(name)
            sdk.expect("a file of the container", blob, 200)
            for one in blob.body.splitlines():
                sdk.read("a line of feedback", dotnet_reader.feedback, Line(one))


class Line:
    """A line of a file, in the place of an answer."""

    def __init__(self, body):
        self.body = body

    def __repr__(self):
        return repr(self.body)
