"""The Java SDK 1.1.0 on the wire: HTTP/2 only, whole addresses signed, XML put together without escaping."""

import re
import urllib.parse
import uuid

from sdk import java_reader
from sdk.course import FULL, SDK
from sdk.transport import HTTP2, form_encoded, lower_hex, sign

HEAD = (
    '<?xml version="1.0" encoding="utf-8"?><entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">'
    '<{0} xmlns:i="http://www.w3.org/2001/XMLSchema-instance" '
    'xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">'
)
FOOT = "</{0}></content></entry>"
_STRAY = {"Apple": "</ApnsHeaders>", "Windows": "</WnsHeaders>"}
HEADERS = {"Apple": "Apns", "Windows": "Wns", "Mpns": "Mpns"}
JSON_TEMPLATE = '{"data":{"m":"$(msg)"}}'
TOAST_TEMPLATE = '<toast><visual><binding template="ToastText01"><text id="1">$(msg)</text></binding></visual></toast>'
MPNS_TEMPLATE = (
    '<wp:Notification xmlns:wp="WPNotification"><wp:Toast><wp:Text1>$(msg)</wp:Text1></wp:Toast></wp:Notification>'
)
P256DH = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
AUTH = "BTBZMqHH6r4Tts7J_aSIgg"


def registration_xml(kind, handles, tags=(), template=None, headers=None, expiry=None):
    """As `Registration.getXml` writes it: nothing is escaped, a template without headers may end with a stray tag."""
    native = kind.removesuffix("Template")
    name = f"{kind}RegistrationDescription"
    body = f"<Tags>{','.join(tags)}</Tags>" if tags else ""
    body += "".join(f"<{handle}>{value}</{handle}>" for handle, value in handles.items())
    if template is not None:
        body += f"<BodyTemplate><![CDATA[{template}]]></BodyTemplate>"
        body += "" if expiry is None else f"<Expiry>{expiry}</Expiry>"
        if headers:
            plural = f"{HEADERS[native]}Headers"
            pairs = "".join(
                f"<{plural[:-1]}><Header>{name_}</Header><Value>{value}</Value></{plural[:-1]}>"
                for name_, value in headers.items()
            )
            body += f"<{plural}>{pairs}</{plural}>"
        else:
            body += _STRAY.get(native, "")
    return (HEAD.format(name) + body + FOOT.format(name)).encode()


class JavaHub(SDK):
    name = "Java"
    version = "api-version=2020-06"
    details_reader, state = staticmethod(java_reader.telemetry), "NotificationStatusFromString"
    job_reader, jobs_reader = staticmethod(java_reader.job), staticmethod(java_reader.jobs)
    job_names = {
        "id": "JobId", "type": "JobTypeFromString", "status": "JobStatusFromString", "progress": "ProgressFromString",
        "output": "OutputContainerUri", "properties": "OutputProperties",
    }

    def __init__(self, place, hub, rule=FULL, connection=None):
        super().__init__(place, hub, rule)
        self.connection = connection or HTTP2(place.port, place.authority)

    def call(self, method, path, headers=None, body=None, tracking=None):
        """`path` with its query and without the hub; the whole address is signed."""
        return self.request(method, f"/{self.hub}{path}", headers, body, tracking, self.rule, self.key)

    def request(self, method, target, headers, body, tracking, rule, key):
        address = f"https://127.0.0.1:{self.place.port}{target}"
        resource = form_encoded(address.lower()).lower()
        fields = {
            "Authorization": sign(resource, rule, key, 60, form_encoded),
            "TrackingId": tracking or str(uuid.uuid4()),
            "User-Agent": "NHub/2020-06 (api-origin=JavaSDK;os=Linux;os-version=6.1)",
        }
        return self.connection.request(method, target, fields | (headers or {}), body)

    def put_registration(self, method, path, xml, headers=None):
        fields = {"Content-Type": "application/atom+xml; charset=UTF-8"} | (headers or {})
        return self.call(method, f"{path}?{self.version}", fields, xml)

    def create_registration(self, xml, sentence):
        answer = self.put_registration("POST", "/registrations", xml)
        if not self.expect(sentence, answer, 200):
            return None
        return self.read(sentence, java_reader.registration, answer)

    def new_identifier(self):
        answer = self.call("POST", f"/registrationids?{self.version}")
        self.expect("a new registration id", answer, 201)
        found = re.fullmatch(r"(\S+)/registrationids/([^?]+).*", answer["location"] or "")
        self.that("a new id is found in its Location", found is not None, answer["location"])
        self.field("a new registration id", answer, "location", self.address("registrationids", found[2]))
        return found[2]

    def send(self, form, body, tags=None, direct=None, headers=None, tracking=None,
             content="application/json; charset=UTF-8", path="/messages"):
        fields = {"Content-Type": content} if content else {}
        fields |= {"ServiceBusNotification-Format": form} if form else {}
        if tags:
            fields["ServiceBusNotification-Tags"] = tags if isinstance(tags, str) else " || ".join(tags)
        if direct:
            fields["ServiceBusNotification-DeviceHandle"] = direct
        query = self.version + ("&direct" if direct else "")
        return self.call("POST", f"{path}?{query}", fields | (headers or {}), body.encode(), tracking)

    def message(self, sentence, answer):
        """The id, which is the last element of the path of `Location`."""
        if not self.expect(sentence, answer, 201):
            return None
        return urllib.parse.urlsplit(answer["location"] or "").path.rpartition("/")[2]

    def details(self, identifier):
        return self.call("GET", f"/messages/{identifier}?{self.version}")

    def submit_job(self, kind, output, source=None):
        """The content element has a type of its own; releases differ in whether they put URLs into CDATA."""
        wrapped = "<{0}><![CDATA[{1}]]></{0}>" if source else "<{0}>{1}</{0}>"
        content = f"<Type>{kind}</Type>" + wrapped.format("OutputContainerUri", output)
        content += wrapped.format("ImportFileUri", source) if source else ""
        head = HEAD.format("NotificationHubJob")
        head = head.replace('"application/xml"', '"application/atom+xml;type=entry;charset=utf-8"')
        return self.put_registration("POST", "/jobs", (head + content + FOOT.format("NotificationHubJob")).encode())

    def job_at(self, identifier):
        return self.call("GET", f"/jobs/{identifier}?{self.version}")

    def job_list(self):
        return self.call("GET", f"/jobs?{self.version}")
