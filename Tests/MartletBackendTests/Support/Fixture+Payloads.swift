import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import MartletTesting
import Synchronization

@testable import MartletBackend

/// A form as apps send it.
struct Form {
    static let contentType = "multipart/form-data; boundary=----form"
    var parts: [String] = []
    var bytes: [UInt8] = []

    init(_ fields: (String, String)..., file: [UInt8]? = nil, type: String? = "image/png", name: String = "a.png") {
        for (name, value) in fields { add("name=\"\(name)\"", nil, Array(value.utf8)) }
        if let file { add("name=\"file\"; filename=\"\(name)\"", type, file) }
        bytes += Array("------form--\r\n".utf8)
    }

    private mutating func add(_ parameters: String, _ type: String?, _ content: [UInt8]) {
        bytes += Array("------form\r\nContent-Disposition: form-data; \(parameters)\r\n".utf8)
        if let type { bytes += Array("Content-Type: \(type)\r\n".utf8) }
        bytes += Array("\r\n".utf8) + content + Array("\r\n".utf8)
    }
}

/// A body that comes in pieces and may not come to its end.
final class Pieces: HTTPBodyReader {
    private let rest: Mutex<[[UInt8]]>
    private let end: HTTPBodyError?

    init(_ bytes: [UInt8], pieceBytes: Int, end: HTTPBodyError? = nil) {
        rest = Mutex(
            stride(from: 0, to: bytes.count, by: pieceBytes).map { start in
                Array(bytes[start..<min(start + pieceBytes, bytes.count)])
            })
        self.end = end
    }

    /// How many pieces nobody has asked for.
    var unread: Int { rest.withLock(\.count) }

    func read() async throws(HTTPBodyError) -> [UInt8]? {
        let piece = rest.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        if piece == nil, let end { throw end }
        return piece
    }
}

extension Fixture {
    func sendRich(
        _ form: Form, as user: String, fields: HTTPFields = [:], stream: (any HTTPBodyReader)? = nil
    ) async -> HTTPResponse {
        var fields = fields
        fields["authorization"] = basic(user, user.lowercased() + "1")
        if fields["content-type"] == nil { fields["content-type"] = Form.contentType }
        var request = HTTPRequest(
            .post, "/api/notifications/rich", fields: fields, body: stream == nil ? form.bytes : [],
            connection: HTTPConnection(id: 1, peer: "192.0.2.1", isSecure: true))
        request.stream = stream
        return await handler.respond(to: request)
    }

    func sendJSON(_ kind: String, _ body: JSON, as user: String) async -> HTTPResponse {
        await ask(
            .post, "/api/notifications/" + kind, as: user, body.text, fields: ["content-type": "application/json"])
    }

    /// The names of the bodies that are there.
    var bodies: [String] {
        get throws {
            try containers.blobs(BlobQuery(container: PayloadBodies.container, limit: 1000)).blobs.map(\.name.text)
        }
    }

    /// The lines of the pushes to pigeons, oldest first.
    var pushes: [[String]] {
        sent.deliveries.filter { $0.platform == CarrierPigeon.platform }.map { delivery in
            String(decoding: delivery.notification.content.body, as: UTF8.self).split(separator: "\n").map(String.init)
        }
    }

    /// The audit as words.
    var audit: [String] {
        get async throws {
            try await storage.auditEntries(AuditQuery(limit: 100)).map {
                "\($0.access.user) \($0.access.outcome) \($0.access.payload) from \($0.access.address)"
            }
        }
    }
}

extension HTTPResponse {
    /// The whole body, streamed or not.
    var content: [UInt8] {
        get async throws {
            guard case .stream(let length, let write) = body else { return bytes }
            let writer = BodyCollector()
            try await write(writer)
            let content = writer.bytes
            return length == content.count ? content : []
        }
    }

    /// The id of a payload that was sent.
    var payloadID: PayloadID? {
        (try? json["id"]?.integer).flatMap { Int32(exactly: $0) }.flatMap { PayloadID(rawValue: $0) }
    }
}

private final class BodyCollector: HTTPBodyWriter {
    private let all = Mutex<[UInt8]>([])
    var bytes: [UInt8] { all.withLock { $0 } }
    func write(_ bytes: [UInt8]) async { all.withLock { $0 += bytes } }
}
