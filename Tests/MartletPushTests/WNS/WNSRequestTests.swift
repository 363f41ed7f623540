import MartletCore
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

struct WNSRequestTests {
    private static let channel = PushHandle("https://db5p.notify.windows.com/?token=Aw%2fB%3d&x=1")

    @Test(
        arguments: [
            ("wns/toast", "<toast><text>hello</text></toast>", "text/xml", "hello"),
            ("wns/tile", "<tile><text>one</text><text>two</text></tile>", "text/xml", "one: two"),
            ("wns/badge", #"<badge value="7"/>"#, "text/xml", nil),
            ("wns/raw", "anything < at all", "application/octet-stream", nil),
            ("WNS/Toast", "<toast/>", "text/xml", nil),
        ] as [(String, String, String, String?)])
    func whatTheTranslatorSendsTheServiceAcceptsAndTheDeviceShows(
        type: String, body: String, contentType: String, text: String?
    ) throws {
        var fixture = try WNSFixture()
        let handle = try fixture.channel()
        let message = WNSFixture.message(body, ["x-wns-type": type, "x-wns-cache-policy": "cache"])
        let request = try fixture.request(message, to: handle)
        #expect(request.fields["content-type"] == contentType)
        let answer = fixture.simulator.answer(request, at: WNSFixture.now)
        #expect(fixture.service.outcome(of: answer.response, at: WNSFixture.now) == .accepted)
        let delivery = try #require(fixture.simulator.devices[handle.text]?.inbox.last)
        #expect(delivery.payload == .string(body) && delivery.text == text)
        #expect(delivery.headers == ["x-wns-type": type.lowercased(), "x-wns-cache-policy": "cache"])
        #expect(fixture.simulator.counters["unreadable"] == nil)
    }

    @Test func aRequestIsWhatTheServiceDocuments() throws {
        let message = WNSFixture.message(
            "<badge/>", ["x-wns-ttl": "60", "x-wns-tag": "t", "x-wns-priority": ""])
        let request = try WNSFixture.request(message, to: Self.channel, of: WNSFixture.service(), token: "abc")
        #expect(request.method == .post)
        #expect(request.target == "/?token=Aw%2fB%3d&x=1", "the query is sent as it was given")
        #expect(request.authority == "db5p.notify.windows.com")
        #expect(
            request.fields.map { "\($0.name): \($0.value)" } == [
                "authorization: Bearer abc", "content-type: text/xml", "x-wns-type: wns/badge", "x-wns-tag: t",
                "x-wns-ttl: 60", "content-length: 8",
            ])
        #expect(request.fields.first?.indexing == .never)
    }

    @Test func connectionsSpeakHTTP1AndReachPublicAddressesAlone() throws {
        let service = try WNSFixture.service().at(WNSFixture.origin(of: Self.channel, WNSFixture.service()))
        let shared = try service.shared(
            WNSFixture.message(), token: nil, expiry: WNSFixture.now, at: WNSFixture.now)
        #expect(shared.settings.version == .http1)
        #expect(shared.settings.addresses == .publicOnly)
        #expect(shared.plainSuccess == .field(name: "x-wns-status", value: "received"))
    }

    @Test(
        "Channels are below the service's name, at registration and when they are sent to",
        arguments: [
            "https://notify.windows.com/?token=a", "https://evilnotify.windows.com/?token=a",
            "https://db5.notify.windows.com.example/?token=a", "https://db5.notify.windows.com:8443/?token=a",
            "http://db5.notify.windows.com/?token=a", "https://user@db5.notify.windows.com/", "https://10.0.0.1/",
            "https://db5.notify.windows.com@example.com/", "https://example.com/?.notify.windows.com",
        ])
    func aHostThatIsNotTheServicesIsRefused(uri: String) throws {
        #expect(throws: PushServiceError.self) { try WNS.key(of: PushHandle(uri)) }
        let service = try WNSFixture.service()
        let error = #expect(throws: PushServiceError.self) { try WNSFixture.origin(of: PushHandle(uri), service) }
        #expect(error?.kind == .badHandle)
    }

    @Test(arguments: [
        ("https://localhost:8443/?token=a", "https://localhost:8443"), ("https://127.0.0.1:9/", "https://127.0.0.1:9"),
        ("https://[::1]/", "https://[::1]"),
    ])
    func channelsOnThisMachineAreOfASimulatedServiceWhoseAuthorityTheCredentialNames(
        uri: String, origin: String
    ) throws {
        #expect(throws: Never.self) { try WNS.key(of: PushHandle(uri)) }
        let real = try WNSFixture.service()
        #expect(throws: PushServiceError.self) { try WNSFixture.origin(of: PushHandle(uri), real) }
        let simulated = try WNSFixture().service
        #expect(try WNSFixture.origin(of: PushHandle(uri), simulated) == HTTPOrigin(origin))
        #expect(throws: PushServiceError.self) {
            try WNSFixture.origin(of: PushHandle("https://10.0.0.1/"), simulated)
        }
    }

    @Test func aMessageThatNothingTellsTheTypeOfIsRefused() throws {
        let service = try WNSFixture.service().at(WNSFixture.origin)
        let error = #expect(throws: PushServiceError.self) {
            try service.shared(
                WNSFixture.message("hello", [:]), token: nil, expiry: WNSFixture.now, at: WNSFixture.now)
        }
        #expect(error?.kind == .badMessage)
    }
}
