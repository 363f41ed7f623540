import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletCore

/// What holds for services that have a pace, and for platforms that are sent to with another's credential.
struct PaceTests {
    private func flight(
        _ lofts: Int, pace: Int,
        _ answer: @escaping ScriptedTransport.Answer = { _, _ in .success(HTTPResponse(.ok)) }
    ) async throws -> Flight {
        let flight = try await Flight(pageSize: 1000, hasCredential: false, answer)
        try await flight.hubs.setCredential(
            Credential(["Whistle": "tweet", "Route": "\(pace)"]), for: CarrierPigeon.platform, of: "aviary")
        for number in 0..<lofts {
            _ = try await flight.registry.put(
                "r\(number)", in: flight.hub, platform: PacedPigeon.descriptor.platform,
                handle: PushHandle("loft\(number)"), tags: [])
        }
        return flight
    }

    @Test func aPageGoesAsFastAsThePaceAllows() async throws {
        let flight = try await flight(30, pace: 6000)
        let delivery = try await flight.accept(on: PacedPigeon.descriptor.platform)
        async let ending = flight.run(delivery)
        for sent in [18, 29] {
            await flight.time.untilSleeping()
            #expect(flight.transport.sent.count == sent, "a tenth of the pace, and a second's worth ahead")
            flight.time.advance(by: .seconds(1))
        }
        #expect(try await ending == .finished)
        #expect(Set(flight.transport.lofts).count == 30)
        #expect(try await flight.report(delivery).counts == [.success: 30])
    }

    @Test func whatTheServiceAsksForHoldsForWhatIsStillToBeSent() async throws {
        let flight = try await flight(300, pace: 60_000) { _, attempt in
            attempt == 1 ? .success(HTTPResponse(503, fields: ["retry-after": "30"])) : .success(HTTPResponse(.ok))
        }
        let delivery = try await flight.accept(on: PacedPigeon.descriptor.platform)
        guard case .paused(_, let until) = try await flight.run(delivery) else {
            Issue.record("the service asked for a pause")
            return
        }
        #expect(until >= flight.time.now + .seconds(30))
        #expect(flight.transport.sent.count < 300, "the rest of the page was not sent")
    }

    @Test func aPlatformWithoutACredentialOfItsOwnIsSentToWithAnothers() async throws {
        let flight = try await flight(1, pace: 600_000)
        let delivery = try await flight.accept(on: PacedPigeon.descriptor.platform)
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.sent.map(\.authorization) == ["whistle tweet-1700000000"])
        try await flight.hubs.setCredential(
            Credential(["Anything": "else"]), for: PacedPigeon.descriptor.platform, of: "aviary")
        let second = try await flight.accept(on: PacedPigeon.descriptor.platform)
        #expect(try await flight.run(second) == .finished)
    }
}
