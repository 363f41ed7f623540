import MartletHTTP
import Testing

@testable import MartletNetwork

/// What peers send to make work is refused with ENHANCE_YOUR_CALM.
@Suite struct HTTP2FloodTests {
    private typealias Kind = HTTP2FrameHeader.Kind
    private let calm: UInt8 = 11

    /// Sends a frame over and over, reading the answers now and then as a patient attacker would.
    private func flood(_ peer: RawHTTP2Peer, _ times: Int, _ send: (Int) -> Void) -> UInt8? {
        for time in 0..<times {
            send(time)
            if time % 100 == 0, let code = peer.goAwayCode() { return code }
        }
        return peer.goAwayCode()
    }

    @Test func floodsOfPINGs() {
        let peer = RawHTTP2Peer()
        let code = flood(peer, 1_000) { _ in peer.send(Kind.ping, payload: Array(repeating: 0, count: 8)) }
        #expect(code == calm)
        #expect(peer.server.isFinished)
    }

    @Test func floodsOfSETTINGS() {
        let peer = RawHTTP2Peer()
        #expect(flood(peer, 1_000) { _ in peer.send(Kind.settings) } == calm)
    }

    @Test func floodsOfWindowUpdates() {
        let peer = RawHTTP2Peer()
        #expect(flood(peer, 5_000) { _ in peer.send(Kind.windowUpdate, payload: [0, 0, 0, 1]) } == calm)
    }

    @Test func floodsOfCanceledRequests() {
        let peer = RawHTTP2Peer(dispatch: FakeDispatch { _, _ in })
        let code = flood(peer, 1_000) { time in
            peer.sendHeaders([], stream: Int32(2 * time + 1))
            peer.send(Kind.reset, stream: Int32(2 * time + 1), payload: [0, 0, 0, 8])
        }
        #expect(code == calm)
        #expect(peer.dispatch.running.allSatisfy { $0.cancellations == 1 })
    }

    @Test func floodsOfRequestsThatTheServerResets() {
        let peer = RawHTTP2Peer(dispatch: FakeDispatch { _, _ in })
        let code = flood(peer, 1_000) { time in
            peer.sendHeaders([], stream: Int32(2 * time + 1), flags: 0x4)
            peer.send(Kind.windowUpdate, stream: Int32(2 * time + 1), payload: [0, 0, 0, 0])
        }
        #expect(code != nil)
        #expect(peer.server.isFinished)
    }

    @Test func floodsOfEmptyBodies() {
        let peer = RawHTTP2Peer()
        peer.sendHeaders([], stream: 1, flags: 0x4)
        #expect(flood(peer, 2_000) { _ in peer.send(Kind.data, stream: 1) } == calm)
    }

    @Test func floodsOfContinuations() {
        let peer = RawHTTP2Peer()
        peer.sendHeaders([], stream: 1, flags: 0x1)
        let piece = [UInt8](repeating: 0, count: 1_000)
        for _ in 0..<20 { peer.send(Kind.continuation, stream: 1, payload: piece) }
        _ = peer.frames()
        #expect(peer.server.isFinished)
    }

    @Test func framesThatAPeerProvokesAndDoesNotReadDoNotPileUp() {
        let peer = RawHTTP2Peer(dispatch: FakeDispatch { _, _ in })
        var sent = 0
        while peer.server.wantsInput, sent < 10_000 {
            peer.sendHeaders([], stream: Int32(2 * sent + 1))
            sent += 1
        }
        #expect(sent < 2_000)
        _ = peer.frames()
        #expect(peer.server.isFinished)
    }

    @Test func acknowledgementsOfOurOwnSettingsAreNoFlood() {
        let acknowledgement = HTTP2FrameHeader(
            length: 0, kind: Kind.settings, flags: HTTP2FrameHeader.Flag.acknowledgement, stream: 0)
        let now = ContinuousClock.now
        var guardian = HTTP2FloodGuard(now: now)
        #expect((0..<1_000).allSatisfy { _ in guardian.allows(acknowledgement, at: now) })
    }

    @Test func aSteadyPeerIsNoFlood() {
        let peer = RawHTTP2Peer()
        let code = flood(peer, 2_000) { _ in
            peer.connection.now += .milliseconds(20)
            peer.send(Kind.ping, payload: Array(repeating: 0, count: 8))
        }
        #expect(code == nil)
        #expect(!peer.server.isFinished)
    }
}
