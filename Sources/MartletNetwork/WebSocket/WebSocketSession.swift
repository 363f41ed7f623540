import MartletHTTP

/// A WebSocket on one connection, which passes messages to and from the handler.
///
/// Owned by the loop.
final class WebSocketSession: WireProtocol {
    typealias Receiver = (WebSocketMessage?) -> Void

    /// The maximum number of messages that may wait for the handler. When it is reached, reading stops.
    private static let inboxLimit = 32
    /// The maximum time to wait for the peer's close frame.
    private static let closeTime: Duration = .seconds(5)

    private unowned let connection: any WireConnection
    private let limits: ServerLimits
    private var state: WebSocketStateMachine
    private var output: OutputQueue
    private var inbox: [WebSocketMessage] = []
    private var receiver: Receiver?
    private var senders: [CheckedContinuation<Void, any Error>] = []
    private(set) var deadline: ContinuousClock.Instant?
    private(set) var isOver = false

    /// Creates a session.
    /// - Parameter head: The output to send before the first frame.
    init(_ connection: any WireConnection, limits: ServerLimits, head: OutputQueue) {
        self.connection = connection
        self.limits = limits
        state = WebSocketStateMachine(messageLimit: limits.webSocketMessageBytes)
        output = head
        deadline = connection.now + silence
    }

    /// The time of silence after which the peer gets a ping. The peer must then send something within the same time.
    private var silence: Duration { limits.idleTime / 2 }

    var isFinished: Bool { isOver && output.isEmpty }
    var wantsInput: Bool { !isOver && inbox.count < Self.inboxLimit && !isFull }
    private var isFull: Bool { output.count >= limits.streamBufferBytes }

    // MARK: The handler

    /// Receives the next message.
    /// - Parameter receiver: Called with the next message, immediately or when it arrives. Called with nil if there are
    ///   no more messages, or if an earlier call of this function still waits.
    func receive(_ receiver: @escaping Receiver) {
        guard self.receiver == nil else { return receiver(nil) }
        self.receiver = receiver
        handOver()
        if !isOver { connection.needsWrite() }
    }

    /// Sends a message. Resumes the continuation once another message may be sent; resumes it with `CancellationError`
    /// if the WebSocket is closed.
    func send(_ message: WebSocketMessage, _ continuation: CheckedContinuation<Void, any Error>) {
        guard state.isOpen else { return continuation.resume(throwing: CancellationError()) }
        perform(state.send(message))
        if isFull { senders.append(continuation) } else { continuation.resume() }
    }

    func close(_ code: UInt16) {
        guard state.isOpen else { return }
        perform(state.close(code))
        deadline = connection.now + Self.closeTime
        stopWaiting()
    }

    private func handOver() {
        guard let receiver else { return }
        // Messages that arrived before a close frame are still delivered.
        guard inbox.isEmpty else {
            self.receiver = nil
            return receiver(inbox.removeFirst())
        }
        guard !state.isOpen else { return }
        self.receiver = nil
        receiver(nil)
    }

    private func stopWaiting() {
        let stopped = senders
        senders = []
        for continuation in stopped { continuation.resume(throwing: CancellationError()) }
        handOver()
    }

    private func perform(_ actions: [WebSocketStateMachine.Action]) {
        guard !actions.isEmpty else { return }
        for action in actions {
            switch action {
            case .deliver(let message): inbox.append(message)
            case .write(let bytes): output.bytes.append(contentsOf: bytes)
            case .finish: isOver = true
            }
        }
        if isOver {
            deadline = nil
            stopWaiting()
        } else {
            handOver()
        }
        connection.needsWrite()
    }

    // MARK: The connection

    func receive(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty, !isOver else { return }
        if state.isOpen { deadline = connection.now + silence }
        perform(state.receive(bytes))
    }

    func write(into output: inout [UInt8], limit: Int) {
        self.output.move(into: &output, limit: limit)
        guard self.output.count < limits.streamBufferBytes / 2, !senders.isEmpty else { return }
        let ready = senders
        senders = []
        for continuation in ready { continuation.resume() }
    }

    func expire(at now: ContinuousClock.Instant) {
        guard let deadline, deadline <= now else { return }
        self.deadline = now + silence
        perform(state.expire())
    }

    func inputEnded() {
        perform(state.inputEnded())
    }

    func ended() {
        output.removeAll()
        perform(state.inputEnded())
        isOver = true
        deadline = nil
        stopWaiting()
    }

    func drain() {
        close(WebSocketCode.goingAway)
    }
}

/// A WebSocket that handlers can use on any thread.
struct LoopWebSocket: WebSocket {
    let session: LoopBound<WebSocketSession>

    func receive() async -> WebSocketMessage? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                session.loop.perform { session.value.receive { continuation.resume(returning: $0) } }
            }
        } onCancel: {
            close(code: WebSocketCode.goingAway)
        }
    }

    func send(_ message: WebSocketMessage) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                session.loop.perform { session.value.send(message, continuation) }
            }
        } onCancel: {
            close(code: WebSocketCode.goingAway)
        }
    }

    func close(code: UInt16) {
        session.loop.perform { session.value.close(code) }
    }
}
