import MartletHTTP

/// The server side of HTTP/1.1 (RFC 9112) on one connection: one request at a time, with strict parsing.
final class HTTP1Server: WireProtocol {
    private enum Phase: Hashable {
        /// The phase before the first byte of a request. It becomes `head` with that byte.
        case idle
        /// Becomes `body` or `answering` when the head is complete.
        case head
        /// Becomes `trailers` after the last chunk, or `answering` when the body is complete. If the handler reads the
        /// body itself or ignores it, it already has the request. If the response ends before the body, a short rest of
        /// the body is dropped and the phase becomes `idle`; with a longer rest, the phase becomes `finished`.
        case body
        case trailers
        /// The handler has the complete request. Becomes `idle`, or `finished`, when the response ends.
        case answering
        /// Nothing more is read; `output` is still sent.
        case finished
    }

    /// How many bytes of further requests are kept while a request is being answered, without charging them to
    /// `bodies`.
    private static let backlogBytes = 4 * 1024
    /// How much of a long response is moved to the output at once.
    private static let pieceBytes = 16 * 1024
    /// The maximum length of the rest of an unread body that is dropped so that the connection can be kept.
    private static let droppedBytes: UInt64 = 64 * 1024

    private unowned let connection: any WireConnection
    private let dispatch: any RequestDispatch
    private let limits: ServerLimits
    private let info: HTTPConnection
    private let bodies: ConnectionBodies
    private let scannerLimits: HeadScanner.Limits

    private var phase = Phase.idle
    private let parser = HTTP1Parser(.request)
    private var scanner: HeadScanner
    /// The start of a head, or of trailers, that arrived in pieces.
    private var partialHead: [UInt8] = []
    /// Bytes that arrived while a request was being answered.
    private var backlog: [UInt8] = []
    private var isConsuming = false
    /// When the last response ended, or when the connection began. The idle time starts here.
    private var quietSince: ContinuousClock.Instant
    /// The deadline of the current phase.
    private var due: ContinuousClock.Instant?

    private var head: HTTP1RequestHead?
    private var route: HTTPRoute?
    private var body: [UInt8] = []
    private var bodyLimit = 0
    /// The reserved memory of a collected body.
    private var lease: BodyLease?
    private var backlogLease: BodyLease?
    private var headBytes = 0
    /// The number of body bytes not yet received, if the request has a Content-Length.
    private var bodyLeft: UInt64 = 0
    /// True while the rest of the body is dropped unread.
    private var isDropping = false
    /// The body of the current request, if its handler reads it as a stream.
    private var streamed: RequestBody?
    private var owesContinue = false

    private var stream: HTTP1ResponseStream?
    private var running: (any RunningRequest)?
    private var framing = HTTP1ResponseEncoder.Framing.none
    private var isStreaming = false
    private var isFull = false
    private var isLastAnswer = false
    private var isDraining = false
    private var output = OutputQueue()
    /// The rest of a long complete response, which is sent after `output`. It is moved to `output` in pieces, so that
    /// it is not copied as a whole.
    private var rest: HTTP2BodyBuffer?
    /// The memory of the current response.
    private var answerRoom: AnswerLease?
    /// The memory of `output`.
    private let outputRoom: AnswerLease
    private var date = HTTPDate()

    init(
        _ connection: any WireConnection, info: HTTPConnection, dispatch: any RequestDispatch, limits: ServerLimits,
        bodies: ConnectionBodies? = nil
    ) {
        self.connection = connection
        self.dispatch = dispatch
        self.limits = limits
        self.info = info
        self.bodies = bodies ?? ConnectionBodies(alone: limits, connection: info.id)
        outputRoom = AnswerLease(self.bodies)
        scannerLimits = HeadScanner.Limits(
            startLineBytes: limits.targetBytes, fieldBytes: limits.fieldBytes, fieldCount: limits.fieldCount)
        scanner = HeadScanner(scannerLimits)
        // For its first request, a new connection gets the shorter `headTime`, because a client that connects is
        // expected to send a request at once.
        due = connection.now + limits.headTime
        quietSince = connection.now
    }

    var idleSince: ContinuousClock.Instant? { stream == nil && output.isEmpty ? quietSince : nil }

    var deadline: ContinuousClock.Instant? {
        let others = lease?.retryAt ?? streamed?.deadline
        guard let due, let others else { return due ?? others }
        return min(due, others)
    }

    var now: ContinuousClock.Instant { connection.now }

    var isFinished: Bool { phase == .finished && output.isEmpty }

    var wantsInput: Bool {
        guard backlog.count < Self.backlogBytes, !isCongested, !isHeldUp else { return false }
        if isDropping { return mayDropRest }
        return !(isReadingStream && streamed?.isFull == true)
    }

    var inputLimit: Int {
        let limit = bodies.inputLimit
        return limit == .max ? limit : max(1, limit - backlog.count)
    }

    /// True while a body waits for room.
    private var isHeldUp: Bool { lease?.isWaiting == true }

    /// True while the body of a request that is being answered is still arriving.
    private var isReadingStream: Bool { streamed != nil && (phase == .body || phase == .trailers) }

    /// True if the body that is being read as a stream cannot be read further, because it is too long or malformed.
    private var isGivenUp: Bool { isReadingStream && streamed?.isOver == true }

    private var isAnswering: Bool { stream != nil }

    /// True if the connection can be kept although the body is not read, because the rest is short and the client will
    /// send it.
    private var mayDropRest: Bool {
        bodyLeft > 0 && bodyLeft <= Self.droppedBytes && !owesContinue && streamed?.isOver != true
    }

    /// True if the connection must close after the response, because the rest of the body is not read.
    private var leavesBody: Bool { (phase == .body || phase == .trailers) && !mayDropRest }

    /// True if too many response bytes wait for a client that keeps sending requests without reading. No further
    /// request is passed to handlers until the client reads.
    private var isCongested: Bool { output.count >= outputBytes }

    /// The number of output bytes that may wait before no more output is produced.
    private var outputBytes: Int {
        bodies.answers.isCrowded ? min(AnswerLease.freeBytes, limits.streamBufferBytes) : limits.streamBufferBytes
    }

    // MARK: Reading

    func receive(_ bytes: UnsafeRawBufferPointer) {
        if phase == .answering || isConsuming || isHeldUp || !backlog.isEmpty {
            keep(bytes)
            consumeBacklog()
        } else {
            consume(bytes)
        }
    }

    private func consume(_ bytes: UnsafeRawBufferPointer) {
        isConsuming = true
        var rest = bytes
        while !rest.isEmpty, phase != .finished, mayConsume, hasRoom(for: rest.count) {
            do throws(HTTP1Refusal) {
                rest = UnsafeRawBufferPointer(rebasing: rest[try take(rest)...])
            } catch {
                refuse(error)
            }
        }
        isConsuming = false
        if phase != .finished, !rest.isEmpty { keep(rest) }
    }

    /// Keeps bytes that cannot be processed yet. More than `backlogBytes` must be reserved like a body.
    private func keep(_ bytes: UnsafeRawBufferPointer) {
        backlog.append(contentsOf: bytes)
        if !holdsEarly(backlog.count) { dropBacklog() }
    }

    /// Reserves room for `count` bytes that cannot be processed yet: the start of a head, or further requests that
    /// arrive while a request is being answered. Returns false if there is no room.
    private func holdsEarly(_ count: Int) -> Bool {
        guard count > Self.backlogBytes else { return true }
        let lease = backlogLease ?? bodies.lease(.address, headBytes: 0)
        backlogLease = lease
        if lease.hold(count) { return true }
        lease.countRefusal()
        return false
    }

    private func dropBacklog() {
        backlog = []
        if isHeldUp { return refuse(.overloaded) }
        isLastAnswer = true
        if phase == .idle { finish() }
    }

    private var mayConsume: Bool { phase != .answering && !isHeldUp && (phase != .idle || !isCongested) }

    /// Reserves room for `count` more bytes of a collected body. Returns false if there is no room yet.
    private func hasRoom(for count: Int) -> Bool {
        guard phase == .body, let lease else { return true }
        return lease.cover(max(lease.room, min(body.count + count, bodyLimit)), at: connection.now)
    }

    /// Processes the bytes that arrived while a request was being answered.
    private func consumeBacklog() {
        while !isConsuming, phase != .finished, mayConsume, !backlog.isEmpty {
            let waiting = backlog
            backlog = []
            waiting.withUnsafeBytes { consume($0) }
        }
        if backlog.isEmpty, partialHead.isEmpty { backlogLease = nil }
    }

    /// - Returns: The number of consumed bytes, which is more than 0.
    private func take(_ bytes: UnsafeRawBufferPointer) throws(HTTP1Refusal) -> Int {
        switch phase {
        case .body where isGivenUp, .trailers where isGivenUp, .body where isDropping && !mayDropRest: bytes.count
        case .idle, .head: try takeHead(bytes)
        case .body: try takeBody(bytes)
        case .trailers: try takeTrailers(bytes)
        case .answering, .finished: bytes.count
        }
    }

    private func takeHead(_ bytes: UnsafeRawBufferPointer) throws(HTTP1Refusal) -> Int {
        if phase == .idle {
            phase = .head
            due = connection.now + limits.headTime
        }
        switch scanner.scan(bytes) {
        case .refused(let refusal): throw HTTP1Refusal(refusal)
        case .more:
            partialHead.append(contentsOf: bytes)
            guard holdsEarly(partialHead.count) else { throw .overloaded }
            return bytes.count
        case .complete(let count):
            let last = UnsafeRawBufferPointer(rebasing: bytes[..<count])
            if partialHead.isEmpty {
                try parseHead(last)
            } else {
                partialHead.append(contentsOf: last)
                let whole = partialHead
                partialHead = []
                backlogLease = nil
                try whole.withUnsafeBufferPointer { whole throws(HTTP1Refusal) in
                    try parseHead(UnsafeRawBufferPointer(whole))
                }
            }
            return count
        }
    }

    private func parseHead(_ bytes: UnsafeRawBufferPointer) throws(HTTP1Refusal) {
        parser.reset()
        do throws(HTTP1Parser.Failure) {
            try parser.parseHead(bytes)
        } catch {
            throw HTTP1Refusal(error)
        }
        let head = try HTTP1RequestHead(parser, bytes, connection: info)
        self.head = head
        due = connection.now + limits.bodyTime
        let route = dispatch.route(for: head.request)
        self.route = route
        headBytes = bytes.count
        guard head.body != .none else {
            lease = try leaseForHead(route)
            return dispatchRequest()
        }
        if case .length(let length) = head.body { bodyLeft = length }
        guard route.body != .ignored else { return answerOnHead(head, route) }
        bodyLimit = route.bodyLimit
        if case .length(let length) = head.body {
            guard length <= UInt64(max(0, bodyLimit)) else { throw .tooLarge(limit: bodyLimit) }
        }
        phase = .body
        owesContinue = head.expectsContinue
        if route.body == .streamed {
            let streamed = RequestBody(
                self, limit: bodyLimit, length: bodyLeft > 0 ? Int(bodyLeft) : nil, stallTime: limits.stallTime,
                lease: bodies.lease(route.account, headBytes: headBytes))
            self.streamed = streamed
            start(head.request, by: route, body: streamed)
        } else {
            let lease = bodies.lease(route.account, headBytes: headBytes)
            self.lease = lease
            // For an unidentified sender, only the bytes that arrive are reserved, not the whole Content-Length in
            // advance.
            if lease.cover(lease.isOfKnownCaller ? Int(bodyLeft) : 0, at: connection.now) { bodyHasRoom() }
        }
    }

    /// Reserves memory for a request without a body if its head is long.
    private func leaseForHead(_ route: HTTPRoute) throws(HTTP1Refusal) -> BodyLease? {
        guard headBytes > limits.freeHeadBytes else { return nil }
        let lease = bodies.lease(route.account, headBytes: headBytes)
        guard !lease.hold(0) else { return lease }
        lease.countRefusal()
        throw .overloaded
    }

    /// Called when there is room for the collected body. Lets the client send the body.
    private func bodyHasRoom() {
        body.reserveCapacity(min(Int(bodyLeft), lease?.room ?? 0))
        sendContinue()
    }

    private func answerOnHead(_ head: HTTP1RequestHead, _ route: HTTPRoute) {
        phase = .body
        isDropping = true
        owesContinue = head.expectsContinue
        start(head.request, by: route, body: nil)
    }

    private func sendContinue() {
        guard owesContinue else { return }
        owesContinue = false
        HTTP1ResponseEncoder.append("HTTP/1.1 100 Continue\r\n\r\n", to: &output.bytes)
        connection.needsWrite()
    }

    private func takeBody(_ bytes: UnsafeRawBufferPointer) throws(HTTP1Refusal) -> Int {
        let before = body.count
        let (taken, stop) = try parseBody(bytes)
        bodyLeft -= min(bodyLeft, UInt64(body.count - before))
        if isDropping {
            body.removeAll(keepingCapacity: true)
        } else if let streamed {
            body.withUnsafeBytes { streamed.receive($0) }
            body.removeAll(keepingCapacity: true)
        }
        guard isDropping || body.count <= bodyLimit else { throw .tooLarge(limit: bodyLimit) }
        switch stop {
        case .hungry: break
        case .complete: bodyCompleted()
        case .trailers:
            phase = .trailers
            scanner = HeadScanner(scannerLimits, trailers: true)
        }
        return taken
    }

    /// Reads and checks trailers, then drops them (RFC 9112, section 7.1.2).
    private func takeTrailers(_ bytes: UnsafeRawBufferPointer) throws(HTTP1Refusal) -> Int {
        switch scanner.scan(bytes) {
        case .refused(let refusal): throw HTTP1Refusal(refusal)
        case .more:
            _ = try parseBody(bytes)
            return bytes.count
        case .complete(let count):
            _ = try parseBody(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
            bodyCompleted()
            return count
        }
    }

    private func parseBody(
        _ bytes: UnsafeRawBufferPointer
    ) throws(HTTP1Refusal) -> (taken: Int, stop: HTTP1Parser.Stop) {
        do throws(HTTP1Parser.Failure) {
            return try parser.parseBody(bytes, into: &body)
        } catch {
            throw HTTP1Refusal(error)
        }
    }

    private func bodyCompleted() {
        if isDropping { return restDropped() }
        guard let streamed else { return dispatchRequest() }
        // The body has already ended with an error, or its reader is gone, so the connection ends with the response.
        guard !streamed.isOver else { return }
        phase = .answering
        streamed.complete()
    }

    /// Called when the dropped body has ended.
    private func restDropped() {
        isDropping = false
        guard stream == nil else {
            phase = .answering
            return
        }
        phase = isDraining ? .finished : .idle
        due = phase == .idle ? connection.now + limits.idleTime : nil
        connection.needsWrite()
    }

    private func dispatchRequest() {
        guard let head, let route else { return }
        var request = head.request
        swap(&request.body, &body)
        request.reservation = lease
        lease = nil
        phase = .answering
        start(request, by: route, body: nil)
    }

    private func start(_ request: HTTPRequest, by route: HTTPRoute, body: RequestBody?) {
        due = nil
        let stream = HTTP1ResponseStream(self)
        self.stream = stream
        let room = AnswerLease(bodies)
        answerRoom = room
        var request = request
        request.answerRoom = room
        let running = dispatch.start(request, by: route, body: body, answerTo: stream)
        if self.stream === stream { self.running = running }
    }

    // MARK: Answering

    /// Sends a complete response.
    func answer(_ response: HTTPResponse) {
        guard isAnswering else { return }
        let response = HTTP1ResponseEncoder.isWritable(response) ? response : HTTPResponse(.internalServerError)
        let bytes = response.bytes
        let isBodiless = HTTP1ResponseEncoder.isBodiless(response.status)
        appendHead(response, framing: isBodiless ? .none : .length(bytes.count))
        guard !isBodiless, head?.request.method != .head else { return completeAnswer() }
        // Only if the request is complete. Otherwise the rest of this request would have to be distinguished from the
        // next request.
        if phase == .answering, bytes.count > limits.streamBufferBytes {
            running = nil
            rest = HTTP2BodyBuffer(bytes, isShared: response.isShared)
            return sendRest()
        }
        output.bytes.append(contentsOf: bytes)
        completeAnswer()
    }

    /// Moves the next part of a long response to the output, up to the limit for waiting output.
    private func sendRest() {
        guard rest != nil else { return }
        while output.count < outputBytes, let piece = rest?.next(upTo: Self.pieceBytes) {
            output.bytes.append(contentsOf: piece)
        }
        answerRoom?.hold(rest?.memory ?? 0)
        outputRoom.hold(output.bytes.count)
        if rest?.count == 0 { completeAnswer() } else { connection.needsWrite() }
    }

    /// Sends the head of a response whose body is streamed.
    func beginAnswer(_ response: HTTPResponse) {
        guard isAnswering else { return }
        let isWritable = HTTP1ResponseEncoder.isWritable(response)
        let response = isWritable ? response : HTTPResponse(.internalServerError)
        if !isWritable || HTTP1ResponseEncoder.isBodiless(response.status) {
            framing = .none
        } else if case .stream(let length?, _) = response.body {
            framing = .length(length)
        } else {
            framing = head?.minorVersion == 0 ? .untilClose : .chunked
        }
        if framing == .untilClose { isLastAnswer = true }
        isStreaming = true
        appendHead(response, framing: framing == .none && !isWritable ? .length(0) : framing)
        if head?.request.method == .head { framing = .none }
        connection.needsWrite()
    }

    /// - Returns: True if there is room for more.
    func continueAnswer(_ bytes: [UInt8]) -> Bool {
        guard isAnswering, !bytes.isEmpty else { return true }
        switch framing {
        case .none: return true
        case .chunked: HTTP1ResponseEncoder.appendChunk(bytes, to: &output.bytes)
        case .length, .untilClose: output.bytes.append(contentsOf: bytes)
        }
        connection.needsWrite()
        outputRoom.hold(output.bytes.count)
        isFull = output.count >= limits.streamBufferBytes
        return !isFull
    }

    func endAnswer() {
        guard isAnswering else { return }
        if framing == .chunked { HTTP1ResponseEncoder.append("0\r\n\r\n", to: &output.bytes) }
        completeAnswer()
    }

    func cutAnswer() {
        guard isAnswering else { return }
        isLastAnswer = true
        completeAnswer()
    }

    /// Sends the head of the response and switches the connection to a WebSocket.
    func openWebSocket(_ response: HTTPResponse) -> WebSocketSession? {
        guard phase == .answering, let head else { return nil }
        guard let accept = WebSocketHandshake.accept(head.request), !isDraining else {
            answer(WebSocketHandshake.upgradeRequired)
            return nil
        }
        WebSocketHandshake.appendHead(response, accept: accept, to: &output.bytes)
        let session = WebSocketSession(connection, limits: limits, head: output)
        // The handler must not be cancelled when this HTTP/1.1 session ends.
        running = nil
        let unread = backlog
        backlog = []
        connection.become(session, unread: unread)
        return session
    }

    private func appendHead(_ response: HTTPResponse, framing: HTTP1ResponseEncoder.Framing) {
        // If a body is not read to its end, the start of the next request cannot be found.
        if isDraining || leavesBody || head?.keepsAlive != true { isLastAnswer = true }
        owesContinue = false
        let keepAlive = head?.minorVersion == 0 ? "keep-alive" : nil
        HTTP1ResponseEncoder.appendHead(
            response, framing: framing, connection: isLastAnswer ? "close" : keepAlive, date: date.now(),
            to: &output.bytes)
    }

    private func completeAnswer() {
        if leavesBody { isLastAnswer = true }
        let isUnread = phase == .body || phase == .trailers
        stream?.detach()
        stream = nil
        running = nil
        rest = nil
        answerRoom = nil
        outputRoom.hold(output.bytes.count)
        quietSince = connection.now
        head = nil
        route = nil
        let unread = streamed
        streamed = nil
        owesContinue = false
        isStreaming = false
        isFull = false
        framing = .none
        scanner = HeadScanner(scannerLimits)
        // If `drain` was called after the head was written, the connection still closes after the body.
        phase = isLastAnswer || isDraining ? .finished : isUnread ? .body : .idle
        isDropping = phase == .body
        due = phase == .finished ? nil : connection.now + (isDropping ? limits.stallTime : limits.idleTime)
        unread?.fail(.disconnected)
        connection.needsWrite()
        consumeBacklog()
    }

    private func refuse(_ refusal: HTTP1Refusal) {
        // The handler that reads the body already has the request and answers it.
        if isReadingStream { return streamed?.fail(.malformed) ?? () }
        body = []
        lease = nil
        backlogLease = nil
        partialHead = []
        let framing = HTTP1ResponseEncoder.Framing.length(refusal.response.bytes.count)
        HTTP1ResponseEncoder.appendHead(
            refusal.response, framing: framing, connection: "close", date: date.now(), to: &output.bytes)
        output.bytes.append(contentsOf: refusal.response.bytes)
        finish()
    }

    private func finish() {
        phase = .finished
        due = nil
        lease = nil
        backlogLease = nil
        backlog = []
        connection.needsWrite()
    }

    // MARK: The connection

    func write(into output: inout [UInt8], limit: Int) {
        self.output.move(into: &output, limit: limit)
        outputRoom.hold(self.output.bytes.count)
        sendRest()
        consumeBacklog()
        guard isFull, self.output.count < limits.streamBufferBytes / 2 else { return }
        isFull = false
        running?.roomAppeared()
    }

    func expire(at now: ContinuousClock.Instant) {
        guard let deadline, deadline <= now else { return }
        if isReadingStream { return streamed?.expire(at: now) ?? () }
        if let due, due <= now { return phaseExpired() }
        guard let lease else { return }
        switch lease.retry(at: now) {
        case .granted:
            bodyHasRoom()
            consumeBacklog()
            connection.needsWrite()
        case .waiting: break
        case .refused:
            lease.countRefusal()
            refuse(.overloaded)
        }
    }

    private func phaseExpired() {
        switch phase {
        case .idle: finish()
        case .head where !scanner.hasBegun, .body where isDropping: finish()
        case .head, .body, .trailers: refuse(.timeout)
        case .answering, .finished: due = nil
        }
    }

    func inputEnded() {
        switch phase {
        case .answering,
            .body where stream != nil && streamed == nil:
            isLastAnswer = true
            // A client that half-closes its connection during a streamed response is treated as gone, because the
            // streamed response may never end.
            guard isStreaming else { return }
            let running = running
            cutAnswer()
            running?.cancel()
        case .body where isReadingStream, .trailers where isReadingStream:
            ended()
            connection.needsWrite()
        case .idle, .head, .body, .trailers: finish()
        case .finished: break
        }
    }

    func ended() {
        stream?.detach()
        let running = running
        self.running = nil
        let unread = streamed
        streamed = nil
        lease = nil
        backlogLease = nil
        body = []
        phase = .finished
        due = nil
        output.removeAll()
        outputRoom.hold(0)
        rest = nil
        answerRoom = nil
        backlog = []
        unread?.fail(.disconnected)
        running?.cancel()
    }

    func drain() {
        isDraining = true
        if phase == .idle { finish() }
    }
}

extension HTTP1Server: RequestBodySource {
    func bodyIsWanted(_ body: RequestBody) {
        guard body === streamed else { return }
        sendContinue()
        connection.needsWrite()
    }

    func bodyWasTaken(_ count: Int, of body: RequestBody) {
        if body === streamed { connection.needsWrite() }
    }

    func bodyIsHeldUp(_ body: RequestBody) {
        if body === streamed { connection.needsWrite() }
    }
}
