import MartletHTTP

/// Parses the input of a WebSocket. Turns bytes, which arrive in pieces of any size, into messages and control frames.
struct WebSocketReader {
    enum Event: Hashable {
        case message(WebSocketMessage)
        case ping([UInt8])
        case pong
        /// The peer closes the WebSocket. Nothing is read after this event.
        case close(UInt16?)
    }

    /// The maximum size of a message, including all its fragments, in bytes.
    private let messageLimit: Int
    private var buffer: [UInt8] = []
    /// The opcode of the incomplete message and the bytes of its fragments received so far.
    private var fragments: (opcode: WebSocketFrame.Opcode, bytes: [UInt8])?
    private var isOver = false

    init(messageLimit: Int) {
        self.messageLimit = messageLimit
    }

    /// Parses bytes. If there is a violation, the events before it are passed on first. Nothing is read after a
    /// violation.
    /// - Parameter take: Called with each event, in order.
    mutating func receive(
        _ bytes: UnsafeRawBufferPointer, _ take: (Event) -> Void
    ) throws(WebSocketViolation) {
        guard !isOver else { return }
        buffer.append(contentsOf: bytes)
        var rest = buffer[...]
        do throws(WebSocketViolation) {
            while !isOver, let head = try head(of: rest), rest.count >= head.size + head.length {
                let payload = rest.dropFirst(head.size).prefix(head.length)
                rest = rest.dropFirst(head.size + head.length)
                if let event = try event(head, Self.unmask(payload, head.mask)) { take(event) }
            }
        } catch {
            isOver = true
            buffer = []
            throw error
        }
        buffer = isOver ? [] : rest.startIndex == 0 ? buffer : Array(rest)
    }

    /// Parses a frame's head. A frame that is too long is refused at once, before its payload has arrived.
    private func head(of bytes: ArraySlice<UInt8>) throws(WebSocketViolation) -> WebSocketFrame.Head? {
        guard let head = try WebSocketFrame.head(bytes) else { return nil }
        guard !head.opcode.isControl else { return head }
        guard (head.opcode == .continuation) == (fragments != nil) else {
            throw WebSocketViolation(WebSocketCode.protocolError)
        }
        guard head.length <= messageLimit - (fragments?.bytes.count ?? 0) else {
            throw WebSocketViolation(WebSocketCode.tooLarge)
        }
        return head
    }

    /// Handles a complete frame.
    /// - Returns: The event of the frame; nil for a fragment that is not the last of its message.
    private mutating func event(
        _ head: WebSocketFrame.Head, _ payload: [UInt8]
    ) throws(WebSocketViolation) -> Event? {
        switch head.opcode {
        case .ping: return .ping(payload)
        case .pong: return .pong
        case .close:
            isOver = true
            return .close(try Self.code(payload))
        case .text, .binary, .continuation:
            let opcode = fragments?.opcode ?? head.opcode
            var whole = fragments?.bytes ?? []
            fragments = nil
            whole += payload
            guard head.isLast else {
                fragments = (opcode, whole)
                return nil
            }
            guard opcode == .text else { return .message(.binary(whole)) }
            guard let text = String(validating: whole, as: UTF8.self) else {
                throw WebSocketViolation(WebSocketCode.invalidText)
            }
            return .message(.text(text))
        }
    }

    private static func code(_ payload: [UInt8]) throws(WebSocketViolation) -> UInt16? {
        guard !payload.isEmpty else { return nil }
        guard payload.count >= 2 else { throw WebSocketViolation(WebSocketCode.protocolError) }
        let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
        guard WebSocketCode.isSendable(code) else { throw WebSocketViolation(WebSocketCode.protocolError) }
        guard String(validating: payload[2...], as: UTF8.self) != nil else {
            throw WebSocketViolation(WebSocketCode.invalidText)
        }
        return code
    }

    private static func unmask(_ payload: ArraySlice<UInt8>, _ mask: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: payload.count) { output, count in
            for (index, byte) in payload.enumerated() {
                output.initializeElement(at: index, to: byte ^ mask[index & 3])
            }
            count = payload.count
        }
    }
}
