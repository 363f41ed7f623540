import MartletHTTP

@testable import MartletNetwork

/// A server that writes frames as the test says, against a client session with one request.
struct RawHTTP2Service {
    let connection = FakeConnection()
    let owner = FakeOwner()
    let receiver: FakeReceiver
    let client: BulkSession

    /// - Parameter requests: The number of requests that are sent.
    init(requests: Int = 1, body: [UInt8] = [], bodyLimit: Int? = 64 * 1024) {
        receiver = FakeReceiver(bodyLimit: bodyLimit)
        client = BulkSession(connection: connection, owner: owner)
        send(HTTP2FrameHeader.Kind.settings)
        for _ in 0..<requests {
            _ = client.start(HTTPRequest(.post, "/x", body: body), to: testOrigin, receiver: receiver)
        }
        let _: [UInt8] = client.written()
    }

    func send(_ kind: UInt8, flags: UInt8 = 0, stream: Int32 = 0, payload: [UInt8] = []) {
        var bytes: [UInt8] = []
        HTTP2FrameWriter.header(
            HTTP2FrameHeader(length: payload.count, kind: kind, flags: flags, stream: stream), into: &bytes)
        client.receive(bytes + payload)
    }

    /// An answer of a status alone.
    func sendHeaders(_ status: Int, stream: Int32 = 1, flags: UInt8 = 0x4) {
        var block: [UInt8] = []
        HPACKWriter.literal(.passing, ":status".utf8, String(status).utf8, into: &block)
        send(HTTP2FrameHeader.Kind.headers, flags: flags, stream: stream, payload: block)
    }

    /// The frames that the client has sent since the last call.
    func frames() -> [HTTP2FrameHeader] {
        var frames: [HTTP2FrameHeader] = []
        var assembler = HTTP2FrameAssembler(maxFrameSize: 1 << 20)
        let bytes: [UInt8] = client.written()
        _ = bytes.withUnsafeBytes { bytes in
            assembler.read(bytes) { head, _ in
                frames.append(head)
                return true
            }
        }
        return frames
    }
}
