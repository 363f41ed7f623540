import Foundation
import MartletCore
import MartletHTTP
import MartletModel
import MartletPush
import Testing

@testable import MartletHubAPI

/// What clients do around registrations that a server must expect (NotificationHubs.md, section 16).
struct RegistrationTrapTests {
    private static let token = String(repeating: "0123456789abcdef", count: 4)
    private static let point =
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    private static let subscription =
        "<Endpoint>https://push.example/abc</Endpoint><P256DH>\(point)</P256DH><Auth>BTBZMqHH6r4Tts7J_aSIgg</Auth>"

    private func put(
        _ element: String, _ content: String, as id: String, in fixture: HubFixture
    ) async throws -> HTTPResponse {
        try await fixture.send(
            .put, "/demo/registrations/\(id)",
            body: "<\(element)RegistrationDescription>\(content)</\(element)RegistrationDescription>")
    }

    private func description(_ response: HTTPResponse) throws -> XMLElement {
        try #require(try XMLReader().read(response.bytes).child("content")?.children.first)
    }

    private func ids(_ filter: String, in fixture: HubFixture) async throws -> [String] {
        let query = PercentEncoding.encode(filter)
        let response = try await fixture.send(.get, "/demo/registrations?$filter=\(query)", as: "listen")
        #expect(response.status == .ok)
        return response.text.components(separatedBy: "<RegistrationId>").dropFirst().map {
            String($0.prefix { $0 != "<" })
        }
    }

    @Test(
        "Trap 6: registrations are found in any case of the path, with a slash behind or without",
        arguments: ["/demo/Registrations", "/demo/registrations/", "/DEMO/REGISTRATIONS/"])
    func pathsAreFoundInAnyCase(path: String) async throws {
        let fixture = try await HubFixture()
        #expect(try await fixture.send(.get, path).status == .ok)
        #expect(try await fixture.send(.post, "/demo/registrationIDs/").status == .created)
    }

    @Test("Trap 12: registrations of every kind answer 200 to POST and PUT")
    func registrationsAnswerOK() async throws {
        let fixture = try await HubFixture()
        let body =
            "<GcmTemplateRegistrationDescription><GcmRegistrationId>t</GcmRegistrationId>"
            + "<BodyTemplate>{}</BodyTemplate></GcmTemplateRegistrationDescription>"
        #expect(try await fixture.send(.post, "/demo/registrations", body: body).status == .ok)
        #expect(try await fixture.send(.put, "/demo/registrations/1", body: body).status == .ok)
    }

    @Test("Trap 16: an entry is well-formed whatever the texts in it are")
    func entriesAreWellFormed() async throws {
        let fixture = try await HubFixture()
        let body = #"{"a":"<&>\"]]> $(x)"}"#
        let response = try await put(
            "GcmTemplate",
            "<PushVariables>{&quot;&lt;b&gt;&quot;:&quot;&amp;]]&gt;&quot;}</PushVariables>"
                + "<GcmRegistrationId>&lt;&amp;'&quot;</GcmRegistrationId>"
                + "<BodyTemplate>\(body.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;"))"
                + "</BodyTemplate><TemplateName>&lt;n&gt;</TemplateName>",
            as: "1", in: fixture)
        let written = try description(response)
        #expect(written.child("BodyTemplate")?.text == body)
        #expect(written.child("TemplateName")?.text == "<n>")
        #expect(written.child("GcmRegistrationId")?.text == "<&'\"")
        #expect(written.child("PushVariables")?.text == #"{"<b>":"&]]>"}"#)
    }

    @Test("Trap 17: an entry and a feed are one line, without a declaration and with the prefixes a and i only")
    func entriesAreOneLine() async throws {
        let fixture = try await HubFixture()
        let entry = try await put(
            "AppleTemplate", "<DeviceToken>\(Self.token)</DeviceToken><BodyTemplate>{}</BodyTemplate>", as: "1",
            in: fixture)
        let feed = try await fixture.send(.get, "/demo/registrations")
        for text in [entry.text, feed.text] {
            #expect(!text.contains("\n") && !text.contains("<?xml") && !text.contains("> <"))
            let prefixes = text.matches(of: /[< ]([A-Za-z0-9]+):[A-Za-z]+[= ]/).map { String($0.1) }
            #expect(Set(prefixes).isSubset(of: ["a", "i", "xmlns"]))
        }
    }

    @Test("Trap 18: the elements of a description stand in the binding order")
    func elementsAreInOrder() async throws {
        let fixture = try await HubFixture()
        let response = try await put(
            "WindowsTemplate",
            "<TemplateName>n</TemplateName><WnsHeaders><WnsHeader><Header>X-WNS-Type</Header><Value>wns/toast</Value>"
                + "</WnsHeader></WnsHeaders><BodyTemplate>&lt;toast/&gt;</BodyTemplate>"
                + "<SecondaryTileName>s</SecondaryTileName><ChannelUri>https://w.notify.windows.com/</ChannelUri>"
                + "<PushVariables>{\"a\":\"b\"}</PushVariables><Tags>t</Tags>",
            as: "1", in: fixture)
        #expect(
            try description(response).children.map(\.name) == [
                "ETag", "ExpirationTime", "RegistrationId", "Tags", "PushVariables", "ChannelUri", "SecondaryTileName",
                "BodyTemplate", "WnsHeaders", "TemplateName",
            ])
    }

    @Test("Trap 19: a base type with i:type is answered by the concrete element")
    func theConcreteElementAnswers() async throws {
        let fixture = try await HubFixture()
        let body =
            "<RegistrationDescription xmlns:i='http://www.w3.org/2001/XMLSchema-instance' "
            + "i:type='x:AppleTemplateRegistrationDescription'><DeviceToken>\(Self.token)</DeviceToken>"
            + "<BodyTemplate>{}</BodyTemplate></RegistrationDescription>"
        let response = try await fixture.send(.put, "/demo/registrations/1", body: body)
        #expect(try description(response).name == "AppleTemplateRegistrationDescription")
    }

    @Test("Trap 20: the old FCM is written as Gcm, and is not the new one")
    func theOldFCMIsWrittenAsGcm() async throws {
        let fixture = try await HubFixture()
        let old = try await put("Gcm", "<GcmRegistrationId>t</GcmRegistrationId>", as: "1", in: fixture)
        let new = try await put("FcmV1", "<FcmV1RegistrationId>t</FcmV1RegistrationId>", as: "2", in: fixture)
        #expect(try description(old).name == "GcmRegistrationDescription")
        #expect(try description(new).name == "FcmV1RegistrationDescription")
        #expect(try await ids("GcmRegistrationId eq 't'", in: fixture) == ["1"])
        #expect(try await ids("FcmV1RegistrationId eq 't'", in: fixture) == ["2"])
    }

    @Test("Trap 21: a body stands in CDATA, split where it holds the end of one")
    func bodiesStandInCDATA() async throws {
        let fixture = try await HubFixture()
        let response = try await put(
            "GcmTemplate",
            "<GcmRegistrationId>t</GcmRegistrationId><BodyTemplate>{\"a\":\"]]&gt;&lt;b&gt;\"}</BodyTemplate>",
            as: "1", in: fixture)
        #expect(response.text.contains(#"<BodyTemplate><![CDATA[{"a":"]]]]><![CDATA[><b>"}]]></BodyTemplate>"#))
    }

    @Test("Trap 24: feeds for .NET go without registrations of browsers")
    func feedsForDotNetHaveNoBrowsers() async throws {
        let fixture = try await HubFixture()
        _ = try await put("Browser", Self.subscription, as: "browser", in: fixture)
        _ = try await put("Gcm", "<GcmRegistrationId>t</GcmRegistrationId>", as: "phone", in: fixture)
        let agents = [
            "NHub/2020-06 (api-origin=DotNetSdk;os=Linux;os-version=6)": 1, "NHub/2020-06 (api-origin=JavaSDK)": 2,
            "": 2,
        ]
        for (agent, count) in agents {
            let feed = try await fixture.send(.get, "/demo/registrations", fields: ["user-agent": agent])
            #expect(feed.count(of: "<entry ") == count)
        }
        // Who asks for the one gets it.
        let entry = try await fixture.send(
            .get, "/demo/registrations/browser", fields: ["user-agent": "NHub (api-origin=DotNetSdk)"])
        #expect(entry.status == .ok)
    }

    @Test(
        "Trap 25: documents are read as clients write them",
        arguments: [
            #"<entry xmlns = "https://www.w3.org/2005/Atom"><content type="text/xml"><AppleRegistrationDescription "#
                + #"xmlns="https://schemas.microsoft.com/netservices/2010/10/servicebus/connect">"#
                + "<DeviceToken> TOKEN\n</DeviceToken><Tags> a, b ,</Tags></AppleRegistrationDescription></content></entry>",
            "<AppleRegistrationDescription><RegistrationId i:nil='true' xmlns:i='x'/><Tags><![CDATA[a]]>,b</Tags>"
                + "<DeviceToken><![CDATA[TOKEN]]></DeviceToken><Unknown/></AppleRegistrationDescription>",
            "<AppleRegistrationDescription><Unknown>a&b</Unknown><Tags>a,b</Tags></WnsHeaders>"
                + "<DeviceToken>TOKEN</DeviceToken></AppleRegistrationDescription>",
        ])
    func documentsAreReadAsClientsWriteThem(document: String) async throws {
        let fixture = try await HubFixture()
        let response = try await fixture.send(
            .put, "/demo/registrations/1", body: document.replacing("TOKEN", with: Self.token))
        #expect(response.element("DeviceToken") == Self.token)
        #expect(response.element("Tags") == "a,b")
    }

    @Test("Trap 26: a document type declaration is refused before an entity is read")
    func documentTypesAreRefused() async throws {
        let fixture = try await HubFixture()
        let body =
            "<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><AppleRegistrationDescription>"
            + "<DeviceToken>&e;</DeviceToken></AppleRegistrationDescription>"
        let response = try await fixture.send(.put, "/demo/registrations/1", body: body)
        #expect(response.status == .badRequest)
        #expect(response.text.contains("document type declaration"))
    }

    @Test(
        "Trap 27: an update and a delete take the entity tag in every form, and a stale one is refused",
        arguments: ["W/\"1\"", "\"1\"", "1", "*", "\"*\""])
    func entityTagsAreTakenInEveryForm(tag: String) async throws {
        let fixture = try await HubFixture()
        let body = "<GcmRegistrationDescription><GcmRegistrationId>t</GcmRegistrationId></GcmRegistrationDescription>"
        for status in [HTTPStatus.notFound, .ok, .preconditionFailed] {
            if status == .ok { _ = try await fixture.send(.put, "/demo/registrations/1", body: body) }
            let stale = status == .preconditionFailed ? "\"7\"" : tag
            let response = try await fixture.send(
                .put, "/demo/registrations/1", fields: ["if-match": stale], body: body)
            #expect(response.status == status)
        }
        let delete = try await fixture.send(
            .delete, "/demo/registrations/1", fields: ["if-match": tag.replacing("1", with: "2")])
        #expect(delete.status == .ok)
        #expect(try await fixture.send(.put, "/demo/registrations/1", body: body).status == .gone)
        #expect(try await fixture.send(.delete, "/demo/registrations/1").status == .notFound)
    }

    @Test("Trap 38: ChannelUri asks for the handle of any platform")
    func channelURIAsksForAnyHandle() async throws {
        let fixture = try await HubFixture()
        let handles = [
            ("Apple", "<DeviceToken>\(Self.token.uppercased())</DeviceToken>", Self.token),
            ("Gcm", "<GcmRegistrationId>g</GcmRegistrationId>", "g"),
            ("FcmV1", "<FcmV1RegistrationId>f</FcmV1RegistrationId>", "f"),
            ("Adm", "<AdmRegistrationId>a</AdmRegistrationId>", "a"),
            ("Xiaomi", "<XiaomiRegistrationId>x</XiaomiRegistrationId>", "x"),
            (
                "Windows", "<ChannelUri>https://w.notify.windows.com/?token=a%2fb</ChannelUri>",
                "https://W.notify.windows.com/?token=a%2fb"
            ),
            ("Mpns", "<ChannelUri>http://m.notify.live.net/x</ChannelUri>", "http://m.notify.live.net/x"),
            ("Baidu", "<BaiduUserId>u</BaiduUserId><BaiduChannelId>c</BaiduChannelId>", "u-c"),
            ("Browser", Self.subscription, "https://push.example/abc"),
        ]
        for (element, content, _) in handles { _ = try await put(element, content, as: element, in: fixture) }
        for (element, _, handle) in handles {
            #expect(try await ids("ChannelUri eq '\(handle)'", in: fixture) == [element])
        }
    }

    @Test(
        "Trap 39: Baidu's handle is asked for without a first quote, and in one property",
        arguments: [
            "BaiduChannelId eq c-1' and BaiduUserId eq 'u'", "BaiduUserId eq 'u' and BaiduChannelId eq 'c-1'",
            "BaiduUserId-BaiduChannelId eq 'u-c-1'",
        ])
    func baidusHandleIsAskedForInItsOwnWays(filter: String) async throws {
        let fixture = try await HubFixture()
        let handle = "<BaiduUserId>u</BaiduUserId><BaiduChannelId>c-1</BaiduChannelId>"
        _ = try await put("Baidu", handle, as: "1", in: fixture)
        _ = try await put("Gcm", "<GcmRegistrationId>u-c-1</GcmRegistrationId>", as: "2", in: fixture)
        #expect(try await ids(filter, in: fixture) == ["1"])
    }

    @Test("JavaScript encodes URLs inside the values of its filters")
    func urlsInFiltersMayBeEncodedTwice() async throws {
        let fixture = try await HubFixture()
        _ = try await put("Browser", Self.subscription, as: "1", in: fixture)
        let filter = "Endpoint eq 'https%3A%2F%2Fpush.example%2Fabc' and P256DH eq '\(Self.point)' and Auth eq "
        #expect(try await ids(filter + "'BTBZMqHH6r4Tts7J_aSIgg'", in: fixture) == ["1"])
        _ = try await put(
            "Windows", "<ChannelUri>https://w.notify.windows.com/?token=a%2fb</ChannelUri>", as: "2", in: fixture)
        #expect(
            try await ids("ChannelUri eq 'https%3A%2F%2Fw.notify.windows.com%2F%3Ftoken%3Da%252fb'", in: fixture) == [
                "2"
            ])
    }
}
