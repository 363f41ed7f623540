"""Every operation of the Java SDK 1.1.0, in its own form and read as it reads."""

import json
import re
import uuid

from sdk import documents, java_reader
from sdk.course import FULL, LISTEN
from sdk.java_hub import AUTH, JSON_TEMPLATE, MPNS_TEMPLATE, P256DH, TOAST_TEMPLATE, JavaHub, registration_xml
from sdk.java_hub import FOOT, HEAD
from sdk.java_sends import JavaSends
from sdk.jobs import Jobs
from sdk.transport import form_encoded


class JavaCourse:
    """Every operation of `NotificationHub` and `NamespaceManager`."""

    def __init__(self, place, hub):
        self.place, self.sdk = place, JavaHub(place, hub)

    def run(self):
        self.registrations()
        self.identities()
        self.listings()
        self.oddities()
        self.installations()
        self.management()
        self.refusals()
        JavaSends(self.place, self.sdk).run()
        Jobs(self.place, self.sdk, "aa").run()

    def registrations(self):
        sdk = self.sdk
        handles = {
            "Apple": {"DeviceToken": "AA11" * 16},
            "Windows": {"ChannelUri": "https://db5.notify.windows.com/?token=AwYA"},
            "Gcm": {"GcmRegistrationId": "gcm-token:APA91"}, "FcmV1": {"FcmV1RegistrationId": "fcm-token:APA91"},
            "Mpns": {"ChannelUri": "http://db3.notify.live.net/throttledthirdparty/01.00/AAF"},
            "Adm": {"AdmRegistrationId": "amzn1.adm-registration.v2.Y29t"},
            "Baidu": {"BaiduUserId": "9162", "BaiduChannelId": "3922"},
            "Browser": {"Endpoint": "https://push.example/wpush/v2/gAAA", "P256DH": P256DH, "Auth": AUTH},
        }
        for kind, handle in handles.items():
            for form in ("", "Template"):
                self._round(kind, form, handle)

    def _round(self, kind, form, handle):
        sdk, sentence = self.sdk, f"a registration of {kind}{form}"
        xml_template = {"Windows": TOAST_TEMPLATE, "Mpns": MPNS_TEMPLATE}
        template = xml_template.get(kind, JSON_TEMPLATE) if form else None
        headers = {
            "Apple": {"apns-push-type": "alert"}, "Windows": {"X-WNS-Type": "wns/toast"},
            "Mpns": {"X-NotificationClass": "2", "X-WindowsPhone-Target": "toast"},
        }.get(kind) if form else None
        xml = registration_xml(kind + form, handle, ["java", "k:" + kind.lower()], template, headers)
        made = sdk.create_registration(xml, sentence)
        if not made:
            return
        sdk.equal(f"{sentence} is of its class", made.kind, kind + form)
        for name, value in handle.items():
            sdk.equal(f"{sentence} has its {name}", made[name], value)
        sdk.equal(f"{sentence} has its tags", made["TagsFromString"], {"java", "k:" + kind.lower()})
        sdk.equal(f"{sentence} has its template", made["BodyTemplate"], template)
        sdk.equal(f"{sentence} has the first etag", made["Etag"], "1")
        sdk.that(f"{sentence} never expires", made["ExpirationTimeFromString"].year == 9999)
        if kind in ("Windows", "Mpns") and form:
            sdk.equal(f"{sentence} has its headers", {name: made[name] for name in headers}, headers)
        path = f"/registrations/{made['RegistrationId']}"
        read = sdk.call("GET", f"{path}?{sdk.version}")
        if sdk.expect(f"reading {sentence}", read, 200):
            again = sdk.read(f"what is read of {sentence}", java_reader.registration, read)
            sdk.equal(f"{sentence} is read as it was made", again and again.values, made.values)
        changed = registration_xml(kind + form, handle, ["java", "changed"], template, headers, made["Expiry"])
        for match in ('W/"1"', "*"):
            answer = sdk.put_registration("PUT", path, changed, {"If-Match": match})
            if sdk.expect(f"updating {sentence} with {match}", answer, 200):
                update = sdk.read(f"updating {sentence}", java_reader.registration, answer)
                sdk.equal(f"{sentence} has its new tags", update and update["TagsFromString"], {"java", "changed"})
        stale = sdk.put_registration("PUT", path, changed, {"If-Match": 'W/"1"'})
        sdk.refused(f"a stale update of {sentence}", stale, 412)

    def identities(self):
        """Ids that were handed out, upserts, deletions, and an id that is gone."""
        sdk, xml = self.sdk, registration_xml("Apple", {"DeviceToken": "AA12" * 16}, ["java"])
        identifier = sdk.new_identifier()
        sdk.that("ids have the original's form", re.fullmatch(r"\d{19}-\d{19}-[123]", identifier), identifier)
        path = f"/registrations/{identifier}"
        for _ in range(2):
            answer = sdk.put_registration("PUT", path, xml)
            if sdk.expect("an upsert", answer, 200):
                made = sdk.read("an upsert", java_reader.registration, answer)
                sdk.equal("the id stays", made and made["RegistrationId"], identifier)
        for status in (200, 404):
            deleted = sdk.call("DELETE", f"{path}?{sdk.version}", {"If-Match": "*"})
            sdk.expect("a deletion", deleted, status)
            if status == 200:
                sdk.equal("a deletion has no body", deleted.body, b"")
        kept = sdk.create_registration(xml, "a registration to delete with its etag")
        if kept:
            target = f"/registrations/{kept['RegistrationId']}?{sdk.version}"
            for match, status in (('W/"2"', 412), ('W/"1"', 200)):
                sdk.expect(f"a deletion of {match}", sdk.call("DELETE", target, {"If-Match": match}), status)
        sdk.refused("reading what was deleted", sdk.call("GET", f"{path}?{sdk.version}"), 404, "")
        again = sdk.put_registration("PUT", path, xml)
        sdk.expect("an upsert under a deleted id", again, 410, 200)
        update = sdk.put_registration("PUT", f"/registrations/{sdk.new_identifier()}", xml, {"If-Match": "*"})
        sdk.refused("an update of what never was", update, 404)

    def listings(self):
        sdk = self.sdk
        everything = self._pages(f"/registrations?{sdk.version}", 3)
        sdk.equal("pages hold each registration once", len(set(everything)), len(everything))
        whole = sdk.call("GET", f"/registrations?{sdk.version}")
        if sdk.expect("a list", whole, 200):
            read = sdk.read("a list", java_reader.registrations, whole)
            sdk.equal("a list is what the pages were", {one["RegistrationId"] for one in read}, set(everything))
            sdk.equal("a last page names no other", whole["x-ms-continuationtoken"], None)
        # Apple's templates and registrations, changed above, and one that is of another platform.
        for handle, kinds in {
            "AA11" * 16: {"Apple", "AppleTemplate"}, "aa11" * 16: {"Apple", "AppleTemplate"},
            "fcm-token:APA91": {"FcmV1", "FcmV1Template"}, "amzn1.adm-registration.v2.Y29t": {"Adm", "AdmTemplate"},
            "https://db5.notify.windows.com/?token=AwYA": {"Windows", "WindowsTemplate"}, "no such handle": set(),
        }.items():
            channel = form_encoded(f"ChannelUri eq '{handle}'")
            answer = sdk.call("GET", f"/registrations?{sdk.version}&$filter={channel}")
            if sdk.expect("a list by channel", answer, 200):
                read = sdk.read("a list by channel", java_reader.registrations, answer)
                sdk.equal(f"the registrations of {handle[:20]}", {one.kind for one in read}, kinds)
        tagged = self._pages(f"/tags/changed/registrations?{sdk.version}", 5)
        sdk.equal("a list by tag", len(tagged), 16)
        none = sdk.call("GET", f"/tags/nobody/registrations?{sdk.version}")
        if sdk.expect("a list of nothing", none, 200):
            sdk.equal("a list of nothing", sdk.read("a list of nothing", java_reader.registrations, none), [])

    def _pages(self, path, top):
        found, token = [], None
        while True:
            query = f"&$top={top}" + (f"&ContinuationToken={token}" if token else "")
            answer = self.sdk.call("GET", path + query)
            if not self.sdk.expect("a page", answer, 200):
                return found
            page = self.sdk.read("a page", java_reader.registrations, answer)
            self.sdk.that("a page holds no more than was asked for", len(page) <= top, len(page))
            found += [one["RegistrationId"] for one in page]
            token = answer["x-ms-continuationtoken"]
            if token is None or len(found) > 200:
                return found
            self.sdk.that("a token stands in an address raw", re.fullmatch("[A-Za-z0-9_-]+", token), token)

    def oddities(self):
        """What the SDK writes though it is not XML, and what it echoes."""
        sdk = self.sdk
        channel = {"ChannelUri": "https://db5.notify.windows.com/?token=a&b=c&amp;d"}
        made = sdk.create_registration(registration_xml("Windows", channel), "a raw ampersand")
        if made:
            sdk.equal("a raw ampersand is kept", made["ChannelUri"], "https://db5.notify.windows.com/?token=a&b=c&d")
        for kind, handle, template in (
            ("Windows", {"ChannelUri": "https://db5.notify.windows.com/?token=stray"}, TOAST_TEMPLATE),
            ("Apple", {"DeviceToken": "AA13" * 16}, JSON_TEMPLATE),
        ):
            xml = registration_xml(kind + "Template", handle, ["stray"], template)
            made = sdk.create_registration(xml, f"a {kind} template without headers")
            if made and kind == "Apple":
                # The nil expiry is read as an empty text, which an update then echoes.
                again = registration_xml("AppleTemplate", handle, ["stray"], template, None, made["Expiry"])
                path = f"/registrations/{made['RegistrationId']}"
                sdk.expect("an update that echoes its expiry", sdk.put_registration("PUT", path, again), 200)
        body = 'an end ]]]]><![CDATA[> within'
        made = sdk.create_registration(
            registration_xml("GcmTemplate", {"GcmRegistrationId": "cdata"}, [], '{"data":{"m":"' + body + '"}}'),
            "a template with the end of a CDATA section")
        if made:
            sdk.equal("it is kept", made["BodyTemplate"], '{"data":{"m":"an end ]]> within"}}')
        older = {"Content-Encoding": "utf-8"}
        xml = registration_xml("Apple", {"DeviceToken": "AA14" * 16})
        answer = sdk.put_registration("POST", "/registrations", xml, older)
        sdk.expect("the content encoding of older releases", answer, 200)

    def installations(self):
        sdk = self.sdk
        browser = json.dumps({"endpoint": "https://push.example/abc", "p256dh": P256DH, "auth": AUTH})
        for platform, channel in {
            "apns": "AA15" * 16, "wns": "https://db5.notify.windows.com/?token=inst",
            "mpns": "http://db3.notify.live.net/i",
            "adm": "amzn1.inst", "gcm": "gcm-inst", "fcmv1": "fcm-inst", "baidu": "1-2", "browser": browser,
        }.items():
            self._installation(platform, channel)

    def _installation(self, platform, channel):
        sdk, identifier = self.sdk, f"java-{platform}"
        path, sentence = f"/installations/{identifier}?{sdk.version}", f"an installation of {platform}"
        template = {"body": JSON_TEMPLATE if platform not in ("wns", "mpns") else TOAST_TEMPLATE, "tags": ["t1"]}
        if platform in ("wns", "mpns"):
            template["headers"] = {"X-WNS-Type": "wns/toast"} if platform == "wns" else {"X-NotificationClass": "2"}
        content = {
            "pushChannel": channel, "installationId": identifier, "platform": platform, "pushChannelExpired": False,
            "userId": "user1", "expirationTime": "2099-02-19T07:48:00.000Z", "tags": ["a", "b"],
            "templates": {"news": template},
        }
        if platform == "wns":
            tile = {"pushChannel": f"{channel}-tile", "pushChannelExpired": False, "tags": ["t"]}
            content["secondaryTiles"] = {"tile1": tile | {"templates": {"a": template}}}
        put = sdk.call("PUT", path, {"Content-Type": "application/json; charset=UTF-8"}, json.dumps(content).encode())
        if not sdk.expect(f"putting {sentence}", put, 200):
            return
        sdk.equal(f"putting {sentence} has no body", put.body, b"")
        operations = [
            {"op": "add", "path": "/tags", "value": "t3"}, {"op": "remove", "path": "/tags/a"},
            {"op": "replace", "path": "/userId", "value": "user2"}, {"op": "add", "path": "/tags/t4", "value": "t4"},
            {"op": "add", "path": "/templates/other", "value": json.dumps(template)},
        ]
        fields = {"Content-Type": "application/json; charset=UTF-8"}
        patch = sdk.call("PATCH", path, fields, json.dumps(operations).encode())
        sdk.expect(f"patching {sentence}", patch, 200)
        answer = sdk.call("GET", path)
        if sdk.expect(f"reading {sentence}", answer, 200):
            read = json.loads(answer.body)
            sdk.equal(f"{sentence} has its platform", read["platform"].lower(), platform)
            sdk.equal(f"{sentence} has its channel as it was stored", read["pushChannel"], channel)
            sdk.equal(f"{sentence} has its tags", sorted(read["tags"]), ["b", "t3", "t4"])
            sdk.equal(f"{sentence} has its user", read["userId"], "user2")
            sdk.equal(f"{sentence} has its templates", sorted(read["templates"]), ["news", "other"])
            sdk.equal(f"{sentence} has its template", read["templates"]["other"]["body"], template["body"])
            if platform == "wns":
                tile = read["secondaryTiles"]["tile1"]
                found = tile["pushChannel"], list(tile["templates"])
                sdk.equal(f"{sentence} has its tile", found, (f"{channel}-tile", ["a"]))
            sdk.equal(f"{sentence} expires when it said", documents.xsd_time(read["expirationTime"]).year, 2099)
        sdk.expect(f"deleting {sentence}", sdk.call("DELETE", path), 204)
        sdk.refused(f"reading {sentence} behind its end", sdk.call("GET", path), 404, "Installation not found")
        sdk.expect(f"deleting {sentence} again", sdk.call("DELETE", path), 204)

    def management(self):
        sdk, (rule, key) = self.sdk, self.place.namespace

        def call(method, target, headers=None, body=None):
            return sdk.request(method, target, headers, body, None, rule, key)

        version = "api-version=2014-09"
        absent = "null"
        apns = dict.fromkeys(("ApnsCertificate", "CertificateKey"), absent)
        apns |= {"Endpoint": "https://api.push.apple.com:443/3/device"}
        gcm = {"GcmEndpoint": "https://fcm.googleapis.com/fcm/send", "GoogleApiKey": "AAAA:key"}
        adm = {"ClientId": "amzn1.application-oa2-client.1", "ClientSecret": "secret", "AuthTokenUrl": absent,
               "SendUrlTemplate": absent}

        def xml(**credentials):
            text = HEAD.format("NotificationHubDescription")
            for name, properties in credentials.items():
                pairs = "".join(f"<Property><Name>{one}</Name><Value>{value}</Value></Property>"
                                for one, value in properties.items())
                text += f"<{name}Credential><Properties>{pairs}</Properties></{name}Credential>"
            return (text + FOOT.format("NotificationHubDescription")).encode()

        atom = {"Content-Type": "application/atom+xml; charset=UTF-8"}
        created = call("PUT", f"/java-made?{version}", atom, xml(Gcm=gcm, Adm=adm))
        if sdk.expect("creating a hub", created, 201):
            hub = sdk.read("the hub that was created", java_reader.hub, created)
            sdk.equal("a hub has its name", hub and hub["Path"], "java-made")
            sdk.equal("a hub shows its credential but not its secret", hub and hub["GcmCredential"], {
                "GcmEndpoint": gcm["GcmEndpoint"]})
        again = call("PUT", f"/java-made?{version}", atom, xml())
        sdk.refused("creating it again", again, 409, "SubCode=40900. Conflict")
        updated = call("PUT", f"/java-made?{version}", atom | {"If-Match": "*"}, xml(Adm=adm))
        if sdk.expect("updating a hub", updated, 200):
            hub = sdk.read("the hub that was updated", java_reader.hub, updated)
            sdk.equal("an update replaces all", hub and hub["GcmCredential"], None)
        read = call("GET", f"/java-made?{version}")
        if sdk.expect("reading a hub", read, 200):
            hub = sdk.read("a hub", java_reader.hub, read)
            sdk.equal("neither what was null nor a secret is there", hub and hub["AdmCredential"], {
                "ClientId": adm["ClientId"], "AuthTokenUrl": "https://api.amazon.com/auth/O2/token",
                "SendUrlTemplate": "https://api.amazon.com/messaging/registrations/{0}/messages"})
        listed = call("GET", f"/$Resources/NotificationHubs/?{version}&$skip=0&$top=2147483647")
        if sdk.expect("listing hubs", listed, 200):
            hubs = sdk.read("the hubs", java_reader.hubs, listed)
            names = {hub["Path"] for hub in hubs}
            sdk.that("the hubs are listed", {"java-made", sdk.hub} <= names, names)
        # A certificate in the binary protocol's time: nothing to send with, but nothing to throw at either.
        endless = call("PUT", f"/java-made?{version}", atom | {"If-Match": "*"}, xml(Apns=apns))
        sdk.expect("an APNs credential with nothing in it", endless, 200, 400)
        self.own_hub_written_back(call, version, xml)
        for status in (200, 404):
            sdk.expect("deleting a hub", call("DELETE", f"/java-made?{version}"), status)
        sdk.expect("reading no hub", call("GET", f"/java-made?{version}"), 404)

    def own_hub_written_back(self, call, version, xml):
        """A manager that reads its hub and updates it writes `null` for all that it does not know."""
        sdk = self.sdk
        read = call("GET", f"/{sdk.hub}?{version}")
        if not sdk.expect("reading a hub with a credential", read, 200):
            return
        found = sdk.read("a hub with a credential", java_reader.hub, read)
        known = (found and found["ApnsCredential"]) or {}
        holds = "Endpoint" in known and "Token" not in known
        sdk.that("its credential has an endpoint and no key", holds, sorted(known))
        written = dict.fromkeys(java_reader.CREDENTIALS["Apns"].split(), "null") | known
        atom = {"Content-Type": "application/atom+xml; charset=UTF-8", "If-Match": "*"}
        updated = call("PUT", f"/{sdk.hub}?{version}", atom, xml(Apns=written))
        if sdk.expect("writing a hub back", updated, 200):
            again = sdk.read("a hub that was written back", java_reader.hub, updated)
            sdk.equal("it is as it was", again and again["ApnsCredential"], known)

    def refusals(self):
        sdk = self.sdk
        listener = JavaHub(self.place, sdk.hub, LISTEN, sdk.connection)
        answer = listener.send("apple", '{"aps":{"alert":"x"}}')
        if listener.expect("a send with the key of listeners", answer, 403):
            sdk.equal("it has no body", answer.body, b"")
        for name in ("trackingid", "x-ms-correlation-request-id"):
            sdk.that(f"it has {name}", answer[name], answer)
        stranger = JavaHub(self.place, sdk.hub, FULL, sdk.connection)
        stranger.key = "d3Jvbmc="
        wrong = stranger.call("GET", f"/registrations?{sdk.version}")
        sdk.refused("a wrong key", wrong, 401, "InvalidSignature: The token has an invalid signature.")
        stranger.rule = "Nobody"
        sdk.refused("an unknown rule", stranger.call("GET", f"/registrations?{sdk.version}"), 401)
        nowhere = JavaHub(self.place, sdk.hub, FULL, sdk.connection)
        nowhere.hub, (nowhere.rule, nowhere.key) = "no-such-hub", self.place.namespace
        missing = nowhere.call("GET", f"/registrations?{sdk.version}")
        sdk.refused("a hub that is not", missing, 404, "No service is hosted at the specified address.")
        mine = str(uuid.uuid4())
        tracked = sdk.call("GET", f"/registrations?{sdk.version}&$top=1", tracking=mine)
        sdk.field("an answer", tracked, "trackingid", mine)
        sdk.that("an answer has a correlation id", tracked["x-ms-correlation-request-id"], tracked)
        typed = b"<!DOCTYPE entry [<!ENTITY a 'b'>]>"
        for sentence, body in {
            "no XML": b"registration", "an empty registration": registration_xml("Apple", {}),
            "a token that is no hexadecimal text": registration_xml("Apple", {"DeviceToken": "XYZ1"}),
            "an unknown platform": registration_xml("Pigeon", {"RingId": "1"}),
            "a tag with a space": registration_xml("Apple", {"DeviceToken": "AA11" * 16}, ["a b"]),
            "a document type": typed + registration_xml("Apple", {"DeviceToken": "AA"})[38:],
        }.items():
            sdk.refused(sentence, sdk.put_registration("POST", "/registrations", body), 400)
        odd = sdk.call("GET", f"/registrations?{sdk.version}&$filter={form_encoded('Color eq 1')}")
        sdk.refused("an unknown filter", odd, 400)
