"""`@azure/notification-hubs` 2.x as it is on the wire: HTTP/1.1, the namespace signed, filters with encoded values."""

import json
import re
import urllib.parse
import uuid
from xml.sax.saxutils import escape

from sdk import javascript_reader
from sdk.course import FULL, SDK
from sdk.transport import HTTP1, component_encoded, sign

VERSION = "api-version=2020-06"
ATOM = {"Content-Type": "application/atom+xml;type=entry;charset=utf-8"}
_PLURALS = {"Apple": "ApnsHeaders", "Windows": "WnsHeaders", "Mpns": "MpnsHeaders"}


def entry(name, content):
    return (
        '<?xml version="1.0" encoding="UTF-8" standalone="yes"?><entry xmlns="http://www.w3.org/2005/Atom">'
        f'<updated>2026-11-21T09:22:56.123Z</updated><content type="application/xml"><{name} '
        'xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" '
        f'xmlns:i="http://www.w3.org/2001/XMLSchema-instance">{content}</{name}></content></entry>'
    ).encode()


def registration_xml(kind, handles, tags=None, template=None, name=None, headers=None, variables=None):
    """`TemplateName` stands before the headers, Baidu's channel before its user, `Auth` before `P256DH`."""
    content = "" if tags is None else f"<Tags>{escape(','.join(tags))}</Tags>"
    content += "" if variables is None else f"<PushVariables>{escape(json.dumps(variables))}</PushVariables>"
    content += "".join(f"<{handle}>{escape(value)}</{handle}>" for handle, value in handles.items())
    if template is not None:
        content += f"<BodyTemplate><![CDATA[{template}]]></BodyTemplate>"
        content += "" if name is None else f"<TemplateName>{name}</TemplateName>"
        if headers:
            plural = _PLURALS[kind.removesuffix("Template")]
            content += f"<{plural}>" + "".join(
                f"<{plural[:-1]}><Header>{one}</Header><Value>{escape(value)}</Value></{plural[:-1]}>"
                for one, value in headers.items()) + f"</{plural}>"
    return entry(f"{kind}RegistrationDescription", content)


def search(**parameters):
    """A query as `URLSearchParams` writes it: `$` escaped, blanks as `+`, and `*-._` alone left as they are."""
    def encoded(text, *_):
        return urllib.parse.quote_plus(text, safe="*").replace("~", "%7E")

    return urllib.parse.urlencode(parameters, quote_via=encoded)


class JavaScriptHub(SDK):
    name = "JavaScript"
    details_reader = staticmethod(javascript_reader.telemetry)
    job_reader, jobs_reader = staticmethod(javascript_reader.job), staticmethod(javascript_reader.jobs)
    job_names = {
        "id": "jobId", "type": "type", "status": "status", "progress": "progress", "output": "outputContainerUrl",
        "properties": "outputProperties",
    }

    def __init__(self, place, hub, rule=FULL):
        super().__init__(place, hub, rule)
        self.connection = HTTP1(place.port, place.authority)

    def call(self, operation, method, path, headers=None, body=None, **query):
        audience = component_encoded(f"https://127.0.0.1:{self.place.port}/".lower())
        fields = {
            "Authorization": sign(audience, component_encoded(self.rule), self.key, 60, component_encoded),
            "x-ms-version": "2020-06",
            "x-ms-azsdk-telemetry": f"class=NotificationHubsServiceClient;method={operation}",
            "User-Agent": "azsdk-js-notificationhubs/2.0.2 core-rest-pipeline/1.22.0 Node/22.0.0 OS/(x64-Linux)",
            "Accept-Encoding": "gzip,deflate", "x-ms-client-request-id": str(uuid.uuid4()),
        }
        target = f"/{self.hub}{path}?{VERSION}" + (f"&{search(**query)}" if query else "")
        return self.connection.request(method, target, fields | (headers or {}), body)

    def third(self, sentence, answer):
        """The id: the third element of the path of an absolute https `Location`."""
        location = answer["location"] or ""
        self.that(f"{sentence} has an https Location", location.startswith("https://"), location)
        parts = urllib.parse.urlsplit(location).path.split("/")
        self.that(f"{sentence} has an id there", len(parts) == 4 and parts[3] and "$" not in parts[3], location)
        return parts[3] if len(parts) > 3 else ""

    def pages(self, operation, path, top, **query):
        """As the paging loop goes: until there is no token, a new token encoded once more."""
        found, token = [], None
        while True:
            further = {"continuationtoken": token} if token else {}
            answer = self.call(operation, "GET", path, **{"$top": str(top)}, **query, **further)
            if not self.expect(f"a page of {operation}", answer, 200):
                return found
            page = self.read(f"a page of {operation}", javascript_reader.registrations, answer)
            self.that(f"a page of {operation} is within its bounds", len(page) <= top, len(page))
            found += page
            token = answer["x-ms-continuationtoken"]
            if not token or len(found) > 300:
                return found

    def send(self, form, body, tags=None, headers=None, content="application/json;charset=utf-8", **query):
        fields = dict(headers or {}) | {"ServiceBusNotification-Format": form, "Content-Type": content}
        if tags:
            fields["ServiceBusNotification-Tags"] = tags
        return self.call("sendNotification", "POST", "/messages/", fields, body.encode(), **query)

    def direct(self, form, body, handle, headers=None, content="application/json;charset=utf-8"):
        fields = dict(headers or {})
        if isinstance(handle, dict):
            fields |= {"ServiceBusNotification-DeviceHandle": handle["endpoint"], "Auth": handle["auth"],
                       "P256DH": handle["p256dh"]}
        else:
            fields["ServiceBusNotification-DeviceHandle"] = handle
        return self.send(form, body, None, fields, content, direct="true")

    def batch(self, form, body, handles, content="application/json;charset=utf-8"):
        boundary = f"nh-boundary-{uuid.uuid4()}"
        text = (
            f"--{boundary}\r\nContent-type: {content}\r\n"
            f"Content-Disposition: inline; name=notification\r\n\r\n{body}\r\n"
            f"--{boundary}\r\nContent-type: application/json\r\nContent-Disposition: inline; name=devices\r\n\r\n"
            f"{json.dumps(handles, separators=(',', ':'))}\r\n--{boundary}--"
        )
        fields = {"ServiceBusNotification-Format": form, "Content-Type": f'multipart/mixed; boundary = "{boundary}"'}
        return self.call("sendNotification", "POST", "/messages/$batch", fields, text.encode(), direct="true")

    def details(self, identifier):
        return self.call("getNotificationOutcomeDetails", "GET", f"/messages/{identifier}")

    def submit_job(self, kind, output, source=None):
        content = f"<Type>{kind}</Type><OutputContainerUri><![CDATA[{output}]]></OutputContainerUri>"
        content += f"<ImportFileUri><![CDATA[{source}]]></ImportFileUri>" if source else ""
        return self.call("submitNotificationHubJob", "POST", "/jobs", ATOM, entry("NotificationHubJob", content))

    def job_at(self, identifier):
        return self.call("getNotificationHubJob", "GET", f"/jobs/{identifier}", ATOM)

    def job_list(self):
        return self.call("listNotificationHubJobs", "GET", "/jobs", ATOM)

    def feedback(self):
        fields = {"Content-Type": "application/xml;type=entry;charset=utf-8"}
        return self.call("getFeedbackContainerUrl", "GET", "/feedbackcontainer", fields)
