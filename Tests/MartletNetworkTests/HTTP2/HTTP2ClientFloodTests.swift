import MartletHTTP
import Testing

@testable import MartletNetwork

/// What a server sends to make work for its client ends the connection.
@Suite struct HTTP2ClientFloodTests {
    private typealias Kind = HTTP2FrameHeader.Kind
    private typealias Flag = HTTP2FrameHeader.Flag

    /// A frame that is sent over and over, and what comes before it.
    enum Flood: CaseIterable {
        case emptyData, paddedData, tinyData, endlessBody
        case informational, trailers
        case unknown, longUnknown, alternativeServices, priorities
        case pings, answersToPings, settings, acknowledgements, windowUpdates, goAways, continuations
        case dataOfARequestTakenBack, headersOfARequestTakenBack, resetsOfARequestTakenBack

        func begin(_ service: RawHTTP2Service) {
            switch self {
            case .emptyData, .paddedData, .tinyData, .endlessBody, .trailers: service.sendHeaders(200)
            case .continuations:
                service.send(Kind.headers, stream: 1, payload: [0x88])
            case .dataOfARequestTakenBack, .headersOfARequestTakenBack, .resetsOfARequestTakenBack:
                service.client.cancel(1, isLate: false)
            default: break
            }
        }

        func send(_ service: RawHTTP2Service) {
            switch self {
            case .emptyData: service.send(Kind.data, stream: 1)
            case .paddedData: service.send(Kind.data, flags: Flag.padded, stream: 1, payload: [3, 0, 0, 0])
            case .tinyData: service.send(Kind.data, stream: 1, payload: [0x61])
            case .endlessBody, .dataOfARequestTakenBack:
                service.send(Kind.data, stream: 1, payload: Array(repeating: 0x61, count: 16_000))
            case .informational: service.sendHeaders(103)
            case .trailers, .headersOfARequestTakenBack: service.sendHeaders(200)
            case .unknown: service.send(0x77)
            case .longUnknown: service.send(0x77, payload: Array(repeating: 0, count: 16_000))
            case .alternativeServices: service.send(0x0A, payload: Array("\0\u{8}evil.exah2=\":443\"".utf8))
            case .priorities: service.send(Kind.priority, stream: 1, payload: [0, 0, 0, 0, 1])
            case .pings: service.send(Kind.ping, payload: Array(repeating: 0, count: 8))
            case .answersToPings:
                service.send(Kind.ping, flags: Flag.acknowledgement, payload: Array(repeating: 0, count: 8))
            case .settings: service.send(Kind.settings)
            case .acknowledgements: service.send(Kind.settings, flags: Flag.acknowledgement)
            case .windowUpdates: service.send(Kind.windowUpdate, payload: [0, 0, 0, 1])
            case .goAways: service.send(Kind.goAway, payload: [0x7F, 255, 255, 255, 0, 0, 0, 0])
            case .continuations: service.send(Kind.continuation, stream: 1, payload: [0x88])
            case .resetsOfARequestTakenBack: service.send(Kind.reset, stream: 1, payload: [0, 0, 0, 8])
            }
        }
    }

    @Test(arguments: Flood.allCases) func endsTheConnection(_ flood: Flood) {
        let service = RawHTTP2Service()
        flood.begin(service)
        var sent = 0
        while service.client.wantsInput, sent < 10_000 {
            flood.send(service)
            sent += 1
            let _: [UInt8] = service.client.written()
        }
        #expect(sent <= 4_200)
        #expect(!service.client.wantsInput)
        #expect(!service.client.isOpen)
        #expect(service.client.isFinished)
        let error = service.receiver.error
        switch flood {
        case .dataOfARequestTakenBack, .headersOfARequestTakenBack, .resetsOfARequestTakenBack: #expect(error == nil)
        // The stream alone is reset first.
        case .trailers: #expect(error?.kind == .reset)
        default: #expect(error?.kind == .misbehaved)
        }
        #expect(error?.mayHaveBeenProcessed ?? true)
        #expect(service.client.hasMisbehaved)
    }

    @Test func theLimitOfAnAnswerIsThatOfItsRequest() {
        for (limit, isEnded) in [(100_000, true), (200_000, false)] {
            let service = RawHTTP2Service(bodyLimit: limit)
            service.sendHeaders(200)
            for _ in 0..<10 { service.send(Kind.data, stream: 1, payload: Array(repeating: 0, count: 15_000)) }
            service.send(Kind.data, flags: Flag.endStream, stream: 1)
            #expect(service.client.hasMisbehaved == isEnded)
            #expect(service.receiver.isFinished != isEnded)
            #expect(service.receiver.body.count <= limit)
        }
    }

    @Test func aBodyThatIsPassedOnAsItArrivesHasNoLimit() {
        let service = RawHTTP2Service(bodyLimit: nil)
        service.sendHeaders(200)
        for _ in 0..<5_000 { service.send(Kind.data, stream: 1, payload: [0x61]) }
        #expect(service.receiver.body.count == 5_000)
        #expect(service.client.wantsInput)
    }

    @Test func anAnswerOfOneByteAndAnEmptyFrameIsNoFlood() {
        let service = RawHTTP2Service(requests: 0)
        let count = 5_000
        for _ in 0..<count {
            let id = service.client.start(HTTPRequest(.post, "/x"), to: testOrigin, receiver: service.receiver)
            let stream = Int32(id)
            let _: [UInt8] = service.client.written()
            service.sendHeaders(103, stream: stream)
            service.sendHeaders(200, stream: stream)
            service.send(Kind.data, stream: stream, payload: [0x61])
            service.send(Kind.data, flags: Flag.endStream, stream: stream)
        }
        #expect(service.client.wantsInput)
        #expect(service.receiver.body.count == count)
    }

    @Test func updatesOfTheWindowsOfManyRequestsAreNoFlood() {
        let count = 4_000
        let service = RawHTTP2Service(requests: count, body: [0x61])
        for index in 0..<count {
            let stream = Int32(2 * index + 1)
            service.send(Kind.windowUpdate, payload: [0, 0, 0, 1])
            service.send(Kind.windowUpdate, stream: stream, payload: [0, 0, 0, 1])
            service.sendHeaders(200, stream: stream, flags: 0x5)
            service.send(Kind.reset, stream: stream, payload: [0, 0, 0, 0])
        }
        #expect(service.client.wantsInput)
        #expect(service.client.answerCount == count)
    }

    @Test func lateAnswersToRequestsThatWereTakenBackAreNoFlood() {
        let count = 4_000
        let service = RawHTTP2Service(requests: count)
        for index in 0..<count { service.client.cancel(UInt64(2 * index + 1), isLate: false) }
        for index in 0..<count {
            let stream = Int32(2 * index + 1)
            service.sendHeaders(200, stream: stream)
            service.send(Kind.data, stream: stream, payload: Array(repeating: 0, count: 1_000))
            service.send(Kind.data, flags: Flag.endStream, stream: stream)
        }
        #expect(service.client.wantsInput)
    }

    @Test func manyRequestsThatAreRefusedAtOnceAreNoFlood() {
        let count = 4_000
        let service = RawHTTP2Service(requests: count)
        for index in 0..<count {
            service.send(Kind.reset, stream: Int32(2 * index + 1), payload: [0, 0, 0, 7])
        }
        #expect(service.client.wantsInput)
    }

    @Test(arguments: [(true, true), (false, true), (true, false)])
    func aConnectionThatBringsRubbishAndNoAnswerInTimeIsEnded(_ bringsRubbish: Bool, _ isSilent: Bool) {
        let service = RawHTTP2Service(requests: 2)
        for _ in 0..<300 {
            service.connection.now += .milliseconds(100)
            if bringsRubbish { service.send(0x77) }
        }
        // A peer that answers others is slow with one.
        if !isSilent { service.sendHeaders(200, stream: 3, flags: 0x5) }
        service.client.cancel(1, isLate: true)
        #expect(service.client.hasMisbehaved == (bringsRubbish && isSilent))
        #expect(service.client.isOpen == !(bringsRubbish && isSilent))
    }

    @Test func aBatchIsToldThatItsPeerHasMisbehaved() {
        let connection = FakeConnection()
        let owner = FakeOwner()
        let client = BulkSession(connection: connection, owner: owner, inFlight: InFlightLimit(startingAt: 64))
        let ledger = BatchLedger()
        var settings: [UInt8] = []
        HTTP2FrameWriter.settings([], into: &settings)
        client.receive(settings)
        client.draw(from: ledger.run(notifications(1), from: connection.now, before: connection.now + .seconds(30)))
        let _: [UInt8] = client.written()
        var flood: [UInt8] = []
        HTTP2FrameWriter.header(
            HTTP2FrameHeader(length: 1, kind: Kind.headers, flags: Flag.endHeaders, stream: 1), into: &flood)
        flood.append(0x88)
        for _ in 0..<5 {
            HTTP2FrameWriter.header(HTTP2FrameHeader(length: 16_000, kind: Kind.data, stream: 1), into: &flood)
            flood += Array(repeating: 0, count: 16_000)
        }
        client.receive(flood)
        guard case .failure(let error) = ledger.entries[0] else {
            Issue.record("the item has failed")
            return
        }
        #expect(error.kind == .misbehaved)
        #expect(error.detail == "the answer is longer than 65536 bytes")
    }
}
