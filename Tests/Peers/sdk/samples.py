"""Callers of the REST API without an SDK: the forms of published samples, which differ from every SDK's."""

import datetime
import json
import time
from urllib.parse import quote

from sdk import dotnet_reader
from sdk.course import FULL, SDK
from sdk.transport import HTTP1, form_encoded, sign


class Samples(SDK):
    """The wrapper in Python (a signature of the hub, its fields in another order) and that in PHP (whole addresses)."""

    name = "samples"
    details_reader = staticmethod(dotnet_reader.telemetry)

    def __init__(self, place, hub):
        super().__init__(place, hub, FULL)
        self.connection = HTTP1(place.port, place.authority)

    def python(self, method, path, headers=None, body=None):
        resource = quote(f"https://127.0.0.1:{self.place.port}/{self.hub}".lower(), safe="").lower()
        token = sign(resource, self.rule, self.key, 5, quote, "sig se skn sr")
        return self.connection.request(method, f"/{self.hub}{path}", {"Authorization": token} | (headers or {}), body)

    def php(self, method, path, headers=None, body=None):
        resource = form_encoded(f"https://127.0.0.1:{self.place.port}/{self.hub}{path}".lower()).lower()
        token = sign(resource, self.rule, self.key, 60, form_encoded)
        return self.connection.request(method, f"/{self.hub}{path}", {"Authorization": token} | (headers or {}), body)

    def details(self, identifier):
        return self.python("GET", f"/messages/{identifier}?api-version=2016-07")


class SamplesCourse:
    token = "ee11" * 16

    def __init__(self, place, hub):
        self.place, self.sdk = place, Samples(place, hub)

    def run(self):
        self.registrations()
        self.sends()
        self.expiries()
        self.batch()
        self.schedules()

    def registrations(self):
        """The published entry: a declaration, namespaces with `https`, `text/xml`, blanks behind the commas of tags."""
        xml = (
            '<?xml version="1.0" encoding="utf-8"?>\n<entry xmlns = "http://www.w3.org/2005/Atom">\n    '
            '<content type = "text/xml">\n        '
            '<AppleRegistrationDescription xmlns:i="https://www.w3.org/2001/XMLSchema-instance" '
            'xmlns="https://schemas.microsoft.com/netservices/2010/10/servicebus/connect">\n            '
            f"<Tags>sample, second</Tags>\n            <DeviceToken>{self.token}</DeviceToken>\n        "
            "</AppleRegistrationDescription>\n    </content>\n</entry>"
        )
        fields = {"Content-Type": "application/atom+xml;type=entry;charset=utf-8", "x-ms-version": "2015-01"}
        answer = self.sdk.php("POST", "/registrations/?api-version=2015-01", fields, xml.encode())
        if self.sdk.expect("a registration", answer, 200):
            read = self.sdk.read("a registration", dotnet_reader.registration, answer)
            self.sdk.equal("a registration has its tags", read.get("Tags"), {"sample", "second"})

    def _send(self, call, path, text, headers, content="application/json"):
        body = json.dumps({"aps": {"alert": text}})
        fields = {"Content-Type": content, "ServiceBusNotification-Format": "apple"} | headers
        return body, call("POST", path, fields, body.encode())

    def sends(self):
        tags = {"ServiceBusNotification-Tags": "sample"}
        for name, call, path, content in (
            ("PHP", self.sdk.php, "/messages/?api-version=2013-10", "application/json;charset=utf-8"),
            ("Python", self.sdk.python, "/messages/?api-version=2015-04", "application/json;charset=utf-8"),
            ("a caller without a version", self.sdk.python, "/messages", "application/json; charset=UTF-8"),
        ):
            body, answer = self._send(call, path, f"sample of {name}", tags, content)
            self.sdk.expect(f"a send of {name}", answer, 201)
            self.place.arrived(f"samples: {name}", self.token, body)
        handle = {"ServiceBusNotification-DeviceHandle": self.token}
        body, answer = self._send(self.sdk.python, "/messages/?direct&api-version=2015-04", "sample direct", handle)
        self.sdk.expect("a direct send", answer, 201)
        self.place.arrived("samples: a direct send", self.token, body)
        identifier = (answer["location"] or "").partition("?")[0].rpartition("/")[2]
        self.sdk.telemetry(identifier, "a direct send", ["Completed"])

    def expiries(self):
        """Every spelling of a moment that callers are known to write."""
        now = datetime.datetime.now(datetime.timezone.utc).replace(second=0, microsecond=0)
        moment = now + datetime.timedelta(days=3)
        zoned = (moment + datetime.timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M+01:00")
        for number, text in enumerate((
            zoned, moment.strftime("%Y-%m-%dT%H:%M:%S"), moment.strftime("%Y-%m-%d %H:%M:%SZ"),
            moment.strftime("%Y-%m-%dT%H:%M:%S.000Z"), str(int(moment.timestamp())),
        )):
            fields = {"ServiceBusNotification-Tags": "sample", "ServiceBusNotification-Apns-Expiry": text}
            body, answer = self._send(self.sdk.python, "/messages/?api-version=2015-01", f"sample {number}", fields)
            if self.sdk.expect(f"an expiry of {text}", answer, 201):
                found = self.place.arrived(f"samples: an expiry of {text}", self.token, body)
                self.sdk.equal(f"the expiry {text}", found.get("apns-expiration"), str(int(moment.timestamp())))

    def batch(self):
        """The published form: a blank line before the first delimiter, one before each header, single quotes."""
        body, boundary = json.dumps({"aps": {"alert": "sample batch"}}), "simple-boundary"
        text = (
            f"\r\n--{boundary}\r\nContent-Type: application/json\r\n"
            f"Content-Disposition: inline; name=notification\r\n\r\n{body}\r\n"
            f"--{boundary}\r\nContent-Type: application/json\r\n"
            "Content-Disposition: inline; name=devices\r\n\r\n"
            f"['{self.token}', '{'ee12' * 16}']\r\n--{boundary}--"
        )
        fields = {"Content-Type": f'multipart/mixed; boundary = "{boundary}"', "ServiceBusNotification-Format": "apple"}
        answer = self.sdk.python("POST", "/messages/$batch?direct&api-version=2015-08", fields, text.encode())
        self.sdk.expect("a batch", answer, 201)
        for token in (self.token, "ee12" * 16):
            self.place.arrived("samples: a batch", token, body)

    def schedules(self):
        """Apostrophes around the `T`, which the wrapper in Python writes."""
        moment = time.strftime("%Y-%m-%d'T'%H:%M:%S", time.gmtime(time.time() + 3600))
        fields = {"ServiceBusNotification-Tags": "sample", "ServiceBusNotification-ScheduleTime": moment}
        _, answer = self._send(self.sdk.python, "/schedulednotifications/?api-version=2015-04", "sample later", fields)
        if self.sdk.expect("a schedule", answer, 201):
            identifier = (answer["location"] or "").partition("?")[0].rpartition("/")[2]
            self.sdk.telemetry(identifier, "a schedule", ["Scheduled"])
            cancelled = self.sdk.php("DELETE", f"/schedulednotifications/{identifier}?api-version=2015-04")
            self.sdk.expect("cancelling", cancelled, 200)
