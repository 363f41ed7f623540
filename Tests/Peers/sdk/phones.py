"""What the phones' SDKs send with the key of listeners: the old ones registrations, the new ones installations."""

import datetime
import json
import time
import uuid
from urllib.parse import quote
from xml.sax.saxutils import escape

from sdk import documents, phone_readers
from sdk.course import LISTEN, SDK
from sdk.dotnet_hub import INSTANCE, SERVICE, DotNetHub
from sdk.java_hub import JSON_TEMPLATE
from sdk.transport import HTTP1, form_encoded, lower_hex, sign

ALERT_TEMPLATE = '{"aps":{"alert":"$(title)"}}'
# A phone waits a second for its answer.
PATIENCE = 1.0


def element(name, text):
    return f"<{name}>{escape(text)}</{name}>"


class Phone(SDK):
    """An app with the connection string of listeners; its backend sends as the .NET SDK does."""

    scheme, minutes = "https", 5

    def __init__(self, place, hub):
        super().__init__(place, hub, LISTEN)
        self.connection = HTTP1(place.port, place.authority)
        self.backend = DotNetHub(place, hub)

    def call(self, method, path, headers=None, body=None):
        """The whole address is signed, in lower case."""
        address = f"{self.scheme}://127.0.0.1:{self.place.port}/{self.hub}{path}".lower()
        token = sign(lower_hex(quote(address, safe="-_.~")), self.rule, self.key, self.minutes, form_encoded)
        fields = {"Authorization": token} | self.identification | (headers or {})
        return self.connection.request(method, f"/{self.hub}{path}", fields, body)

    def last(self, sentence, answer):
        """The last element of the path of `Location`."""
        self.that(f"{sentence} answers with success", 200 <= answer.status < 300, answer)
        return (answer["location"] or "").partition("?")[0].rpartition("/")[2]

    def pushed(self, sentence, token, tag, payload=None, form="apple", body=None):
        """What the backend sends to the tag arrives at the phone, once."""
        payload = payload or json.dumps({"aps": {"alert": f"{self.name} {sentence}"}})
        self.backend.expect(f"a send to {sentence}", self.backend.send(form, body or payload, tag), 201)
        self.place.arrived(f"{self.name}: {sentence}", token, payload)

    def install(self, identifier, platform, channel, templates):
        """A PUT that must be answered with 200 within the second that one of the SDKs waits."""
        expiry = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=90)
        content = {
            "installationId": identifier, "pushChannel": channel, "platform": platform, "userId": "phone-user",
            "expirationTime": expiry.strftime("%Y-%m-%dT%H:%M+0000"), "tags": ["phone", f"phone:{self.name}"],
            "templates": templates,
        }
        fields = {"Content-Type": "application/json", "x-ms-version": "2020-06"}
        path, body = f"/installations/{identifier}?api-version=2020-06", json.dumps(content).encode()
        began = time.monotonic()
        answer = self.call("PUT", path, fields, body)
        took = time.monotonic() - began
        if self.expect("an installation", answer, 200) and took > PATIENCE:
            print(f"sdk-wire: {self.name}: an installation took {took:.2f} s, and a phone waits one", flush=True)
        return expiry

    def installed(self, identifier, channel, expiry):
        """What another SDK reads of the installation."""
        answer = self.backend.call("GET", f"/installations/{identifier}")
        if self.backend.expect("the installation of a phone", answer, 200):
            read = json.loads(answer.body)
            self.equal("the installation has its channel", read["pushChannel"], channel)
            self.equal("the installation expires when it said", documents.xsd_time(read["expirationTime"]),
                       expiry.replace(second=0, microsecond=0))


class IOS(Phone):
    name, scheme, minutes = "iOS", "http", 20
    identification = {
        "User-Agent": "NOTIFICATIONHUBS/2013-04(api-origin=IosSdk; os=iOS; os_version=17.1;)", "Accept": "*/*",
        "Accept-Language": "en-GB,en;q=0.9", "Accept-Encoding": "gzip, deflate, br",
    }
    version = "api-version=2013-04"

    def put(self, identifier, kind, content, match=None):
        name = f"{kind}RegistrationDescription"
        xml = (
            '<?xml version="1.0" encoding="utf-8"?><entry xmlns="http://www.w3.org/2005/Atom"><content type="text/xml">'
            f'<{name} xmlns:i="{INSTANCE}" xmlns="{SERVICE}">{content}</{name}></content></entry>'
        )
        fields = {"Content-Type": "application/xml"} | ({"If-Match": match} if match else {})
        return self.call("PUT", f"/Registrations/{identifier}?{self.version}", fields, xml.encode())

    def of_token(self, token):
        """The quotes of the filter stand in the address as they are."""
        return self.call("GET", f"/Registrations/?$filter=deviceToken+eq+'{token}'&{self.version}")

    def new_identifier(self):
        answer = self.call("POST", f"/registrationids/?{self.version}", {"Content-Type": "application/xml"})
        return self.last("a new registration id", answer)


class IOSCourse:
    """`SBNotificationHub` and `MSNotificationHub`."""

    token, other, installed = "dd11" * 16, "dd12" * 16, "dd13" * 16

    def __init__(self, place, hub):
        self.place, self.sdk = place, IOS(place, hub)

    def run(self):
        self.registrations()
        self.gone()
        self.installations()

    def registrations(self):
        sdk = self.sdk
        answer = sdk.of_token(self.token)
        if sdk.expect("no registrations of a new device", answer, 200):
            found = sdk.read("no registrations", phone_readers.ios_registrations, answer)
            sdk.equal("a new device has none", found, [])
        native, templated = sdk.new_identifier(), sdk.new_identifier()
        tags = element("Tags", "ios,ios:native")
        put = sdk.put(native, "Apple", tags + element("DeviceToken", self.token.upper()))
        self._read("a native registration", put, native, {"DeviceToken": self.token.upper(), "ETag": "1"})
        content = element("Tags", "ios:template") + element("DeviceToken", self.token.upper())
        content += f"<BodyTemplate><![CDATA[{ALERT_TEMPLATE}]]></BodyTemplate><Expiry></Expiry><Priority></Priority>"
        content += element("TemplateName", "ios-template")
        put = sdk.put(templated, "AppleTemplate", content)
        self._read("a registration of a template", put, templated, {"TemplateName": "ios-template"})
        for match in ('"1"', "*"):
            again = sdk.put(native, "Apple", tags + element("DeviceToken", self.token.upper()), match)
            self._read(f"a refresh of {match}", again, native, {"DeviceToken": self.token.upper()})
        answer = sdk.of_token(self.token)
        if sdk.expect("the registrations of a device", answer, 200):
            found = sdk.read("the registrations of a device", phone_readers.ios_registrations, answer)
            sdk.equal("both are there", {one["RegistrationId"] for one in found}, {native, templated})
            sdk.equal("its template is there", {one.get("BodyTemplate") for one in found}, {None, ALERT_TEMPLATE})
        sdk.pushed("a push to a phone", self.token, "ios:native")
        payload = json.dumps({"aps": {"alert": "from a template"}})
        sdk.pushed("a template push", self.token, "ios:template", payload, "template", '{"title":"from a template"}')
        path = f"/Registrations/{templated}?{sdk.version}"
        for sentence, status in (("a deletion", 200), ("a deletion of nothing", 404)):
            deleted = sdk.call("DELETE", path, {"If-Match": "*", "Content-Type": "application/xml"})
            sdk.expect(sentence, deleted, status)

    def _read(self, sentence, answer, identifier, wanted):
        """It crashes without a description in the answer."""
        if not self.sdk.expect(sentence, answer, 200):
            return
        found = self.sdk.read(sentence, phone_readers.ios_registrations, answer)
        self.sdk.equal(f"{sentence} is one", len(found), 1)
        if found:
            read = {name: found[0].get(name) for name in wanted}
            self.sdk.equal(f"{sentence} is as it was sent", read, wanted)
            self.sdk.equal(f"{sentence} has its id", found[0].get("RegistrationId"), identifier)

    def gone(self):
        """An id that was given up is gone; the SDK drops it, asks for another and tries once more."""
        sdk, content = self.sdk, element("DeviceToken", self.other)
        identifier = sdk.new_identifier()
        sdk.expect("a registration", sdk.put(identifier, "Apple", content), 200)
        deleted = sdk.call("DELETE", f"/Registrations/{identifier}?{sdk.version}", {"If-Match": "*"})
        sdk.expect("its deletion", deleted, 200)
        sdk.expect("a registration under a deleted id", sdk.put(identifier, "Apple", content), 410, 200)
        sdk.expect("one under a new id", sdk.put(sdk.new_identifier(), "Apple", content), 200)

    def installations(self):
        sdk, identifier = self.sdk, str(uuid.uuid4()).upper()
        template = {"body": ALERT_TEMPLATE, "headers": {"apns-priority": "10"}, "tags": ["news"]}
        expiry = sdk.install(identifier, "apns", self.installed, {"news": template})
        sdk.installed(identifier, self.installed, expiry)
        sdk.pushed("a push to an installation", self.installed, f"$InstallationId:{{{identifier}}}")
        payload = json.dumps({"aps": {"alert": "of a user"}})
        sdk.pushed("a push to its user", self.installed, "$UserId:{phone-user} && news", payload, "template",
                   '{"title":"of a user"}')


class Android(Phone):
    name = "Android"
    identification = {
        "User-Agent": "NOTIFICATIONHUBS/2014-09 (api-origin=AndroidSdkFcmV1; os=Android; os_version=14;)",
        "Connection": "Keep-Alive", "Accept-Encoding": "gzip",
    }
    version = "api-version=2014-09"

    def put(self, identifier, kind, content, match=None):
        """`id` and `updated` come before the content, and what was read is echoed."""
        name = f"{kind}RegistrationDescription"
        address = f"https://127.0.0.1:{self.place.port}/{self.hub}/Registrations/{identifier}?{self.version}"
        xml = (
            f'<?xml version="1.0" encoding="UTF-8"?><entry xmlns="http://www.w3.org/2005/Atom">{element("id", address)}'
            f'<updated>2026-11-21T09:22:56+0000</updated><content type="application/xml"><{name} xmlns="{SERVICE}" '
            f'xmlns:i="{INSTANCE}">{content}</{name}></content></entry>'
        )
        fields = {"Content-Type": "application/atom+xml"} | ({"If-Match": match} if match else {})
        return self.call("PUT", f"/Registrations/{identifier}?{self.version}", fields, xml.encode())

    def of_handle(self, name, handle):
        text = form_encoded(f"{name} eq '{handle}'")
        return self.call("GET", f"/Registrations/?$filter={text}&{self.version}")


class AndroidCourse:
    """`NotificationHub` of four push services, and the SDK of installations."""

    handles = {
        "Gcm": ({"GcmRegistrationId": "android-gcm:APA91"}, "GcmRegistrationId", "android-gcm:APA91"),
        "FcmV1": ({"FcmV1RegistrationId": "android-fcm:APA91"}, "FcmV1RegistrationId", "android-fcm:APA91"),
        "Adm": ({"AdmRegistrationId": "amzn1.android"}, "AdmRegistrationId", "amzn1.android"),
        "Baidu": ({"BaiduUserId": "77", "BaiduChannelId": "88"}, "BaiduUserId-BaiduChannelId", "77-88"),
    }

    def __init__(self, place, hub):
        self.place, self.sdk = place, Android(place, hub)

    def run(self):
        for kind in self.handles:
            self._registrations(kind, *self.handles[kind])
        self.installations()

    def _registrations(self, kind, handles, name, value):
        sdk = self.sdk
        first = sdk.of_handle(name, value)
        if sdk.expect(f"no registrations of {kind}", first, 200):
            found = sdk.read(f"no registrations of {kind}", phone_readers.android_registrations, first, kind)
            sdk.equal(f"a new device of {kind} has none", found, [])
        content = element("Tags", f"android,android:{kind}") + "".join(element(*pair) for pair in handles.items())
        template = f"<BodyTemplate><![CDATA[{JSON_TEMPLATE}]]></BodyTemplate>"
        template += element("TemplateName", "android-template")
        identifiers = []
        for form, more in (("", ""), ("Template", template)):
            sentence = f"a registration of {kind}{form}"
            answer = sdk.call("POST", f"/registrationids/?{sdk.version}", {"Content-Type": "application/atom+xml"})
            identifiers.append(sdk.last("a new registration id", answer))
            put = sdk.put(identifiers[-1], kind + form, content + more)
            if not sdk.expect(sentence, put, 200):
                continue
            found = sdk.read(sentence, phone_readers.android_registrations, put, kind + form)
            sdk.equal(f"{sentence} is one", len(found), 1)
            read = found[0] if found else {}
            wanted = handles | {"RegistrationId": identifiers[-1], "ETag": "1"}
            sdk.equal(f"{sentence} is as it was sent", {one: read.get(one) for one in wanted}, wanted)
            echo = "".join(element(one, read.get(one, "")) for one in ("ETag", "ExpirationTime", "RegistrationId"))
            again = sdk.put(identifiers[-1], kind + form, echo + content + more, "*")
            sdk.expect(f"{sentence} that echoes what was read", again, 200)
        answer = sdk.of_handle(name, value)
        if sdk.expect(f"the registrations of {kind}", answer, 200):
            found = [one["RegistrationId"] for form in ("", "Template") for one in sdk.read(
                f"the registrations of {kind}", phone_readers.android_registrations, answer, kind + form)]
            sdk.equal(f"both of {kind} are there", found, identifiers)
        for identifier in identifiers:
            deleted = sdk.call("DELETE", f"/Registrations/{identifier}?{sdk.version}", {"If-Match": "*"})
            sdk.that("a deletion answers with success", 200 <= deleted.status < 300, deleted)
        lost = sdk.put(identifiers[0], kind, content)
        sdk.expect("a registration under a deleted id", lost, 410, 200)

    def installations(self):
        template = {"body": JSON_TEMPLATE, "name": "news", "tags": ["news"], "headers": {}}
        expiry = self.sdk.install("phone-android", "fcmv1", "android-installed:APA91", {"news": template})
        self.sdk.installed("phone-android", "android-installed:APA91", expiry)
        rows = self.sdk.backend.pages("/tags/$InstallationId:%7Bphone-android%7D/registrations", 100)
        self.sdk.equal("an installation has its rows", sorted(one["kind"] for one in rows), ["FcmV1", "FcmV1Template"])
