import MartletHTTP

/// The server side of HTTP/1.1 (RFC 9112) on one connection: one request after the other, strictly read.
final class HTTP1Server: WireProtocol {
    private enum Phase {
        /// Before the first byte of a request. Becomes `head` with that byte.
        case idle
        /// Becomes `body` or `answering` when the head is complete.
        case head
        /// Becomes `trailers` behind the last chunk, `answering` when the body is complete.
        case body
        case trailers
        /// The handler has the request. Becomes `idle`, or `finished`, with the end of the answer.
        case answering
        /// Nothing is read any more; what is in `output` still goes out.
        case finished
    }

    private unowned let connection: any WireConnection
    private let dispatch: any RequestDispatch
    private let limits: ServerLimits
    private let info: HTTPConnection
    private let scannerLimits: HeadScanner.Limits

    private var phase = Phase.idle
    private let parser = HTTP1Parser(.request)
    private var scanner: HeadScanner
    /// The beginning of a head that came in pieces, or of trailers.
    private var partialHead: [UInt8] = []
    /// What came while a request was being answered.
    private var backlog: [UInt8] = []
    private var isConsuming = false
    private(set) var deadline: ContinuousClock.Instant?

    private var head: HTTP1RequestHead?
    private var body: [UInt8] = []
    private var bodyLimit = 0

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
        _ connection: any WireConnection, info: HTTPConnection, dispatch: any RequestDispatch, limits: ServerLimits
    ) {
        self.connection = connection
        self.dispatch = dispatch
        self.limits = limits
        self.info = info
        scannerLimits = HeadScanner.Limits(
            startLineBytes: limits.targetBytes, fieldBytes: limits.fieldBytes, fieldCount: limits.fieldCount)
        scanner = HeadScanner(scannerLimits)
        // Whoever connects has something to ask: the first request may not be waited for as long as the next.
        deadline = connection.now + limits.headTime
    }

    var isFinished: Bool { phase == .finished && output.isEmpty }

    var wantsInput: Bool { backlog.count < 64 * 1024 && !isCongested }

    /// Whether answers wait for a peer that goes on asking and does not read: nothing more is asked of handlers until
    /// it does.
    private var isCongested: Bool { output.count >= limits.streamBufferBytes }

    // MARK: reading

    func receive(_ bytes: UnsafeRawBufferPointer) {
        if phase == .answering || isConsuming || !backlog.isEmpty {
            backlog.append(contentsOf: bytes)
            consumeBacklog()
        } else {
            consume(bytes)
        }
    }

    private func consume(_ bytes: UnsafeRawBufferPointer) {
        isConsuming = true
        var rest = bytes
        while !rest.isEmpty, phase != .answering, phase != .finished, phase != .idle || !isCongested {
            do throws(HTTP1Refusal) {
                rest = UnsafeRawBufferPointer(rebasing: rest[try take(rest)...])
            } catch {
                refuse(error)
            }
        }
        isConsuming = false
        if phase == .answering || phase == .idle, !rest.isEmpty { backlog.append(contentsOf: rest) }
    }

    /// Reads what waited while a request was answered.
    private func consumeBacklog() {
        while !isConsuming, phase == .idle, !backlog.isEmpty, !isCongested {
            let waiting = backlog
            backlog = []
            waiting.withUnsafeBytes { consume($0) }
        }
    }

    /// - Returns: How many bytes were taken: more than 0.
    private func take(_ bytes: UnsafeRawBufferPointer) throws(HTTP1Refusal) -> Int {
        switch phase {
        case .idle, .head: try takeHead(bytes)
        case .body: try takeBody(bytes)
        case .trailers: try takeTrailers(bytes)
        case .answering, .finished: bytes.count
        }
    }

    private func takeHead(_ bytes: UnsafeRawBufferPointer) throws(HTTP1Refusal) -> Int {
        if phase == .idle {
            phase = .head
            deadline = connection.now + limits.headTime
        }
        switch scanner.scan(bytes) {
        case .refused(let refusal): throw HTTP1Refusal(refusal)
        case .more:
            partialHead.append(contentsOf: bytes)
            return bytes.count
        case .complete(let count):
            let last = UnsafeRawBufferPointer(rebasing: bytes[..<count])
            if partialHead.isEmpty {
                try parseHead(last)
            } else {
                partialHead.append(contentsOf: last)
                let whole = partialHead
                partialHead.removeAll(keepingCapacity: true)
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
        deadline = connection.now + limits.bodyTime
        guard head.body != .none else { return dispatchRequest() }
        bodyLimit = dispatch.bodyLimit(for: head.request)
        if case .length(let length) = head.body {
            guard length <= UInt64(max(0, bodyLimit)) else { throw .tooLarge }
            body.reserveCapacity(min(Int(length), 64 * 1024))
        }
        phase = .body
        if head.expectsContinue {
            HTTP1ResponseEncoder.append("HTTP/1.1 100 Continue\r\n\r\n", to: &output.bytes)
            connection.needsWrite()
        }
    }

    private func takeBody(_ bytes: UnsafeRawBufferPointer) throws(HTTP1Refusal) -> Int {
        let (taken, stop) = try parseBody(bytes)
        guard body.count <= bodyLimit else { throw .tooLarge }
        switch stop {
        case .hungry: break
        case .complete: dispatchRequest()
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
            dispatchRequest()
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

    private func dispatchRequest() {
        guard let head else { return }
        var request = head.request
        swap(&request.body, &body)
        phase = .answering
        deadline = nil
        let stream = HTTP1ResponseStream(self)
        self.stream = stream
        let running = dispatch.start(request, answerTo: stream)
        if self.stream === stream { self.running = running }
    }

    // MARK: answering

    /// Sends a whole answer.
    func answer(_ response: HTTPResponse) {
        guard phase == .answering else { return }
        let response = HTTP1ResponseEncoder.isWritable(response) ? response : HTTPResponse(.internalServerError)
        let bytes = response.bytes
        let isBodiless = HTTP1ResponseEncoder.isBodiless(response.status)
        appendHead(response, framing: isBodiless ? .none : .length(bytes.count))
        if !isBodiless, head?.request.method != .head { output.bytes.append(contentsOf: bytes) }
        completeAnswer()
    }

    /// Sends the head of an answer whose body is streamed.
    func beginAnswer(_ response: HTTPResponse) {
        guard phase == .answering else { return }
        let isWritable = HTTP1ResponseEncoder.isWritable(response)
        let response = isWritable ? response : HTTPResponse(.internalServerError)
        if !isWritable || HTTP1ResponseEncoder.isBodiless(response.status) {
            framing = .none
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
        guard phase == .answering, !bytes.isEmpty else { return true }
        switch framing {
        case .none, .length: return true
        case .chunked: HTTP1ResponseEncoder.appendChunk(bytes, to: &output.bytes)
        case .untilClose: output.bytes.append(contentsOf: bytes)
        }
        connection.needsWrite()
        isFull = output.count >= limits.streamBufferBytes
        return !isFull
    }

    func endAnswer() {
        guard phase == .answering else { return }
        if framing == .chunked { HTTP1ResponseEncoder.append("0\r\n\r\n", to: &output.bytes) }
        completeAnswer()
    }

    func cutAnswer() {
        guard phase == .answering else { return }
        isLastAnswer = true
        completeAnswer()
    }

    private func appendHead(_ response: HTTPResponse, framing: HTTP1ResponseEncoder.Framing) {
        if isDraining || head?.keepsAlive != true { isLastAnswer = true }
        let keepAlive = head?.minorVersion == 0 ? "keep-alive" : nil
        HTTP1ResponseEncoder.appendHead(
            response, framing: framing, connection: isLastAnswer ? "close" : keepAlive, date: date.now(),
            to: &output.bytes)
    }

    private func completeAnswer() {
        stream?.detach()
        stream = nil
        running = nil
        head = nil
        isStreaming = false
        isFull = false
        framing = .none
        scanner = HeadScanner(scannerLimits)
        // A server that drains after the head was written still closes behind the body.
        phase = isLastAnswer || isDraining ? .finished : .idle
        deadline = phase == .idle ? connection.now + limits.idleTime : nil
        connection.needsWrite()
        consumeBacklog()
    }

    private func refuse(_ refusal: HTTP1Refusal) {
        body = []
        partialHead = []
        let framing = HTTP1ResponseEncoder.Framing.length(refusal.response.bytes.count)
        HTTP1ResponseEncoder.appendHead(
            refusal.response, framing: framing, connection: "close", date: date.now(), to: &output.bytes)
        output.bytes.append(contentsOf: refusal.response.bytes)
        finish()
    }

    private func finish() {
        phase = .finished
        deadline = nil
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
        switch phase {
        case .idle: finish()
        case .head where !scanner.hasBegun: finish()
        case .head, .body, .trailers: refuse(.timeout)
        case .answering, .finished: self.deadline = nil
        }
    }

    func inputEnded() {
        switch phase {
        case .answering:
            isLastAnswer = true
            // Whoever follows a stream and closes its side has gone; nobody else streams without end.
            guard isStreaming else { return }
            let running = running
            cutAnswer()
            running?.cancel()
        case .idle, .head, .body, .trailers: finish()
        case .finished: break
        }
    }

    func ended() {
        stream?.detach()
        let running = running
        self.running = nil
        phase = .finished
        deadline = nil
        output.removeAll()
        backlog = []
        running?.cancel()
    }

    func drain() {
        isDraining = true
        if phase == .idle { finish() }
    }
}
