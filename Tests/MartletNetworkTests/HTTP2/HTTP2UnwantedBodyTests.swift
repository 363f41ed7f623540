import MartletHTTP
import Testing

@testable import MartletNetwork

/// Requests over HTTP/2 that are answered on their head, or that contradict themselves.
struct HTTP2UnwantedBodyTests {
    private let peer: RawHTTP2Peer

    init() {
        let dispatch = FakeDispatch { _, stream in stream.send(HTTPResponse(.unauthorized)) }
        dispatch.ignores = true
        peer = RawHTTP2Peer(dispatch: dispatch)
    }

    private func kinds() -> [UInt8] { peer.frames().map(\.head.kind) }

    @Test func aLongBodyIsToldToStopWithTheAnswer() {
        peer.sendHeaders([("content-length", "2097151")], stream: 1, flags: 0x4)
        #expect(kinds() == [HTTP2FrameHeader.Kind.headers, HTTP2FrameHeader.Kind.reset])
        #expect(peer.server.streams.isEmpty)
    }

    @Test func aShortBodyMayComeAfterTheAnswer() {
        peer.sendHeaders([("content-length", "5")], stream: 1, flags: 0x4)
        #expect(kinds() == [HTTP2FrameHeader.Kind.headers])
        peer.send(
            HTTP2FrameHeader.Kind.data, flags: HTTP2FrameHeader.Flag.endStream, stream: 1, payload: Array("hello".utf8))
        #expect(peer.server.streams.isEmpty)
        #expect(peer.dispatch.requests.map(\.body) == [[]])
        #expect(kinds().isEmpty)
    }

    @Test func aShortBodyThatDoesNotComeIsWaitedForOnlySoLong() {
        peer.sendHeaders([("content-length", "5")], stream: 1, flags: 0x4)
        #expect(kinds() == [HTTP2FrameHeader.Kind.headers])
        peer.pass(.seconds(29))
        #expect(peer.server.streams.count == 1)
        peer.pass(.seconds(2))
        #expect(peer.server.streams.isEmpty)
        #expect(kinds().contains(HTTP2FrameHeader.Kind.reset))
    }

    @Test(
        arguments: [
            [("authorization", "a"), ("authorization", "b")], [("host", "b")], [("host", "a:8080")],
        ])
    func ambiguousInputIsRefused(fields: [(String, String)]) {
        peer.sendHeaders(fields, stream: 1)
        #expect(peer.dispatch.requests.isEmpty)
        let frames = peer.frames()
        #expect(frames.first?.head.kind == HTTP2FrameHeader.Kind.headers)
        // The first field is :status 400, from the static table.
        #expect(frames.first?.payload.first == 0x8C)
    }

    @Test(arguments: ["a", "A", "a:443"])
    func theSameHostTwiceIsOneHost(host: String) {
        peer.sendHeaders([("host", host)], stream: 1)
        #expect(peer.dispatch.requests.count == 1)
    }
}
