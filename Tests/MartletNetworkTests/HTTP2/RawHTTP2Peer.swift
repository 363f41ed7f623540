import MartletHTTP

@testable import MartletNetwork

/// A client that writes frames as the test says, against a server session, and reads what comes back.
struct RawHTTP2Peer {
    let connection = FakeConnection()
    let dispatch: FakeDispatch
    let server: HTTP2ServerSession

    init(
        limits: ServerLimits = ServerLimits(), dispatch: FakeDispatch = FakeDispatch(),
        bodies: ConnectionBodies? = nil
    ) {
        self.dispatch = dispatch
        server = HTTP2ServerSession(
            connection: connection, dispatch: dispatch,
            info: HTTPConnection(id: 1, peer: "", isSecure: false, majorVersion: 2), limits: limits, bodies: bodies)
        var opening = HTTP2FrameWriter.preface
        HTTP2FrameWriter.settings([], into: &opening)
        server.receive(opening)
        _ = frames()
    }

    func send(_ write: (inout [UInt8]) -> Void) {
        var bytes: [UInt8] = []
        write(&bytes)
        server.receive(bytes)
    }

    /// A request whose block is not complete unless `flags` say so.
    func sendHeaders(_ fields: [(String, String)], stream: Int32, flags: UInt8 = 0x5) {
        var block: [UInt8] = []
        for (name, value) in [(":method", "POST"), (":scheme", "https"), (":authority", "a"), (":path", "/x")] + fields
        {
            HPACKWriter.literal(.passing, name.utf8, value.utf8, into: &block)
        }
        send { output in
            HTTP2FrameWriter.header(
                HTTP2FrameHeader(
                    length: block.count, kind: HTTP2FrameHeader.Kind.headers, flags: flags, stream: stream),
                into: &output)
            output += block
        }
    }

    func send(_ kind: UInt8, flags: UInt8 = 0, stream: Int32 = 0, payload: [UInt8] = []) {
        send { output in
            HTTP2FrameWriter.header(
                HTTP2FrameHeader(length: payload.count, kind: kind, flags: flags, stream: stream), into: &output)
            output += payload
        }
    }

    /// The frames that the server has sent since the last call.
    func frames() -> [(head: HTTP2FrameHeader, payload: [UInt8])] {
        var frames: [(head: HTTP2FrameHeader, payload: [UInt8])] = []
        var assembler = HTTP2FrameAssembler(maxFrameSize: 1 << 20)
        let bytes: [UInt8] = server.written()
        _ = bytes.withUnsafeBytes { bytes in
            assembler.read(bytes) { head, payload in
                frames.append((head, Array(payload)))
                return true
            }
        }
        return frames
    }

    /// The code of the GOAWAY that the server has sent since the last call, if it has.
    func goAwayCode() -> UInt8? {
        frames().last { $0.head.kind == HTTP2FrameHeader.Kind.goAway }?.payload[7]
    }

    func pass(_ time: Duration) {
        connection.now += time
        server.expire(at: connection.now)
    }
}
