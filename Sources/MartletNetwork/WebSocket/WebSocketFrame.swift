import MartletHTTP

/// A WebSocket frame (RFC 6455, section 5.2). Parses the heads of clients' frames and encodes the unmasked frames of a
/// server.
struct WebSocketFrame {
    enum Opcode: UInt8 {
        case continuation = 0
        case text = 1
        case binary = 2
        case close = 8
        case ping = 9
        case pong = 10

        var isControl: Bool { rawValue >= Opcode.close.rawValue }
    }

    /// The head of a client's frame.
    struct Head: Hashable {
        let opcode: Opcode
        let isLast: Bool
        let mask: [UInt8]
        /// The length of the payload, in bytes.
        let length: Int
        /// The size of the head, in bytes.
        let size: Int
    }

    /// The maximum size of the payload of a control frame, in bytes.
    static let controlLimit = 125

    /// Parses the head of a frame.
    /// - Returns: The head; nil if more bytes are needed.
    /// - Throws: The protocol violation, with its close code.
    static func head(_ bytes: ArraySlice<UInt8>) throws(WebSocketViolation) -> Head? {
        guard bytes.count >= 2 else { return nil }
        let (first, second) = (bytes[bytes.startIndex], bytes[bytes.startIndex + 1])
        // The three reserved bits belong to extensions, and no extension is negotiated.
        guard first & 0x70 == 0, let opcode = Opcode(rawValue: first & 0x0F), second & 0x80 != 0 else {
            throw WebSocketViolation(WebSocketCode.protocolError)
        }
        let isLast = first & 0x80 != 0
        guard let (length, lengthSize) = try length(second & 0x7F, bytes.dropFirst(2)) else { return nil }
        guard !opcode.isControl || (isLast && length <= controlLimit) else {
            throw WebSocketViolation(WebSocketCode.protocolError)
        }
        let mask = bytes.dropFirst(2 + lengthSize).prefix(4)
        guard mask.count == 4 else { return nil }
        return Head(opcode: opcode, isLast: isLast, mask: Array(mask), length: length, size: 6 + lengthSize)
    }

    /// Parses the length of the payload.
    /// - Parameters:
    ///   - short: The seven length bits in the second byte of the frame; 126 and 127 announce a longer field.
    ///   - bytes: The bytes after the first two bytes of the frame.
    /// - Returns: The length of the payload, and the size of the longer field (0 if there is none), in bytes; nil if
    ///   more bytes are needed.
    private static func length(
        _ short: UInt8, _ bytes: ArraySlice<UInt8>
    ) throws(WebSocketViolation) -> (length: Int, size: Int)? {
        let size = short == 127 ? 8 : short == 126 ? 2 : 0
        guard size > 0 else { return (Int(short), 0) }
        guard bytes.count >= size else { return nil }
        let length = bytes.prefix(size).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        // The length must be encoded in the fewest possible bytes, and its highest bit must be 0.
        guard length > (size == 2 ? 125 : 65_535), let length = Int(exactly: length) else {
            throw WebSocketViolation(WebSocketCode.protocolError)
        }
        return (length, size)
    }

    /// Encodes a control frame, or a frame that contains a whole message.
    static func encode(_ opcode: Opcode, _ payload: [UInt8]) -> [UInt8] {
        var frame: [UInt8] = [0x80 | opcode.rawValue]
        frame.reserveCapacity(payload.count + 10)
        func append(length size: Int) {
            for index in (0..<size).reversed() { frame.append(UInt8(truncatingIfNeeded: payload.count >> (8 * index))) }
        }
        switch payload.count {
        case ...125: append(length: 1)
        case ...65_535:
            frame.append(126)
            append(length: 2)
        default:
            frame.append(127)
            append(length: 8)
        }
        return frame + payload
    }

    static func encode(_ message: WebSocketMessage) -> [UInt8] {
        switch message {
        case .text(let text): encode(.text, Array(text.utf8))
        case .binary(let bytes): encode(.binary, bytes)
        }
    }

    /// Encodes a close frame.
    /// - Parameter code: The close code; nil for a close frame without a code.
    static func encodeClose(_ code: UInt16?) -> [UInt8] {
        encode(.close, code.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } ?? [])
    }
}

/// A violation of the protocol or of a limit by a client.
struct WebSocketViolation: Error, Hashable {
    /// The close code with which the connection is closed.
    let code: UInt16

    init(_ code: UInt16) {
        self.code = code
    }
}
