import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletCore

struct TestSendsTests {
    private let hello = Notification.Content.native(CarrierPigeon.platform, Message(body: Array("hello".utf8)))

    private func testSends(_ flight: Flight) -> TestSends {
        TestSends(
            devices: flight.storage, resolver: LaneResolver(hubs: flight.hubs, platforms: flight.platforms),
            sender: flight.deliverer.sender,
            time: flight.time)
    }

    @Test func everyDeviceHasAnOutcomeInTheWordsOfTheOriginal() async throws {
        let flight = try await Flight { loft, _ in
            switch loft {
            case "dead": answered(404)
            case "later": answered(429)
            case "odd": answered(400)
            default: answered(200)
            }
        }
        for loft in ["well", "dead", "later", "odd"] { try await flight.register(loft, id: "id-\(loft)") }
        let report = try await testSends(flight).send(hello, to: .audience(nil), in: flight.hub)
        #expect(report.results.map(\.handle) == ["well", "dead", "later", "odd"].map { PushHandle($0) })
        #expect(report.results.map(\.registration) == ["id-well", "id-dead", "id-later", "id-odd"])
        #expect(
            report.results.map(\.text) == [
                "The Notification was successfully sent to the Push Notification System",
                "The Push Notification System handle for the registration is invalid", "ChannelThrottled: LoftFull",
                "InvalidNotificationFormat: Unreadable",
            ])
        #expect([report.successes, report.failures] == [1, 3])
        #expect(flight.transport.sent.count == 4, "nothing is tried again")
        #expect(try await flight.storage.unfinished(after: .none, limit: 9).isEmpty, "nothing is stored")
        #expect(try await flight.registry.registration("id-dead", in: flight.hub) != nil)
    }

    @Test func aServicesStatusOfASuccessIsShown() async throws {
        let flight = try await Flight { loft, _ in
            .success(HTTPResponse(.ok, fields: loft == "found" ? ["feather": "grey-1"] : [:]))
        }
        for loft in ["found", "silent"] { try await flight.register(loft, id: loft) }
        let report = try await testSends(flight).send(hello, to: .audience(nil), in: flight.hub)
        let sentence = "The Notification was successfully sent to the Push Notification System"
        #expect(report.results.map(\.text) == ["\(sentence) (grey-1)", sentence])
        #expect(report.successes == 2)
    }

    @Test func atMostTenDevicesOfAllPlatformsAreReached() async throws {
        let flight = try await Flight()
        let template = Template(body: "\"$(msg)\"")
        for number in 1...12 { try await flight.register("l\(number)", id: "\(number)", template) }
        try await flight.register("native", id: "n")
        let content = Notification.Content.template(properties: Array(#"{"msg":"x"}"#.utf8))
        let report = try await testSends(flight).send(content, to: .audience(nil), in: flight.hub)
        #expect(report.results.map(\.registration) == (1...10).map { "\($0)" })
        #expect(flight.transport.sent.map(\.body) == Array(repeating: "\"x\"", count: 10))
    }

    @Test func whereAHandleHasSeveralRegistrationsTheOneThatWasMeantIsNamed() async throws {
        let flight = try await Flight()
        try await flight.register("loft", id: "first", tags: ["red"])
        try await flight.register("loft", id: "second", tags: ["blue"])
        let native = try await testSends(flight).send(
            hello, to: .audience(try TagExpression("blue")), in: flight.hub)
        #expect(native.results.map(\.registration) == ["second"])
        for id in ["third", "fourth"] {
            try await flight.register("loft", id: id, tags: ["green"], Template(body: "\"$(msg)\""))
        }
        let content = Notification.Content.template(properties: Array(#"{"msg":"x"}"#.utf8))
        let templates = try await testSends(flight).send(content, to: .audience(nil), in: flight.hub)
        #expect(templates.results.map(\.registration) == ["third", "fourth"])
    }

    @Test func aDirectTestSendNeedsNoRegistrationAndAMissingCredentialIsTold() async throws {
        let flight = try await Flight(hasCredential: false)
        let sends = testSends(flight)
        let direct = Notification.Target.direct([PushHandle("a")])
        let without = try await sends.send(hello, to: direct, in: flight.hub)
        #expect(without.results.map(\.text) == ["The Token obtained from the Token Provider is wrong"])
        try await flight.giveCredential()
        let with = try await sends.send(hello, to: direct, in: flight.hub)
        #expect(with.results.map(\.outcome) == [.success])
        #expect(with.results.map(\.registration) == [nil])
        #expect(try await sends.send(hello, to: .audience(nil), in: flight.hub).results.isEmpty)
    }

    @Test func theEleventhTestSendOfAMinuteHasToWait() async throws {
        let flight = try await Flight()
        let sends = testSends(flight)
        for _ in 0..<10 {
            _ = try await sends.send(hello, to: .audience(nil), in: flight.hub)
            flight.time.advance(by: .seconds(1))
        }
        do {
            _ = try await sends.send(hello, to: .audience(nil), in: flight.hub)
            Issue.record("that was the eleventh")
        } catch TestSendError.tooMany(let wait) {
            #expect(wait == .seconds(50))
        }
        let other = try await flight.hubs.create("dovecote").id
        _ = try await sends.send(hello, to: .audience(nil), in: other)
        flight.time.advance(by: .seconds(50))
        _ = try await sends.send(hello, to: .audience(nil), in: flight.hub)
    }
}
