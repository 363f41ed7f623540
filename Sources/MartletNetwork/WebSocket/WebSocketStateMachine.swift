import MartletHTTP

/// The state machine of a server-side WebSocket.
///
/// The session calls a method for each event: bytes from the peer, a message to send, a close, a deadline that has
/// passed, the end of the input. The method returns the actions that the session must perform, in order.
struct WebSocketStateMachine {
    enum Action: Hashable {
        case deliver(WebSocketMessage)
        case write([UInt8])
        /// The connection must end once everything is written.
        case finish
    }

    private enum Phase {
        /// The WebSocket is open.
        ///
        /// The next phase is `closing` when this side sends a close frame. It is `closed` when the peer sends a close
        /// frame, violates the protocol, sends nothing after a ping, or ends its input.
        case open
        /// This side has sent a close frame.
        ///
        /// The next phase is `closed` when the peer's close frame arrives or the wait for this frame times out. It is
        /// also `closed` when the peer violates the protocol or ends its input.
        case closing
        case closed
    }

    private var phase = Phase.open
    private var reader: WebSocketReader
    private var isPinged = false

    init(messageLimit: Int) {
        reader = WebSocketReader(messageLimit: messageLimit)
    }

    /// True while messages can be sent and received.
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

    /// Closes the WebSocket from this side. Sends the code 1000 instead of a code that must not be sent.
    mutating func close(_ code: UInt16) -> [Action] {
        guard phase == .open else { return [] }
        phase = .closing
        return [.write(WebSocketFrame.encodeClose(WebSocketCode.isSendable(code) ? code : WebSocketCode.normal))]
    }

    /// Handles the passing of the session's deadline. In the phase `open`, the peer gets a ping. The connection ends in
    /// all other phases, and if the peer has sent nothing since the previous ping.
    mutating func expire() -> [Action] {
        guard phase == .open, !isPinged else {
            phase = .closed
            return [.finish]
        }
        isPinged = true
        return [.write(WebSocketFrame.encode(.ping, []))]
    }

    /// Handles the end of the input: the peer closed its side, or the connection is gone.
    mutating func inputEnded() -> [Action] {
        guard phase != .closed else { return [] }
        phase = .closed
        return [.finish]
    }
}
