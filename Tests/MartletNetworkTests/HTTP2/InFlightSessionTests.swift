import MartletHTTP
import Testing

@testable import MartletNetwork

/// Sessions keep to the limit for what is in flight.
struct InFlightSessionTests {
    /// A peer that takes a thousand requests at once.
    private func settings() -> HTTP2Settings {
        var settings = HTTP2Settings()
        settings.streamLimit = 1000
        return settings
    }

    @Test(arguments: BulkPair.Kind.allCases)
    func aPeerThatAnswersAThousandASecondHas200RequestsAtMost(_ kind: BulkPair.Kind) {
        var waiting: [any ResponseStream] = []
        let dispatch = FakeDispatch { _, stream in waiting.append(stream) }
        let pair = BulkPair(kind, settings: settings(), dispatch: dispatch, inFlight: InFlightLimit())
        pair.draw(notifications(1_500))
        pair.run()
        #expect(waiting.count == InFlightLimit.leastOfLane)
        var most = 0
        while pair.ledger.entries.count < 1_500, !waiting.isEmpty {
            for stream in waiting.prefix(5) { stream.send(HTTPResponse(.ok)) }
            waiting.removeFirst(min(5, waiting.count))
            pair.pass(.milliseconds(5))
            pair.run()
            most = max(most, waiting.count)
        }
        #expect(pair.ledger.entries.count == 1_500)
        #expect((150...220).contains(most), "\(most) at once")
    }

    @Test(arguments: BulkPair.Kind.allCases) func aPeerThatIsOnlyFarAwayHasAllThatItTakes(_ kind: BulkPair.Kind) {
        var waiting: [any ResponseStream] = []
        let dispatch = FakeDispatch { _, stream in waiting.append(stream) }
        let pair = BulkPair(kind, settings: settings(), dispatch: dispatch, inFlight: InFlightLimit())
        pair.draw(notifications(5_000))
        pair.run()
        for _ in 0..<3 {
            pair.pass(.milliseconds(80))
            let arrived = waiting
            waiting = []
            for stream in arrived { stream.send(HTTPResponse(.ok)) }
            pair.run()
        }
        #expect(waiting.count == 1000)
    }

    @Test(arguments: BulkPair.Kind.allCases) func aRequestOfItsOwnDoesNotWaitForABatch(_ kind: BulkPair.Kind) {
        let dispatch = FakeDispatch { _, _ in }
        let pair = BulkPair(kind, settings: settings(), dispatch: dispatch, inFlight: InFlightLimit())
        pair.draw(notifications(500))
        pair.run()
        #expect(pair.client.capacity > 0)
        let request = HTTPRequest(.get, "/", authority: "push.example")
        _ = pair.client.start(request, to: testOrigin, receiver: FakeReceiver())
        pair.run()
        #expect(pair.dispatch.requests.count == InFlightLimit.leastOfLane + 1)
    }
}
