"""The .NET SDK 4 on the wire: HTTP/1.1, `http` without port or query signed, base elements with a type."""

import json
import uuid
from urllib.parse import quote, urlsplit

from sdk import documents, dotnet_reader
from sdk.course import FULL, SDK
from sdk.transport import HTTP1, lower_hex, sign

VERSION = "api-version=2020-06"
BOUNDARY = "nh-batch-multipart-boundary"
INSTANCE, SERVICE = documents.INSTANCE, documents.SERVICE
PLURALS = {"Apple": "ApnsHeaders", "Windows": "WnsHeaders", "Mpns": "MpnsHeaders"}


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def registration_xml(kind, handles, tags=None, template=None, name=None, headers=None, etag=None, variables=None):
    """As the data contract is written: members in their order, the id always nil, the etag in updates alone."""
    content = f"<ETag>{etag}</ETag>" if etag else ""
    content += '<RegistrationId i:nil="true"/>' + (f"<Tags>{escaped(','.join(tags))}</Tags>" if tags else "")
    content += f"<PushVariables>{escaped(json.dumps(variables))}</PushVariables>" if variables else ""
    content += "".join(f"<{handle}>{escaped(value)}</{handle}>" for handle, value in handles.items())
    if template is not None:
        content += f"<BodyTemplate><![CDATA[{template}]]></BodyTemplate>"
        named = f"<TemplateName>{name}</TemplateName>" if name else ""
        plural = PLURALS.get(kind.removesuffix("Template"))
        pairs = "".join(
            f"<{plural[:-1]}><Header>{one}</Header><Value>{escaped(value)}</Value></{plural[:-1]}>"
            for one, value in (headers or {}).items()) if plural else ""
        collection = f"<{plural}>{pairs}</{plural}>" if plural else ""
        content += '<Expiry i:nil="true"/>' + named + collection if kind == "AppleTemplate" else collection + named
    return (
        '<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">'
        f'<RegistrationDescription xmlns:i="{INSTANCE}" i:type="{kind}RegistrationDescription" xmlns="{SERVICE}">'
        f"{content}</RegistrationDescription></content></entry>"
    ).encode()


class DotNetHub(SDK):
    name = "dotnet"
    details_reader = staticmethod(dotnet_reader.telemetry)
    job_reader, jobs_reader = staticmethod(dotnet_reader.job), staticmethod(dotnet_reader.jobs)
    job_names = {
        "id": "JobId", "type": "Type", "status": "Status", "progress": "Progress", "output": "OutputContainerUri",
        "properties": "OutputProperties",
    }

    def __init__(self, place, hub, rule=FULL, tests=False):
        """`tests` is `EnableTestSend`, which adds a flag to every request."""
        super().__init__(place, hub, rule)
        self.tests = tests
        self.connection = HTTP1(place.port, place.authority)

    def call(self, method, path, headers=None, body=None, query="", **options):
        target = f"/{self.hub}{path}?{VERSION}" + ("&test" if self.tests else "") + query
        return self.request(method, target, headers, body, self.rule, self.key, **options)

    def request(self, method, target, headers, body, rule, key, **options):
        resource = lower_hex(quote(f"http://127.0.0.1{urlsplit(target).path.rstrip('/')}/".lower(), safe="-_.!*()"))
        token = sign(resource, quote(rule, safe=""), key, 20, lambda text: lower_hex(quote(text, safe="")))
        fields = {
            "TrackingId": str(uuid.uuid4()), "Authorization": token,
            "User-Agent": "NHub/2020-06 (api-origin=DotNetSdk;os=Unix;os-version=6.1.0.0)",
        }
        return self.connection.request(method, target, fields | (headers or {}), body, **options)

    def write(self, method, path, xml, headers=None, **options):
        fields = {"Content-Type": "application/atom+xml; charset=utf-8; type=entry"} | (headers or {})
        return self.call(method, path, fields, xml, **options)

    def segment(self, sentence, answer):
        """The last of the four segments of an absolute `Location`."""
        location = answer["location"] or ""
        parts = urlsplit(location).path.split("/")
        holds = location.startswith("https://") and len(parts) == 4
        self.that(f"{sentence} has an address of four segments", holds, location)
        return parts[-1]

    def pages(self, path, top, query=""):
        found, token = [], None
        while True:
            further = f"&continuationtoken={token}" if token else ""
            answer = self.call("GET", path, query=f"{query}&$top={top}{further}")
            if not self.expect(f"a page of {path}", answer, 200):
                return found
            page = self.read(f"a page of {path}", dotnet_reader.registrations, answer)
            self.that(f"a page of {path} is within its bounds", len(page) <= top, len(page))
            found += page
            token = answer["x-ms-continuationtoken"]
            if not token or len(found) > 300:
                return found

    def by_channel(self, handle):
        text = lower_hex(quote(f"ChannelUri eq '{handle}'", safe="-_.!*() ")).replace(" ", "+")
        return self.pages("/registrations", 100, f"&$filter={text}")

    def send(self, form, body, tags=None, direct=None, headers=None, content="application/json; charset=utf-8",
             path="/messages", **options):
        fields = {"ServiceBusNotification-DeviceHandle": direct} if direct else {}
        fields |= {"ServiceBusNotification-Tags": tags} if tags else {}
        fields |= {"ServiceBusNotification-Format": form} | (headers or {}) | {"Content-Type": content}
        return self.call("POST", path, fields, body.encode(), "&direct" if direct else "", **options)

    def batch(self, form, body, handles, content="application/json; charset=utf-8"):
        parts = [("notification", content, body), ("devices", "application/json; charset=utf-8", json.dumps(handles))]
        text = "\r\n".join(
            f"--{BOUNDARY}\r\nContent-Type: {kind}\r\nContent-Disposition: inline; name={name}\r\n\r\n{value}"
            for name, kind, value in parts)
        fields = {"ServiceBusNotification-Format": form, "Content-Type": f'multipart/mixed; boundary="{BOUNDARY}"'}
        return self.call("POST", "/messages/$batch", fields, f"{text}\r\n--{BOUNDARY}--\r\n".encode(), "&direct")

    def details(self, identifier):
        return self.call("GET", f"/messages/{identifier}")

    def submit_job(self, kind, output, source=None):
        """No `Content-Type`, and blanks around the signs of equality."""
        content = f"<Type>{kind}</Type><OutputContainerUri>{escaped(output)}</OutputContainerUri>"
        content += f"<ImportFileUri>{escaped(source)}</ImportFileUri>" if source else ""
        xml = (
            '<?xml version="1.0" encoding="utf-8"?><entry xmlns = "http://www.w3.org/2005/Atom">'
            f'<content type = "application/xml"><NotificationHubJob xmlns:i="{INSTANCE}" xmlns="{SERVICE}">'
            f"{content}</NotificationHubJob></content></entry>"
        )
        return self.call("POST", "/jobs", None, xml.encode())

    def job_at(self, identifier):
        return self.call("GET", f"/jobs/{identifier}")

    def job_list(self):
        return self.call("GET", "/jobs")

    def as_job(self, read):
        job = super().as_job(read)
        pairs = job["properties"]
        return job | {"properties": {one["Key"]: one["Value"] for one in pairs} if pairs else None}
