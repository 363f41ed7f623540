import MartletHTTP
import Testing

@testable import MartletNetwork

/// Sizes and times that a server session holds its peers to.
@Suite struct HTTP2LimitTests {
    @Test func aBodyThatIsAnnouncedTooLongIsRefusedBeforeItComes() {
        let pair = SessionPair()
        pair.dispatch.bodyLimit = 100
        let answer = pair.start(HTTPRequest(.post, "/", body: [UInt8](repeating: 0, count: 101)))
        pair.run()
        #expect(answer.head?.status == .contentTooLarge)
        #expect(pair.dispatch.requests.isEmpty)
        #expect(pair.client.capacity == 100)
    }

    @Test func aBodyThatTurnsOutTooLongIsRefusedAndTheRestNotWanted() {
        let peer = RawHTTP2Peer()
        peer.dispatch.bodyLimit = 100
        peer.sendHeaders([], stream: 1, flags: 0x4)
        peer.send(HTTP2FrameHeader.Kind.data, stream: 1, payload: [UInt8](repeating: 0, count: 101))
        let frames = peer.frames()
        #expect(frames.map(\.head.kind) == [HTTP2FrameHeader.Kind.headers, HTTP2FrameHeader.Kind.reset])
        #expect(frames.last?.payload == [0, 0, 0, 0])
        #expect(peer.dispatch.requests.isEmpty)
    }

    @Test func tooManyFieldsAreAnswered431AndALongTarget414() {
        var limits = ServerLimits()
        limits.fieldBytes = 2_000
        limits.targetBytes = 500
        let pair = SessionPair(limits: limits)
        pair.run()
        let large = pair.start(HTTPRequest(.get, "/", fields: ["x": String(repeating: "a", count: 2_500)]))
        let long = pair.start(HTTPRequest(.get, "/" + String(repeating: "a", count: 600)))
        let plain = pair.start(HTTPRequest(.get, "/"))
        pair.run()
        #expect(large.head?.status == .headerFieldsTooLarge)
        #expect(long.head?.status == 414)
        #expect(plain.head?.status == .ok)
    }

    @Test func aBodyOfAnotherLengthThanAnnouncedIsNoRequest() {
        let peer = RawHTTP2Peer()
        peer.sendHeaders([("content-length", "5")], stream: 1, flags: 0x4)
        peer.send(HTTP2FrameHeader.Kind.data, flags: 0x1, stream: 1, payload: [1, 2, 3])
        #expect(peer.frames().map(\.head.kind) == [HTTP2FrameHeader.Kind.reset])
        #expect(peer.dispatch.requests.isEmpty)
    }

    @Test(arguments: [("x-tags", "news "), ("x-tags", " news"), ("x-tags", "ne\u{1}ws")])
    func aFieldThatHTTPDoesNotAllowMakesTheRequestMalformedAndIsNotLeftOut(name: String, value: String) {
        let peer = RawHTTP2Peer()
        peer.sendHeaders([(name, value)], stream: 1, flags: 0x5)
        #expect(peer.frames().map(\.head.kind) == [HTTP2FrameHeader.Kind.headers])
        #expect(peer.dispatch.requests.isEmpty)
    }

    @Test func trailersAreIgnored() {
        let peer = RawHTTP2Peer()
        peer.sendHeaders([("x-first", "1")], stream: 1, flags: 0x4)
        peer.send(HTTP2FrameHeader.Kind.data, stream: 1, payload: [1])
        var block: [UInt8] = []
        HPACKWriter.literal(.passing, "x-last".utf8, "2".utf8, into: &block)
        peer.send(HTTP2FrameHeader.Kind.headers, flags: 0x5, stream: 1, payload: block)
        #expect(peer.dispatch.requests.map { $0.fields.map(\.name) } == [["x-first"]])
        #expect(peer.dispatch.requests.first?.body == [1])
    }

    @Test("Trap 5: a client of HTTP/2 that waits to be told is told to continue")
    func aClientThatWaitsToBeToldIsToldToContinue() {
        let peer = RawHTTP2Peer()
        peer.sendHeaders([("expect", "100-continue")], stream: 1, flags: 0x4)
        #expect(peer.frames().map(\.head.flags) == [HTTP2FrameHeader.Flag.endHeaders])
        peer.send(HTTP2FrameHeader.Kind.data, flags: 0x1, stream: 1, payload: [1])
        #expect(peer.dispatch.requests.count == 1)
    }

    @Test func aHeadThatDripsIsCutOff() {
        let peer = RawHTTP2Peer()
        peer.sendHeaders([], stream: 1, flags: 0x1)
        peer.pass(.seconds(9))
        peer.send(HTTP2FrameHeader.Kind.continuation, stream: 1, payload: [0x82])
        #expect(!peer.server.isFinished)
        peer.pass(.seconds(2))
        #expect(peer.goAwayCode() == 11)
        #expect(peer.server.isFinished)
    }

    @Test func aBodyThatDripsIsAnswered408() {
        let peer = RawHTTP2Peer()
        peer.sendHeaders([], stream: 1, flags: 0x4)
        for _ in 0..<61 {
            peer.send(HTTP2FrameHeader.Kind.data, stream: 1, payload: [1])
            peer.pass(.seconds(1))
        }
        let kinds = peer.frames().map(\.head.kind)
        #expect(kinds == [HTTP2FrameHeader.Kind.headers, HTTP2FrameHeader.Kind.reset])
        #expect(peer.dispatch.requests.isEmpty)
    }

    @Test func anAnswerThatThePeerDoesNotTakeIsGivenUp() {
        var settings = HTTP2Settings()
        settings.streamWindow = 10
        let pair = SessionPair(
            client: settings,
            dispatch: FakeDispatch { _, stream in
                stream.sendHead(HTTPResponse(.ok))
                _ = stream.sendBody([UInt8](repeating: 1, count: 100))
            })
        pair.start(HTTPRequest(.get, "/"))
        // The client reads nothing of the answer, so its window never opens.
        pair.server.receive(pair.client.written())
        let before: [UInt8] = pair.server.written()
        #expect(!before.isEmpty)
        pair.serverConnection.now += .seconds(31)
        pair.server.expire(at: pair.serverConnection.now)
        #expect(pair.dispatch.running.first?.cancellations == 1)
    }

    @Test func anIdleConnectionIsClosedWithoutBlame() {
        let pair = SessionPair()
        pair.start(HTTPRequest(.get, "/"))
        pair.run()
        #expect(pair.server.deadline == pair.serverConnection.now + .seconds(75))
        pair.pass(.seconds(75))
        pair.server.expire(at: pair.serverConnection.now)
        pair.run()
        #expect(pair.server.isFinished)
        #expect(pair.client.goAway == HTTP2GoAway(lastStream: 1, code: .noError, debugData: []))
        #expect(!pair.client.isOpen)
    }

    @Test func aWindowThatIsOpenedByteByByteDoesNotHoldAnAnswerForEver() {
        let body = [UInt8](repeating: 1, count: 100_000)
        let peer = RawHTTP2Peer(
            dispatch: FakeDispatch { _, stream in stream.send(HTTPResponse(.ok, body: .bytes(body))) })
        peer.sendHeaders([], stream: 1)
        _ = peer.frames()
        var resets = 0
        for _ in 0..<3 {
            peer.send(HTTP2FrameHeader.Kind.windowUpdate, payload: [0, 0, 0, 1])
            peer.send(HTTP2FrameHeader.Kind.windowUpdate, stream: 1, payload: [0, 0, 0, 1])
            peer.pass(.seconds(20))
            resets += peer.frames().filter { $0.head.kind == HTTP2FrameHeader.Kind.reset }.count
        }
        #expect(resets == 1)
    }

    @Test func aWindowThatIsOpenedSlowlyIsEnoughForAnAnswer() {
        let body = [UInt8](repeating: 1, count: 140_000)
        let peer = RawHTTP2Peer(
            dispatch: FakeDispatch { _, stream in stream.send(HTTPResponse(.ok, body: .bytes(body))) })
        peer.sendHeaders([], stream: 1)
        var frames = peer.frames()
        for _ in 0..<4 {
            peer.send(HTTP2FrameHeader.Kind.windowUpdate, payload: [0, 0, 0x50, 0])
            peer.send(HTTP2FrameHeader.Kind.windowUpdate, stream: 1, payload: [0, 0, 0x50, 0])
            frames += peer.frames()
            peer.pass(.seconds(20))
        }
        #expect(!frames.contains { $0.head.kind == HTTP2FrameHeader.Kind.reset })
        #expect(frames.last?.head.has(HTTP2FrameHeader.Flag.endStream) == true)
    }

    @Test func aPeerThatHasEndedItsSideIsLetGoWithItsLastAnswer() {
        var waiting: [any ResponseStream] = []
        let peer = RawHTTP2Peer(dispatch: FakeDispatch { _, stream in waiting.append(stream) })
        peer.sendHeaders([], stream: 1)
        peer.server.inputEnded()
        _ = peer.frames()
        #expect(!peer.server.isFinished)
        waiting.first?.send(HTTPResponse(.ok))
        _ = peer.frames()
        #expect(peer.server.isFinished)
    }

    @Test func aDrainAnswersWhatRunsAndThenCloses() {
        var waiting: [any ResponseStream] = []
        let pair = SessionPair(dispatch: FakeDispatch { _, stream in waiting.append(stream) })
        pair.run()
        let answer = pair.start(HTTPRequest(.get, "/"))
        pair.run()
        pair.server.drain()
        pair.run()
        #expect(!pair.client.isOpen)
        #expect(!pair.server.isFinished)
        waiting.first?.send(HTTPResponse(.ok))
        pair.run()
        #expect(answer.isFinished)
        #expect(pair.server.isFinished)
    }

    @Test func bytesThatAreNotHTTP2EndTheConnection() {
        let connection = FakeConnection()
        let server = HTTP2ServerSession(
            connection: connection, dispatch: FakeDispatch(),
            info: HTTPConnection(id: 1, peer: "", isSecure: false, majorVersion: 2), limits: ServerLimits())
        server.receive(Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        _ = server.written() as [UInt8]
        #expect(server.isFinished)
    }
}
