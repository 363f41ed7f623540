import MartletHTTP

/// The server side of HTTP/1.1 (RFC 9112) on one connection: one request after the other, strictly read.
final class HTTP1Server: WireProtocol {
    private enum Phase: Hashable {
        /// Before the first byte of a request. Becomes `head` with that byte.
        case idle
        /// Becomes `body` or `answering` when the head is complete.
        case head
        /// Becomes `trailers` after the last chunk, `answering` when the body is complete. The handler has the request
        /// already where it reads the body itself, or does not want it. After an answer that did not wait for the end, a
        /// short rest is dropped and it becomes `idle`; otherwise it becomes `finished`.
        case body
        case trailers
        /// The handler has the request. Becomes `idle`, or `finished`, with the end of the answer.
        case answering
        /// Nothing is read any more; what is in `output` still goes out.
        case finished
    }

    /// How much may come of the next requests while one is answered.
    private static let backlogBytes = 4 * 1024
    /// The longest rest of an unwanted body that is dropped to keep the connection.
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
    /// The beginning of a head that came in pieces, or of trailers.
    private var partialHead: [UInt8] = []
    /// What came while a request was being answered.
    private var backlog: [UInt8] = []
    private var isConsuming = false
    /// Since when the peer has nothing to wait for.
    private var quietSince: ContinuousClock.Instant
    /// When what the phase waits for is due.
    private var due: ContinuousClock.Instant?

    private var head: HTTP1RequestHead?
    private var route: HTTPRoute?
    private var body: [UInt8] = []
    private var bodyLimit = 0
    /// The room for a body that is collected.
    private var lease: BodyLease?
    private var backlogLease: BodyLease?
    private var headBytes = 0
    /// Bytes of the body that are still to come, where their number was announced.
    private var bodyLeft: UInt64 = 0
    /// Whether the body is dropped as it comes: nobody wants it.
    private var isDropping = false
    /// The body of the current request, where its handler reads it.
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
        scannerLimits = HeadScanner.Limits(
            startLineBytes: limits.targetBytes, fieldBytes: limits.fieldBytes, fieldCount: limits.fieldCount)
        scanner = HeadScanner(scannerLimits)
        // Anyone who connects has something to ask: the first request may not be waited for as long as the next.
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

    /// Whether a body waits for room.
    private var isHeldUp: Bool { lease?.isWaiting == true }

    /// Whether the body of a request that is being answered comes still.
    private var isReadingStream: Bool { streamed != nil && (phase == .body || phase == .trailers) }

    /// Whether nobody can read on in that body: it is too long, or makes no sense.
    private var isGivenUp: Bool { isReadingStream && streamed?.isOver == true }

    private var isAnswering: Bool { stream != nil }

    /// Whether the connection outlives a body that is not read to its end: what is left is short, and will come.
    private var mayDropRest: Bool {
        bodyLeft > 0 && bodyLeft <= Self.droppedBytes && !owesContinue && streamed?.isOver != true
    }

    /// Whether the answer ends the connection, because nobody reads the rest of the body.
    private var leavesBody: Bool { (phase == .body || phase == .trailers) && !mayDropRest }

    /// Whether answers wait for a peer that goes on asking and does not read: nothing more is asked of handlers until
    /// it does.
    private var isCongested: Bool { output.count >= limits.streamBufferBytes }

    // MARK: reading

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

    /// Keeps what came before it can be read. More than a little needs room like a body.
    private func keep(_ bytes: UnsafeRawBufferPointer) {
        backlog.append(contentsOf: bytes)
        if !holdsEarly(backlog.count) { dropBacklog() }
    }

    /// Whether there is room for so many bytes of what cannot be read yet: the beginning of a head, or requests that come
    /// while one is answered.
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

    /// Whether there is room for so many bytes more of a body that is collected.
    private func hasRoom(for count: Int) -> Bool {
        guard phase == .body, let lease else { return true }
        return lease.cover(max(lease.room, min(body.count + count, bodyLimit)), at: connection.now)
    }

    /// Reads what waited while a request was answered.
    private func consumeBacklog() {
        while !isConsuming, phase != .finished, mayConsume, !backlog.isEmpty {
            let waiting = backlog
            backlog = []
            waiting.withUnsafeBytes { consume($0) }
        }
        if backlog.isEmpty, partialHead.isEmpty { backlogLease = nil }
    }

    /// - Returns: How many bytes were taken: more than 0.
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
            // What somebody unknown announces is reserved as it comes.
            if lease.cover(lease.isOfKnownCaller ? Int(bodyLeft) : 0, at: connection.now) { bodyHasRoom() }
        }
    }

    /// The room for a request without a body, where its head is longer than most.
    private func leaseForHead(_ route: HTTPRoute) throws(HTTP1Refusal) -> BodyLease? {
        guard headBytes > limits.freeHeadBytes else { return nil }
        let lease = bodies.lease(route.account, headBytes: headBytes)
        guard !lease.hold(0) else { return lease }
        lease.countRefusal()
        throw .overloaded
    }

    /// A body that is collected may come.
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

    /// Trailers are read, checked and dropped (RFC 9112, section 7.1.2).
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
        // A body that is over already was too long, or nobody waits for it any more: the connection ends with the answer.
        guard !streamed.isOver else { return }
        phase = .answering
        streamed.complete()
    }

    /// An unwanted body has come to its end.
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
        let running = dispatch.start(request, by: route, body: body, answerTo: stream)
        if self.stream === stream { self.running = running }
    }

    // MARK: answering

    /// Sends a whole answer.
    func answer(_ response: HTTPResponse) {
        guard isAnswering else { return }
        let response = HTTP1ResponseEncoder.isWritable(response) ? response : HTTPResponse(.internalServerError)
        let bytes = response.bytes
        let isBodiless = HTTP1ResponseEncoder.isBodiless(response.status)
        appendHead(response, framing: isBodiless ? .none : .length(bytes.count))
        if !isBodiless, head?.request.method != .head { output.bytes.append(contentsOf: bytes) }
        completeAnswer()
    }

    /// Sends the head of an answer whose body is streamed.
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

    /// - Returns: Whether there is room for more.
    func continueAnswer(_ bytes: [UInt8]) -> Bool {
        guard isAnswering, !bytes.isEmpty else { return true }
        switch framing {
        case .none: return true
        case .chunked: HTTP1ResponseEncoder.appendChunk(bytes, to: &output.bytes)
        case .length, .untilClose: output.bytes.append(contentsOf: bytes)
        }
        connection.needsWrite()
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

    /// Hands the connection over after the head of the answer.
    func openWebSocket(_ response: HTTPResponse) -> WebSocketSession? {
        guard phase == .answering, let head else { return nil }
        guard let accept = WebSocketHandshake.accept(head.request), !isDraining else {
            answer(WebSocketHandshake.upgradeRequired)
            return nil
        }
        WebSocketHandshake.appendHead(response, accept: accept, to: &output.bytes)
        let session = WebSocketSession(connection, limits: limits, head: output)
        // It is not to be cancelled with what ends here.
        running = nil
        let unread = backlog
        backlog = []
        connection.become(session, unread: unread)
        return session
    }

    private func appendHead(_ response: HTTPResponse, framing: HTTP1ResponseEncoder.Framing) {
        // What is left of a body that nobody reads is no place to look for the next request.
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
        // A server that drains after the head was written still closes after the body.
        phase = isLastAnswer || isDraining ? .finished : isUnread ? .body : .idle
        isDropping = phase == .body
        due = phase == .finished ? nil : connection.now + (isDropping ? limits.stallTime : limits.idleTime)
        unread?.fail(.disconnected)
        connection.needsWrite()
        consumeBacklog()
    }

    private func refuse(_ refusal: HTTP1Refusal) {
        // The reader of the body has the request, and answers it.
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

    // MARK: the connection

    func write(into output: inout [UInt8], limit: Int) {
        self.output.move(into: &output, limit: limit)
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
            // Anyone who follows a stream and closes its side has gone; nobody else streams without end.
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
