import MartletHTTP
import Testing

@testable import MartletNetwork

/// Connections that are alive and of no use any more, by both client protocols.
@Suite struct HTTP2RecyclingTests {
    /// A pair whose server never answers what is for a device called `silent`, and refuses the credential for `refused`.
    private func pair(_ kind: BulkPair.Kind) -> BulkPair {
        BulkPair(
            kind,
            dispatch: FakeDispatch { request, stream in
                if request.target.hasSuffix("refused") {
                    let reason = Array(#"{"reason":"ExpiredProviderToken"}"#.utf8)
                    stream.send(HTTPResponse(403, body: .bytes(reason)))
                } else if !request.target.hasSuffix("silent") {
                    stream.send(HTTPResponse(.ok))
                }
            })
    }

    private func batch(_ names: [String]) -> RequestBatch {
        var batch = RequestBatch(
            RequestBatch.Shared(origin: testOrigin, pathPrefix: "/3/device/", itemFieldNames: ["apns-id"], body: [1]))
        for name in names { batch.append(path: name.utf8, values: [Array("id".utf8)]) }
        return batch
    }

    @Test(arguments: BulkPair.Kind.allCases)
    func aConnectionThatLeavesThreeRequestsUnansweredTakesNoMore(_ kind: BulkPair.Kind) {
        let pair = pair(kind)
        for round in 1...3 {
            #expect(pair.client.isOpen)
            pair.draw(batch(["a\(round)", "silent", "b\(round)"]), within: .seconds(6))
            pair.run()
            pair.pass(.seconds(6))
            pair.run()
        }
        #expect(!pair.client.isOpen)
        #expect(pair.owner.changes > 0)
        let next = pair.draw(batch(["c"]))
        pair.run()
        #expect(next.waiting == 1, "it is left to another connection")
        #expect(pair.client.isFinished)
    }

    @Test(arguments: BulkPair.Kind.allCases)
    func oneUnansweredRequestIsEnoughOnceACredentialWasRefused(_ kind: BulkPair.Kind) {
        let pair = pair(kind)
        pair.draw(batch(["refused", "silent"]), within: .seconds(6))
        pair.run()
        #expect(pair.client.isOpen, "the token is replaced before anything else")
        pair.pass(.seconds(6))
        pair.run()
        #expect(!pair.client.isOpen)
        #expect(pair.client.isFinished)
    }

    @Test(arguments: BulkPair.Kind.allCases)
    func requestsUnderWayAreWaitedFor(_ kind: BulkPair.Kind) {
        var waiting: [any ResponseStream] = []
        let pair = BulkPair(
            kind,
            dispatch: FakeDispatch { request, stream in
                if !request.target.hasSuffix("silent") { waiting.append(stream) }
            })
        pair.draw(batch(["silent", "silent", "silent"]), within: .seconds(6))
        let late = pair.draw(batch(["a", "b"]))
        pair.run()
        pair.pass(.seconds(6))
        pair.run()
        #expect(!pair.client.isOpen)
        #expect(!pair.client.isFinished)
        for stream in waiting { stream.send(HTTPResponse(.ok)) }
        pair.run()
        #expect(late.isComplete)
        #expect(pair.client.isFinished)
    }

    @Test(arguments: BulkPair.Kind.allCases)
    func requestsOfTheirOwnCountWhereTheyWereLateAndNotWhereNobodyWantedThem(_ kind: BulkPair.Kind) {
        let pair = pair(kind)
        pair.run()
        func ask(isLate: Bool) {
            let number = pair.client.start(HTTPRequest(.get, "/silent"), to: testOrigin, receiver: FakeReceiver())
            pair.run()
            pair.pass(.seconds(6))
            pair.client.cancel(number, isLate: isLate)
            pair.run()
        }
        for _ in 0..<5 { ask(isLate: false) }
        #expect(pair.client.isOpen)
        for _ in 0..<3 { ask(isLate: true) }
        #expect(!pair.client.isOpen)
    }

    @Test(arguments: BulkPair.Kind.allCases)
    func aLimitThatFallsWhileStreamsAreOpenLosesNothingAndIsWaitedFor(_ kind: BulkPair.Kind) {
        for fallen in [UInt32(1), 0] {
            var waiting: [(request: HTTPRequest, stream: any ResponseStream)] = []
            let pair = BulkPair(kind, dispatch: FakeDispatch { waiting.append(($0, $1)) })
            pair.draw(notifications(50))
            pair.run()
            #expect(waiting.count == 50)
            // As the push services do it: what is over the limit is refused, which processes nothing.
            pair.control.announce(streamLimit: fallen)
            for (request, _) in waiting.dropFirst(10) { pair.control.reset(request.streamID, code: .refusedStream) }
            let kept = waiting.prefix(10)
            waiting = []
            pair.run()
            #expect(waiting.isEmpty, "nothing goes while more is open than is allowed")
            for (_, stream) in kept { stream.send(HTTPResponse(.ok)) }
            pair.run()
            #expect(waiting.count == Int(fallen))
            pair.control.announce(streamLimit: 100)
            pair.run()
            while !waiting.isEmpty {
                let open = waiting
                waiting = []
                for (_, stream) in open { stream.send(HTTPResponse(.ok)) }
                pair.run()
            }
            #expect(pair.ledger.entries.count == 50)
            #expect(pair.ledger.doubles == 0)
        }
    }

    @Test func bodiesThatFillTheConnectionsWindowHoldItBackAndTheNextOnesWait() {
        var settings = HTTP2Settings()
        settings.connectionWindow = 65_535
        let pair = BulkPair(settings: settings)
        pair.control.withholdWindows(true)
        pair.draw(notifications(40, body: [UInt8](repeating: 1, count: 4_096)))
        pair.run()
        #expect(pair.dispatch.requests.count == 15, "whole bodies of 4 KiB that fit into 65,535 bytes")
        #expect(pair.client.isHeldBack)
        #expect(pair.client.capacity > 0, "streams there are enough of")
        pair.control.withholdWindows(false)
        pair.run()
        #expect(!pair.client.isHeldBack)
        #expect(pair.ledger.entries.count == 40)
    }

    @Test(arguments: BulkPair.Kind.allCases)
    func theDebugDataOfAGoAwayIsInTheErrorOfLostRequests(_ kind: BulkPair.Kind) {
        let pair = BulkPair(kind, dispatch: FakeDispatch { _, _ in })
        pair.draw(notifications(3))
        pair.run()
        pair.control.goAway(last: 5, debugData: Array("maximum active streams violated\u{7}\u{0}".utf8))
        pair.run()
        pair.client.ended()
        let said = "the peer ended the connection with code 0: maximum active streams violated"
        let error = TransportError(.disconnected, mayHaveBeenProcessed: true, said)
        #expect(pair.ledger.entries == [0: .failure(error), 1: .failure(error), 2: .failure(error)])
    }
}
