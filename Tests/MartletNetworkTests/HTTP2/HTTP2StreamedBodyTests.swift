import MartletHTTP
import Testing

@testable import MartletNetwork

/// Bodies over HTTP/2 that are read piece by piece, in memory.
struct HTTP2StreamedBodyTests {
    private static let data = HTTP2FrameHeader.Kind.data
    private static let endStream = HTTP2FrameHeader.Flag.endStream
    private let peer: RawHTTP2Peer

    init() {
        let dispatch = FakeDispatch { _, _ in }
        dispatch.streams = true
        peer = RawHTTP2Peer(dispatch: dispatch)
    }

    private func begin(_ fields: [(String, String)] = []) throws -> BodyDrain {
        peer.sendHeaders(fields, stream: 1, flags: 0x4)
        return BodyDrain(try #require(peer.dispatch.bodies.last ?? nil))
    }

    private func windowUpdates(_ stream: Int32) -> Int {
        peer.frames().filter { $0.head.kind == HTTP2FrameHeader.Kind.windowUpdate && $0.head.stream == stream }
            .reduce(0) { sum, frame in sum + frame.payload.reduce(0) { $0 << 8 | Int($1) } }
    }

    @Test func theWindowOpensByWhatTheHandlerHasTaken() throws {
        let drain = try begin()
        for _ in 0..<3 { peer.send(Self.data, stream: 1, payload: [UInt8](repeating: 7, count: 16_000)) }
        #expect(windowUpdates(1) == 0)
        drain.readOn()
        #expect(drain.bytes.count == 48_000)
        #expect(windowUpdates(1) == 48_000)
        peer.send(Self.data, flags: Self.endStream, stream: 1, payload: [1, 2])
        drain.readOn()
        #expect(drain.isAtEnd)
        peer.dispatch.running[0].stream.send(HTTPResponse(.created))
        #expect(peer.frames().contains { $0.head.kind == HTTP2FrameHeader.Kind.headers })
    }

    /// Trap 5.
    @Test func aClientThatExpectsContinueGetsItOnceTheBodyIsRead() throws {
        let drain = try begin([("expect", "100-continue")])
        #expect(!peer.frames().contains { $0.head.kind == HTTP2FrameHeader.Kind.headers })
        drain.read()
        drain.readOn()
        #expect(peer.frames().filter { $0.head.kind == HTTP2FrameHeader.Kind.headers }.count == 1)
    }

    @Test func aBodyBeyondTheLimitFailsForTheHandlerAndGivesTheConnectionItsWindowBack() throws {
        peer.dispatch.bodyLimit = 40_000
        let drain = try begin()
        // More than half of the connection's window, which is when nghttp2 sees fit to open it.
        for _ in 0..<4 { peer.send(Self.data, stream: 1, payload: [UInt8](repeating: 7, count: 16_000)) }
        drain.readOn()
        #expect(drain.error == .tooLarge)
        peer.dispatch.running[0].stream.send(HTTPResponse(.contentTooLarge))
        let frames = peer.frames()
        #expect(frames.contains { $0.head.kind == HTTP2FrameHeader.Kind.headers && $0.head.stream == 1 })
        #expect(frames.contains { $0.head.kind == HTTP2FrameHeader.Kind.reset && $0.head.stream == 1 })
        #expect(peer.server.streams.isEmpty)
    }

    @Test func aPeerThatKeepsTheHandlerWaitingIsNotWaitedForLonger() throws {
        let drain = try begin()
        drain.read()
        peer.pass(.seconds(29))
        #expect(drain.error == nil)
        peer.pass(.seconds(2))
        #expect(drain.error == .stalled)
    }

    @Test func aStreamThatIsResetFailsTheBodyAndCancelsTheHandler() throws {
        let drain = try begin()
        drain.read()
        peer.send(HTTP2FrameHeader.Kind.reset, stream: 1, payload: [0, 0, 0, 8])
        #expect(drain.error == .disconnected)
        #expect(peer.dispatch.running[0].cancellations == 1)
    }

    @Test func aStreamedAnswerOfKnownLengthSaysIt() throws {
        let pair = SessionPair(
            dispatch: FakeDispatch { _, stream in
                stream.sendHead(HTTPResponse(.ok, body: .stream(length: 5) { _ in }))
                _ = stream.sendBody(Array("hello".utf8))
                stream.finish()
            })
        let receiver = pair.start(HTTPRequest(.get, "/f"))
        pair.run()
        #expect(receiver.head?.fields["content-length"] == "5")
        #expect(receiver.body == Array("hello".utf8))
        #expect(receiver.isFinished)
    }
}
