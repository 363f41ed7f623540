/// What a client sends, byte by byte as a test wants it.
enum ClientFrame {
    static let handshake =
        "GET /socket HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
        + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

    /// - Parameters:
    ///   - first: FIN, the reserved bits and the opcode.
    ///   - length: What is stated; that of the payload where it is nil.
    static func make(
        _ first: UInt8, _ payload: [UInt8] = [], mask: [UInt8] = [7, 0, 0xFF, 3], length: Int? = nil
    ) -> [UInt8] {
        let stated = length ?? payload.count
        var frame = [first]
        switch stated {
        case ...125: frame.append(0x80 | UInt8(stated))
        case ...65_535: frame += [0x80 | 126, UInt8(stated >> 8), UInt8(stated & 0xFF)]
        default: frame += [0x80 | 127] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: stated >> (8 * $0)) }
        }
        return frame + mask + payload.enumerated().map { $1 ^ mask[$0 & 3] }
    }

    static func text(_ text: String) -> [UInt8] { make(0x81, Array(text.utf8)) }

    static func close(_ code: UInt16, _ reason: String = "") -> [UInt8] {
        make(0x88, [UInt8(code >> 8), UInt8(code & 0xFF)] + Array(reason.utf8))
    }
}
