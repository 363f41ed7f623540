import MartletHTTP

/// The server's side of one WebSocket as rules: what comes and what is wanted goes in, what is to be done comes out.
struct WebSocketStateMachine {
    enum Action: Hashable {
        case deliver(WebSocketMessage)
        case write([UInt8])
        /// The connection ends once everything is written.
        case finish
    }

    private enum Phase {
        /// Becomes `closing` when this side says goodbye, `closed` when the peer does or breaks the protocol.
        case open
        /// The goodbye is written. Becomes `closed` with the peer's, or when that has been waited for long enough.
        case closing
        case closed
    }

    private var phase = Phase.open
    private var reader: WebSocketReader
    private var isPinged = false

    init(messageLimit: Int) {
        reader = WebSocketReader(messageLimit: messageLimit)
    }

    /// Whether messages go both ways still.
    var isOpen: Bool { phase == .open }

    mutating func receive(_ bytes: UnsafeRawBufferPointer) -> [Action] {
        guard phase != .closed else { return [] }
        isPinged = false
        var events: [WebSocketReader.Event] = []
        do throws(WebSocketViolation) {
            try reader.receive(bytes) { events.append($0) }
            return events.flatMap { act(on: $0) }
        } catch {
            return events.flatMap { act(on: $0) } + fail(error)
        }
    }

    private mutating func act(on event: WebSocketReader.Event) -> [Action] {
        switch (event, phase) {
        case (.message(let message), .open): return [.deliver(message)]
        case (.ping(let bytes), .open): return [.write(WebSocketFrame.encode(.pong, bytes))]
        case (.close(let code), .open):
            phase = .closed
            return [.write(WebSocketFrame.encodeClose(code)), .finish]
        case (.close, .closing):
            phase = .closed
            return [.finish]
        case (_, .closed), (.pong, _), (.message, .closing), (.ping, .closing): return []
        }
    }

    private mutating func fail(_ violation: WebSocketViolation) -> [Action] {
        let last = phase
        phase = .closed
        return last == .open ? [.write(WebSocketFrame.encodeClose(violation.code)), .finish] : [.finish]
    }

    mutating func send(_ message: WebSocketMessage) -> [Action] {
        phase == .open ? [.write(WebSocketFrame.encode(message))] : []
    }

    /// This side says goodbye.
    mutating func close(_ code: UInt16) -> [Action] {
        guard phase == .open else { return [] }
        phase = .closing
        return [.write(WebSocketFrame.encodeClose(WebSocketCode.isSendable(code) ? code : WebSocketCode.normal))]
    }

    /// Nothing has come for as long as that is waited for: asks an open peer whether it is there, once.
    mutating func expire() -> [Action] {
        guard phase == .open, !isPinged else {
            phase = .closed
            return [.finish]
        }
        isPinged = true
        return [.write(WebSocketFrame.encode(.ping, []))]
    }

    /// The peer sends nothing more, or the connection is gone.
    mutating func inputEnded() -> [Action] {
        guard phase != .closed else { return [] }
        phase = .closed
        return [.finish]
    }
}
