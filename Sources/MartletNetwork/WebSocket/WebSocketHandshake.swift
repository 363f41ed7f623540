import CMartletOpenSSL
import MartletHTTP

/// The server side of the opening handshake (RFC 6455, section 4.2).
enum WebSocketHandshake {
    private static let salt = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// The response that is sent if a handler wants to open a WebSocket, but the request or the state of the connection
    /// does not allow it.
    static let upgradeRequired = HTTPResponse(
        426, fields: ["sec-websocket-version": "13", "content-type": "text/plain; charset=utf-8"],
        body: .bytes(Array("This address takes WebSockets of HTTP/1.1 alone.\n".utf8)))

    /// Returns the value of `sec-websocket-accept`, which proves that the server understood the request.
    /// - Returns: Nil if the request does not open a WebSocket.
    static func accept(_ request: HTTPRequest) -> String? {
        let fields = request.fields
        guard request.method == .get, request.connection?.majorVersion == 1, names("websocket", fields, "upgrade"),
            names("upgrade", fields, "connection"), fields["sec-websocket-version"] == "13"
        else { return nil }
        let keys = fields.values(of: "sec-websocket-key")
        guard keys.count == 1, isKey(keys[0]) else { return nil }
        return base64(sha1(keys[0] + salt))
    }

    static func appendHead(_ response: HTTPResponse, accept: String, to output: inout [UInt8]) {
        output += "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n".utf8
        output += "sec-websocket-accept: \(accept)\r\n".utf8
        if let subprotocol = response.fields["sec-websocket-protocol"], FieldRules.isName(subprotocol) {
            output += "sec-websocket-protocol: \(subprotocol)\r\n".utf8
        }
        output += "\r\n".utf8
    }

    /// Returns true if a header field that is a comma-separated list contains the name, ignoring case.
    private static func names(_ name: String, _ fields: HTTPFields, _ field: String) -> Bool {
        fields.values(of: field).contains { value in
            value.lowercased().split(separator: ",").contains { part in
                part.drop { $0 == " " }.prefix { $0 != " " } == name
            }
        }
    }

    /// Returns true if the key is sixteen bytes encoded in Base64.
    private static func isKey(_ key: String) -> Bool {
        let digits = key.utf8.prefix(22)
        return key.utf8.count == 24 && key.hasSuffix("==")
            && digits.allSatisfy { digit in
                switch digit {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                    true
                default: false
                }
            }
    }

    /// Computes a SHA-1 hash. SHA-1 is safe here, because the hash protects no secret; it only proves that both sides
    /// implement RFC 6455.
    private static func sha1(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        return [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { digest, count in
            var length: UInt32 = 0
            let done = EVP_Digest(bytes, bytes.count, digest.baseAddress, &length, EVP_sha1(), nil)
            count = done == 1 ? Int(length) : 0
        }
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
        let count = EVP_EncodeBlock(&text, bytes, Int32(bytes.count))
        return String(decoding: text.prefix(Int(count)), as: UTF8.self)
    }
}
