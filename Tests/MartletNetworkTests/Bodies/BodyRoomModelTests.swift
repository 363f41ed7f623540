import MartletHTTP
import MartletTesting
import Testing

@testable import MartletNetwork

/// Random interleavings of connections that share too little room: no limit is passed, and everything is given back.
struct BodyRoomModelTests {
    private static let data = HTTP2FrameHeader.Kind.data

    private static func limits() -> ServerLimits {
        var limits = ServerLimits()
        (limits.bodies.total, limits.bodies.caller, limits.bodies.connection) = (300_000, 150_000, 200_000)
        (limits.bodies.strangers, limits.bodies.network) = (100_000, 40_000)
        return limits
    }

    @Test(arguments: UInt64(0)..<20)
    func streamsOfHTTP2GiveEverythingBack(seed: UInt64) {
        var chance = SeededGenerator(seed: seed)
        let limits = Self.limits()
        let ledger = BodyLedger(limits: limits.bodies)
        do {
            let peers = (0..<3).map { number in
                let dispatch = FakeDispatch { _, _ in }
                dispatch.streams = number == 1
                dispatch.account = number == 2 ? .address : .caller("\(number)", scope: "h")
                return RawHTTP2Peer(
                    limits: limits, dispatch: dispatch,
                    bodies: ConnectionBodies(ledger: ledger, connection: UInt64(number), network: .ipv4(UInt32(number)))
                )
            }
            var next: [Int32] = [1, 1, 1]
            for _ in 0..<300 {
                let number = chance.below(3)
                step(peers[number], &next[number], &chance)
                #expect(ledger.used <= 400_000)
            }
            for peer in peers { peer.server.ended() }
        }
        #expect(ledger.isEmpty, "seed \(seed)")
    }

    private func step(_ peer: RawHTTP2Peer, _ next: inout Int32, _ chance: inout SeededGenerator) {
        let known = Array(peer.server.streams.keys)
        let stream = known.isEmpty ? 1 : chance.one(of: known)
        switch chance.below(10) {
        case 0, 1:
            let length = chance.below(120_000)
            peer.sendHeaders(
                chance.below(2) == 0 ? [("content-length", "\(length)")] : [], stream: next, flags: 0x4)
            next += 2
        case 2: peer.send(HTTP2FrameHeader.Kind.reset, stream: stream, payload: [0, 0, 0, 8])
        case 3: peer.pass(.milliseconds(chance.below(3000)))
        case 4:
            guard let body = peer.dispatch.bodies.compactMap({ $0 }).last else { return }
            body.charge(to: .caller("late", scope: "h"))
            chance.below(2) == 0 ? body.read { _ in } : body.collect(upTo: 100_000) { _ in }
        case 5:
            guard let run = peer.dispatch.running.last else { return }
            run.stream.send(HTTPResponse(.ok))
        case 6: peer.dispatch.forgetAll()
        default:
            let isLast = chance.below(6) == 0
            peer.send(
                Self.data, flags: isLast ? HTTP2FrameHeader.Flag.endStream : 0, stream: stream,
                payload: [UInt8](repeating: 1, count: 1 + chance.below(8000)))
        }
        _ = peer.frames()
    }

    @Test(arguments: UInt64(0)..<20)
    func connectionsOfHTTP1GiveEverythingBack(seed: UInt64) {
        var chance = SeededGenerator(seed: seed)
        let limits = Self.limits()
        let ledger = BodyLedger(limits: limits.bodies)
        do {
            var servers: [(server: HTTP1Server, dispatch: MemoryDispatch, connection: FakeConnection)] = []
            for number in 0..<4 {
                let (dispatch, connection) = (MemoryDispatch(), FakeConnection())
                dispatch.limit = 120_000
                dispatch.streams = number % 2 == 1
                dispatch.account = number < 2 ? .caller("a", scope: "h") : .address
                let server = HTTP1Server(
                    connection, info: HTTPConnection(id: UInt64(number), peer: "", isSecure: false), dispatch: dispatch,
                    limits: limits,
                    bodies: ConnectionBodies(ledger: ledger, connection: UInt64(number), network: .ipv4(UInt32(number)))
                )
                servers.append((server, dispatch, connection))
            }
            for _ in 0..<300 {
                let one = chance.one(of: servers)
                step(one.server, one.dispatch, one.connection, &chance)
                #expect(ledger.used <= 400_000)
            }
            for one in servers { one.server.ended() }
        }
        #expect(ledger.isEmpty, "seed \(seed)")
    }

    private func step(
        _ server: HTTP1Server, _ dispatch: MemoryDispatch, _ connection: FakeConnection,
        _ chance: inout SeededGenerator
    ) {
        switch chance.below(8) {
        case 0:
            server.receive("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: \(1 + chance.below(120_000))\r\n\r\n")
        case 1: server.receive("POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        case 2:
            connection.now += .milliseconds(chance.below(3000))
            server.expire(at: connection.now)
        case 3: dispatch.running.last?.stream.send(HTTPResponse(.ok))
        case 4: dispatch.running.last?.body?.read { _ in }
        case 5: dispatch.running.last?.body?.collect(upTo: 100_000) { _ in }
        default: if server.wantsInput { server.receive(String(repeating: "a", count: 1 + chance.below(30_000))) }
        }
        _ = server.writtenText()
    }
}
