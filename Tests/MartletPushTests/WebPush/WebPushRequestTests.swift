import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import Testing

@testable import MartletPush

struct WebPushRequestTests {
    @Test(arguments: WebPushFlavour.allCases)
    func whatTheTranslatorSendsEveryServiceAcceptsAndTheBrowserReads(flavour: WebPushFlavour) throws {
        var fixture = try WebPushFixture()
        let handles = try (0..<3).map { _ in try fixture.subscribe(flavour) }
        let fields = ["urgency": "high", "topic": "news", "ttl": "60"]
        let requests = try fixture.requests(WebPushFixture.message(fields: fields), to: handles)
        #expect(Set(requests.map(\.body)).count == 3)
        for (handle, request) in zip(handles, requests) {
            let answer = fixture.simulator.answer(request, at: WebPushFixture.now)
            #expect(answer.response.status == .created)
            #expect(answer.response.fields["ttl"] == "60")
            #expect(fixture.service.outcome(of: answer.response, at: WebPushFixture.now) == .accepted)
            let delivery = try #require(fixture.simulator.devices[fixture.simulator.text(of: handle)]?.inbox.last)
            #expect(delivery.payload == ["title": "hello"] && delivery.text == "hello")
            #expect(delivery.headers == ["urgency": "high", "topic": "news", "ttl": "60"])
        }
        #expect(fixture.simulator.counters["undecryptable"] == nil)
    }

    @Test func aRequestHasTheFieldsOfTheStandard() throws {
        var fixture = try WebPushFixture()
        let handle = try fixture.subscribe()
        let request = try #require(fixture.requests(WebPushFixture.message(), to: [handle]).first)
        #expect(
            request.fields.map(\.name) == ["authorization", "ttl", "content-encoding", "content-type"])
        #expect(request.fields["ttl"] == "600", "as long as the hub would keep it")
        #expect(request.fields.first?.indexing == .never)
        let proof = try #require(VAPIDProof(request.fields["authorization"] ?? ""))
        let token = try #require(VAPIDToken(proof.token[...]))
        #expect(token.audience == "https://localhost:8443")
        #expect(token.expiry == WebPushFixture.now + .seconds(43_200))
        #expect(token.isSigned(by: try fixture.key().publicKey))
        #expect(proof.key == fixture.credential.properties["VapidPublicKey"])
    }

    @Test func aMessageThatHasExpiredIsForBrowsersThatAreThere() throws {
        var fixture = try WebPushFixture()
        let handle = try fixture.subscribe()
        let past = WebPushFixture.now + .seconds(-1)
        let request = try #require(fixture.requests(WebPushFixture.message(), to: [handle], expiry: past).first)
        #expect(request.fields["ttl"] == "0")
    }

    @Test func eachSubscriptionHasItsOrigin() throws {
        let service = try WebPushFixture.serviceForAll()
        for (endpoint, origin) in [
            ("https://push.example/a", "https://push.example"),
            ("https://PUSH.example:444/a?b", "https://push.example:444"),
            ("https://[2001:db8::1]/x", "https://[2001:db8::1]"),
        ] {
            #expect(try WebPushFixture.origin(of: PushHandle(endpoint, "p", "a"), service) == HTTPOrigin(origin))
        }
        #expect(throws: PushServiceError.self) { try WebPushFixture.origin(of: PushHandle("nothing"), service) }
    }

    @Test(arguments: [
        ("https://push.example/a/b?c=d", "/a/b?c=d"), ("https://push.example", "/"), ("https://push.example/", "/"),
        ("https://push.example?c", "/?c"), ("https://push.example/a#f", "/a"),
    ])
    func aPathIsSentAsTheEndpointHasIt(endpoint: String, path: String) throws {
        let handle = PushHandle(endpoint, WebPushFixture.point, WebPushFixture.secret)
        let subscription = try #require(WebPushSubscription(handle.text.utf8))
        #expect("/" + String(decoding: subscription.pathAfterSlash, as: UTF8.self) == path)
    }

    @Test func aHandleThatIsNoSubscriptionIsRefusedAndLeavesTheBatchAsItWas() throws {
        let service = try WebPushFixture().service.at(WebPushFixture.origin)
        let message = WebPushFixture.message()
        var batch = RequestBatch(
            try service.shared(message, token: nil, expiry: WebPushFixture.now, at: WebPushFixture.now))
        let off = String(WebPushFixture.point.dropLast()) + "A"
        for handle in [
            PushHandle("x"), PushHandle("https://a/b", WebPushFixture.point, "BTBZ"),
            PushHandle("https://a/b", off, WebPushFixture.secret),
        ] {
            let error = #expect(throws: PushServiceError.self) {
                try WebPushFixture.append(handle, message, of: service, to: &batch)
            }
            #expect(error?.kind == .badHandle)
        }
        #expect(batch.count == 0)
    }

    @Test func tokensAreMadeHoursBeforeTheyEndAndNotEveryHour() throws {
        let service = try WebPushFixture().service.at(WebPushFixture.origin)
        guard case .token(let token) = try service.authorization(at: WebPushFixture.now) else {
            Issue.record("a sender proves itself by a token")
            return
        }
        #expect(token.renewableAt - WebPushFixture.now >= .seconds(3600))
        #expect(token.expiresAt - WebPushFixture.now <= .seconds(43_200 - 3600))
    }
}

extension WebPushSimulator {
    /// The text by which the simulator knows a subscription.
    func text(of handle: PushHandle) -> String {
        subscriptions.values.first { WebPush.handle(from: $0.handle) == handle }?.handle ?? ""
    }
}

extension WebPushFixture {
    static func message(fields: [String: String]) -> Message { message(#"{"title":"hello"}"#, fields) }
}
