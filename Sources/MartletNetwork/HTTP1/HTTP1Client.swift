import MartletHTTP

/// The client side of HTTP/1.1 on one connection: one request at a time, with keep-alive.
final class HTTP1Client: ClientProtocol {
    private enum Phase {
        /// A request can be started. The next phase is `head`.
        case idle
        /// Waiting for or reading the head of the response. The next phase is `body`, or `idle` if there is no body.
        case head
        case body
        case trailers
        /// Nothing more is sent or received on the connection.
        case finished
    }

    private unowned let connection: any WireConnection
    private let limits: ClientLimits
    private weak var owner: (any ClientProtocolOwner)?

    private let number = ConnectionNumber.next()
    private var phase = Phase.idle
    private let parser = HTTP1Parser(.response)
    private var scanner: HeadScanner
    private var partialHead: [UInt8] = []
    private var output = OutputQueue()
    /// The body that is sent after `output`, and the number of its bytes that have been read.
    private var upload: (body: HTTPUpload, taken: Int64)?
    private var hasSent = false
    private var isConsuming = false
    private var isDraining = false
    private var closesAfterResponse = false

    private var lastRequest: UInt64 = 0
    private var receiver: (any ResponseReceiver)?
    private var isHead = false
    private var meter = AnswerMeter()
    private var sources: [Source] = []
    private var turns = BatchScheduler()
    /// The batch item in flight, while it has no receiver. Most items never get a receiver, because their answers are
    /// plain successes.
    private var item: (number: Int, source: Source)?
    /// The batch of the request in flight; nil for a single request.
    private var current: BatchRun?
    /// The batch whose plain successes are recorded but not reported yet. They are reported when the connection writes,
    /// together with the plain successes that other connections have recorded for the batch.
    private var unreported: BatchRun?
    private(set) var deadline: ContinuousClock.Instant?

    /// A batch from which requests are drawn.
    private final class Source {
        let run: BatchRun
        let encoder: HTTP1BatchEncoder
        let method: HTTPMethod
        private let plainSuccess: PlainSuccess
        private let field: PlainHTTP1Answer.Field?

        init(_ run: BatchRun) {
            let shared = run.batch.shared
            self.run = run
            encoder = HTTP1BatchEncoder(shared)
            method = shared.method
            plainSuccess = shared.plainSuccess
            if case .field(let name, let value) = shared.plainSuccess {
                field = PlainHTTP1Answer.Field(name: Array(name.utf8), value: Array(value.utf8))
            } else {
                field = nil
            }
        }

        /// Returns true if the bytes are one complete answer, and this answer is a plain success.
        func isPlainSuccess(_ bytes: UnsafeRawBufferPointer, of item: Int) -> Bool {
            guard plainSuccess != .none, method != .head, let answer = PlainHTTP1Answer(bytes, asking: field) else {
                return false
            }
            return field == nil
                ? plainSuccess.covers(.ok, answer.body, of: item, in: run.batch) : answer.hasField
        }
    }

    init(_ connection: any WireConnection, owner: any ClientProtocolOwner, limits: ClientLimits) {
        self.connection = connection
        self.owner = owner
        self.limits = limits
        scanner = HeadScanner(Self.scannerLimits(limits))
        deadline = connection.now + limits.idleTime
    }

    private static func scannerLimits(_ limits: ClientLimits) -> HeadScanner.Limits {
        HeadScanner.Limits(
            startLineBytes: limits.statusLineBytes, fieldBytes: limits.fieldBytes, fieldCount: limits.fieldCount)
    }

    var isFinished: Bool { phase == .finished }
    var wantsInput: Bool { phase != .finished }
    var isOpen: Bool { phase != .finished && !isDraining && !closesAfterResponse }
    var capacity: Int { phase == .idle && isOpen && !isConsuming ? 1 : 0 }

    var isIdle: Bool { receiver == nil && item == nil }
    /// Always true. An HTTP/1.1 connection carries one request at a time, so the first answer gives no new information
    /// about its capacity.
    var hasAnswered: Bool { true }
    private(set) var answerCount = 0
    private(set) var hasMisbehaved = false

    // MARK: Sending

    func start(_ request: HTTPRequest, to origin: HTTPOrigin, receiver: any ResponseReceiver) -> UInt64 {
        lastRequest += 1
        let authority = request.authority.isEmpty ? origin.authority : request.authority
        guard capacity > 0 else {
            receiver.failed(TransportError(.disconnected, mayHaveBeenProcessed: false, "the connection is busy"))
            return lastRequest
        }
        guard HTTP1RequestEncoder.isWritable(request, authority: authority) else {
            receiver.failed(Self.unwritable)
            return lastRequest
        }
        expectAnswer(receiver, isHead: request.method == .head)
        phase = .head
        hasSent = false
        deadline = nil
        HTTP1RequestEncoder.append(request, authority: authority, to: &output.bytes)
        upload = request.upload.flatMap { $0.length > 0 ? ($0, 0) : nil }
        connection.needsWrite()
        return lastRequest
    }

    private static let unwritable = TransportError(
        .invalidRequest, mayHaveBeenProcessed: false,
        "the address or a header field holds a character that is not allowed there")

    private func expectAnswer(_ receiver: any ResponseReceiver, isHead: Bool) {
        self.receiver = receiver
        self.isHead = isHead
        meter = AnswerMeter()
        scanner = HeadScanner(Self.scannerLimits(limits))
    }

    /// Gives the item in flight a receiver, if it has none.
    private func makeReceiver() {
        guard let (number, source) = item else { return }
        item = nil
        expectAnswer(
            BatchItemReceiver(source.run, item: number, on: self.number), isHead: source.method == .head)
    }

    func cancel(_ request: UInt64, isLate: Bool) {
        guard request == lastRequest, receiver != nil else { return }
        receiver = nil
        // The connection is closed, because the rest of the response to the cancelled request would be mistaken for the
        // response to the next request.
        finish()
    }

    func draw(from run: BatchRun) {
        if !sources.contains(where: { $0.run === run }) { sources.append(Source(run)) }
        drawNext()
    }

    private func drawNext() {
        guard capacity > 0 else { return }
        sources.removeAll { !$0.run.hasItems }
        while capacity > 0, let turn = turns.next(of: sources.count, { sources[$0].run.status }) {
            let source = sources[turn.index]
            guard let next = source.run.next() else { continue }
            lastRequest += 1
            guard source.encoder.append(next, of: source.run.batch, to: &output.bytes) else {
                source.run.answered(next, .failure(Self.unwritable), on: number)
                source.run.flush()
                continue
            }
            item = (next, source)
            current = source.run
            phase = .head
            hasSent = false
            deadline = connection.now + source.run.answerTime
            connection.needsWrite()
        }
    }

    // MARK: Reading

    func receive(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty, !takePlainSuccess(bytes) else { return }
        makeReceiver()
        var rest = bytes
        isConsuming = true
        while !rest.isEmpty, phase != .finished {
            guard phase != .idle else {
                // These bytes answer no request, so the connection is closed. They may be a 408 that the server sends
                // before it closes, or an attempt to forge the answer to the next request.
                finish()
                break
            }
            do throws(HTTP1Refusal) {
                rest = UnsafeRawBufferPointer(rebasing: rest[try take(rest)...])
            } catch {
                fail(TransportError(.disconnected, mayHaveBeenProcessed: true, "the answer is not HTTP/1.1"))
            }
        }
        isConsuming = false
        capacityMayHaveChanged()
    }

    /// Consumes a plain success that has arrived as a whole. Returns false for all other bytes, which `receive` then
    /// parses.
    private func takePlainSuccess(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let (number, source) = item, output.isEmpty, !isDraining, source.isPlainSuccess(bytes, of: number) else {
            return false
        }
        item = nil
        current = nil
        answerCount += 1
        phase = .idle
        deadline = connection.now + limits.idleTime
        source.run.succeeded(number)
        if unreported !== source.run { unreported?.flush() }
        unreported = source.run
        connection.needsWrite()
        goOn()
        return true
    }

    private func flushRun() {
        unreported?.flush()
        unreported = nil
        guard isIdle, let current else { return }
        self.current = nil
        current.flush()
    }

    private func take(_ bytes: UnsafeRawBufferPointer) throws(HTTP1Refusal) -> Int {
        switch phase {
        case .head: try takeHead(bytes)
        case .body: try takeBody(bytes)
        case .trailers: try takeTrailers(bytes)
        case .idle, .finished: bytes.count
        }
    }

    private func takeHead(_ bytes: UnsafeRawBufferPointer) throws(HTTP1Refusal) -> Int {
        switch scanner.scan(bytes) {
        case .refused(let refusal): throw HTTP1Refusal(refusal)
        case .more:
            partialHead.append(contentsOf: bytes)
            return bytes.count
        case .complete(let count):
            partialHead.append(contentsOf: bytes[..<count])
            let whole = partialHead
            partialHead.removeAll(keepingCapacity: true)
            try whole.withUnsafeBufferPointer { whole throws(HTTP1Refusal) in
                try parseHead(UnsafeRawBufferPointer(whole))
            }
            return count
        }
    }

    private func parseHead(_ bytes: UnsafeRawBufferPointer) throws(HTTP1Refusal) {
        parser.reset()
        parser.answersHead = isHead
        do throws(HTTP1Parser.Failure) {
            try parser.parseHead(bytes)
        } catch {
            throw HTTP1Refusal(error)
        }
        scanner = HeadScanner(Self.scannerLimits(limits))
        guard parser.status >= 200 else {
            guard parser.status != 101 else { throw .malformed("the protocol was switched unasked") }
            if let excess = meter.countInformational() { misbehaved(excess) }
            return
        }
        let fields = parser.fields.map { field in
            HTTPField(
                String(decoding: bytes[field.name], as: UTF8.self),
                String(decoding: bytes[field.value], as: UTF8.self).trimmingTrailingSpace())
        }
        if !parser.keepsAlive || parser.needsEnd { closesAfterResponse = true }
        phase = .body
        receiver?.receivedHead(HTTPResponse(HTTPStatus(parser.status), fields: HTTPFields(fields)))
        if parser.isComplete { complete() }
    }

    private func takeBody(_ bytes: UnsafeRawBufferPointer) throws(HTTP1Refusal) -> Int {
        let (taken, stop) = try parseBody(bytes)
        // If the receiver cancelled the request while it received the body, the connection is finished and the other
        // bytes are dropped.
        guard phase != .finished else { return bytes.count }
        switch stop {
        case .hungry: break
        case .complete: complete()
        case .trailers:
            phase = .trailers
            scanner = HeadScanner(Self.scannerLimits(limits), trailers: true)
        }
        return taken
    }

    private func takeTrailers(_ bytes: UnsafeRawBufferPointer) throws(HTTP1Refusal) -> Int {
        switch scanner.scan(bytes) {
        case .refused(let refusal): throw HTTP1Refusal(refusal)
        case .more:
            _ = try parseBody(bytes)
            return bytes.count
        case .complete(let count):
            _ = try parseBody(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
            complete()
            return count
        }
    }

    private func parseBody(
        _ bytes: UnsafeRawBufferPointer
    ) throws(HTTP1Refusal) -> (taken: Int, stop: HTTP1Parser.Stop) {
        var body: [UInt8] = []
        let before = parser.chunkCount
        let result: (taken: Int, stop: HTTP1Parser.Stop)
        do throws(HTTP1Parser.Failure) {
            result = try parser.parseBody(bytes, into: &body)
        } catch {
            throw HTTP1Refusal(error)
        }
        if let receiver, !body.isEmpty {
            if let excess = meter.count(
                body.count, pieces: parser.chunkCount - before, limit: receiver.bodyLimit)
            {
                misbehaved(excess)
            } else {
                body.withUnsafeBytes { receiver.receivedBody($0) }
            }
        }
        return result
    }

    private func misbehaved(_ detail: String) {
        hasMisbehaved = true
        fail(TransportError(.misbehaved, mayHaveBeenProcessed: true, detail))
    }

    private func complete() {
        let receiver = receiver
        self.receiver = nil
        answerCount += 1
        if closesAfterResponse || isDraining || !output.isEmpty || upload != nil {
            finish()
        } else {
            phase = .idle
            deadline = connection.now + limits.idleTime
        }
        receiver?.finished()
    }

    private func fail(_ error: TransportError) {
        makeReceiver()
        let receiver = receiver
        self.receiver = nil
        receiver?.failed(error)
        finish()
    }

    private func finish() {
        phase = .finished
        deadline = nil
        output.removeAll()
        upload = nil
        connection.needsWrite()
        if !isConsuming { capacityMayHaveChanged() }
    }

    private func capacityMayHaveChanged() {
        flushRun()
        goOn()
    }

    /// Draws the next item. The owner is told about the free connection only if no item is left or a single request
    /// waits. To tell the owner after each answer would cost more than the answer itself.
    private func goOn() {
        guard capacity > 0 || !isOpen else { return }
        if owner?.hasSingleRequests != true { drawNext() }
        guard capacity > 0 || !isOpen else { return }
        owner?.capacityChanged()
        drawNext()
    }

    // MARK: The connection

    func write(into output: inout [UInt8], limit: Int) {
        unreported?.flush()
        unreported = nil
        let before = output.count
        self.output.move(into: &output, limit: limit)
        // `hasSent` is set before the upload is read. If reading the upload fails, the peer may already have the
        // beginning of the request.
        if output.count > before { hasSent = true }
        if self.output.isEmpty { readUpload(into: &output, limit: limit) }
    }

    private func readUpload(into output: inout [UInt8], limit: Int) {
        guard let (body, taken) = upload else { return }
        let count = Int(min(Int64(limit - output.count), body.length - taken))
        guard count > 0 else { return }
        guard let bytes = try? body.read(taken, count), bytes.count == count else {
            return fail(TransportError(.invalidRequest, mayHaveBeenProcessed: hasSent, "the body cannot be read"))
        }
        output += bytes
        upload = taken + Int64(count) == body.length ? nil : (body, taken + Int64(count))
    }

    func expire(at now: ContinuousClock.Instant) {
        guard let deadline, deadline <= now else { return }
        if phase == .idle {
            finish()
        } else {
            fail(TransportError(.timedOut, mayHaveBeenProcessed: hasSent, "no answer came in time"))
        }
    }

    func inputEnded() {
        if phase == .body, parser.inputEnded() {
            complete()
            capacityMayHaveChanged()
        } else {
            lost("the peer closed the connection before it answered")
        }
    }

    func ended() {
        lost("the connection broke before the answer was complete")
    }

    private func lost(_ detail: String) {
        guard phase != .finished else { return }
        fail(TransportError(.disconnected, mayHaveBeenProcessed: hasSent, detail))
    }

    func drain() {
        isDraining = true
        if phase == .idle { finish() }
    }
}
