import MartletHTTP

/// The output of an HTTP/1.1 connection: the heads, bodies and chunks of its responses that wait to be sent, and the
/// memory that is reserved for them.
struct HTTP1Output {
    /// What remains, after a call of `moveRest`, of a response that is too long to be sent at once.
    enum Rest {
        /// No long response is being sent.
        case none
        /// Some of the response remains, because the client must read before more of it is moved to the output.
        case waits
        /// The whole response has been moved to the output.
        case done
    }

    /// The maximum number of bytes of a long response that are moved to the output at once.
    private static let pieceBytes = 16 * 1024

    private(set) var queue = OutputQueue()
    private var framing = HTTP1ResponseEncoder.Framing.none
    /// True while the producer of a streamed response must wait until the client has read some of the output.
    private(set) var isFull = false
    /// The rest of a long complete response, which is sent after `queue`.
    ///
    /// It is moved to `queue` in pieces, so that it is not copied as a whole.
    private var rest: HTTP2BodyBuffer?
    /// The memory reserved for the current response.
    private var answerRoom: AnswerLease?
    /// The memory reserved for `queue`.
    private let outputRoom: AnswerLease
    private var date = HTTPDate()
    private let bodies: ConnectionBodies
    private let streamBufferBytes: Int

    init(_ bodies: ConnectionBodies, limits: ServerLimits) {
        self.bodies = bodies
        streamBufferBytes = limits.streamBufferBytes
        outputRoom = AnswerLease(bodies)
    }

    var isEmpty: Bool { queue.isEmpty }

    /// True if too many bytes wait to be sent, because the client keeps sending requests without reading the responses.
    var isCongested: Bool { queue.count >= capacity }

    /// The number of bytes in `queue` at which no more of a long response is moved to `queue`, and no further request
    /// is read. The number is small while memory for answers is scarce.
    private var capacity: Int {
        bodies.answers.isCrowded ? min(AnswerLease.freeBytes, streamBufferBytes) : streamBufferBytes
    }

    /// Begins the response to a request.
    /// - Returns: The lease for the memory of the response.
    mutating func begin() -> AnswerLease {
        let room = AnswerLease(bodies)
        answerRoom = room
        return room
    }

    mutating func appendContinue() {
        HTTP1ResponseEncoder.append("HTTP/1.1 100 Continue\r\n\r\n", to: &queue.bytes)
    }

    /// Appends the head of a response.
    /// - Parameter connection: The value of the `Connection` field; nil to omit the field.
    mutating func appendHead(
        _ response: HTTPResponse, framing: HTTP1ResponseEncoder.Framing, connection: String?
    ) {
        HTTP1ResponseEncoder.appendHead(
            response, framing: framing, connection: connection, date: date.now(), to: &queue.bytes)
    }

    /// Appends the whole body of a response.
    mutating func appendBody(_ bytes: [UInt8]) {
        queue.bytes.append(contentsOf: bytes)
    }

    /// Keeps the body of a long response, which `moveRest` sends in pieces.
    mutating func keepRest(_ bytes: [UInt8], isShared: Bool) {
        rest = HTTP2BodyBuffer(bytes, isShared: isShared)
    }

    /// Moves the next part of a long response to the output, up to the limit for waiting output.
    mutating func moveRest() -> Rest {
        guard rest != nil else { return .none }
        while queue.count < capacity, let piece = rest?.next(upTo: Self.pieceBytes) {
            queue.bytes.append(contentsOf: piece)
        }
        answerRoom?.hold(rest?.memory ?? 0)
        outputRoom.hold(queue.bytes.count)
        return rest?.count == 0 ? .done : .waits
    }

    /// Begins a streamed body with the given framing.
    ///
    /// Called after the head was appended.
    mutating func stream(_ framing: HTTP1ResponseEncoder.Framing) {
        self.framing = framing
    }

    /// Appends the next bytes of a streamed body.
    /// - Returns: True if more bytes may be appended at once; false if they must wait until the peer has read some of
    ///   the output.
    mutating func appendPart(_ bytes: [UInt8]) -> Bool {
        switch framing {
        case .none: return true
        case .chunked: HTTP1ResponseEncoder.appendChunk(bytes, to: &queue.bytes)
        case .length, .untilClose: queue.bytes.append(contentsOf: bytes)
        }
        outputRoom.hold(queue.bytes.count)
        isFull = queue.count >= streamBufferBytes
        return !isFull
    }

    /// Ends a streamed body.
    mutating func appendEnd() {
        if framing == .chunked { HTTP1ResponseEncoder.append("0\r\n\r\n", to: &queue.bytes) }
    }

    /// Releases the state of a response that is now complete.
    ///
    /// The bytes of the response in `queue` are still sent.
    mutating func endAnswer() {
        rest = nil
        answerRoom = nil
        isFull = false
        framing = .none
        outputRoom.hold(queue.bytes.count)
    }

    /// Moves bytes from `queue` to the socket's buffer until the buffer has `limit` bytes.
    mutating func move(into output: inout [UInt8], limit: Int) {
        queue.move(into: &output, limit: limit)
        outputRoom.hold(queue.bytes.count)
    }

    /// Lets a waiting producer of a streamed response continue, once half of the buffer is free.
    /// - Returns: True if a producer waited and may continue.
    mutating func reopen() -> Bool {
        guard isFull, queue.count < streamBufferBytes / 2 else { return false }
        isFull = false
        return true
    }

    mutating func append(_ head: HTTPResponse, webSocket accept: String) {
        WebSocketHandshake.appendHead(head, accept: accept, to: &queue.bytes)
    }

    mutating func removeAll() {
        queue.removeAll()
        outputRoom.hold(0)
        rest = nil
        answerRoom = nil
    }
}
