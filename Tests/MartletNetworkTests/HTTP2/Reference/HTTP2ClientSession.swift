import CMartletNGHTTP2
import MartletHTTP

@testable import MartletNetwork

/// The client side of HTTP/2 on one connection, on nghttp2 throughout: single requests, and the reference for batches.
final class HTTP2ClientSession: ClientProtocol {
    /// The most requests that are ever open on one connection.
    static let streamCeiling = 4096

    private let number = ConnectionNumber.next()
    private weak var connection: (any WireConnection)?
    private weak var owner: (any ClientProtocolOwner)?
    private(set) lazy var nghttp2 = NGHTTP2Session(.client, events: self)

    var streams: [Int32: HTTP2ClientStream] = [:]
    /// How many streams exist, those included that were given up and whose end nghttp2 has yet to write.
    var openStreams = 0
    var limit = HTTP2StreamLimit(ceiling: HTTP2ClientSession.streamCeiling)
    private var inFlight: InFlightLimit
    /// How many answers had come when the last ones were counted by it.
    private var answersCounted = 0
    /// The request that was answered last.
    var lastAnswered: HTTP2ClientStream?
    private var liveness: HTTP2Liveness
    var status = HTTP2ConnectionHealth()
    private(set) var now: ContinuousClock.Instant
    private var runs: [BatchRun] = []
    private var turns = BatchScheduler()

    private(set) var isOpen = true
    private var isBroken = false
    private var isClosing = false
    var goAway: HTTP2GoAway?
    var answerCount = 0
    /// What the owner was told last.
    private var reportedCapacity = 0
    private var reportedOpen = true

    /// - Parameter owner: Is told when there is room for requests, and when there never will be again.
    init(
        connection: any WireConnection, owner: (any ClientProtocolOwner)?, settings: HTTP2Settings = HTTP2Settings(),
        inFlight: InFlightLimit = InFlightLimit()
    ) {
        self.connection = connection
        self.owner = owner
        self.inFlight = inFlight
        now = connection.now
        liveness = HTTP2Liveness(now: now)
        var settings = settings
        settings.streamLimit = nil
        nghttp2.submit(settings: settings.entries + [(NGHTTP2_SETTINGS_ENABLE_PUSH, 0)])
        nghttp2.setConnectionWindow(Int32(clamping: settings.connectionWindow))
        reportedCapacity = capacity
    }

    // MARK: WireProtocol

    var isFinished: Bool { isBroken || ((isClosing || nghttp2.isDone) && !nghttp2.wantsWrite) }

    var deadline: ContinuousClock.Instant? {
        guard !isFinished else { return nil }
        var first = liveness.deadline(isBusy: !streams.isEmpty)
        if let pausedUntil = limit.pausedUntil { first = min(first, pausedUntil) }
        for stream in streams.values { if let due = stream.due { first = min(first, due) } }
        return first
    }

    func receive(_ bytes: UnsafeRawBufferPointer) {
        guard !isBroken else { return }
        catchUp()
        liveness.heard(at: now)
        if !nghttp2.receive(bytes) { fall("the peer broke HTTP/2") }
        settle()
    }

    func write(into output: inout [UInt8], limit: Int) {
        guard !isBroken else { return }
        catchUp()
        if !nghttp2.write(into: &output, limit: limit) {
            fall("the connection cannot go on")
            settle()
        }
    }

    func expire(at now: ContinuousClock.Instant) {
        self.now = now
        limit.expire(at: now)
        switch liveness.expire(at: now, isBusy: !streams.isEmpty) {
        case .none: break
        case .ping: nghttp2.submitPing()
        case .giveUp: fall("the peer is silent and does not answer a PING")
        }
        timeOut()
        settle()
        connection?.needsWrite()
    }

    func inputEnded() {
        fall("the peer closed the connection")
        settle()
    }

    func ended() {
        fall("the connection broke")
        settle()
        runs = []
    }

    func drain() {
        stopOpening()
        settle()
        connection?.needsWrite()
    }

    // MARK: ClientProtocol

    var capacity: Int { isOpen ? limit.capacity(open: openStreams, at: now) : 0 }

    var inFlightLimit: Int? { inFlight.current }

    func limitInFlight(toAtLeast least: Int) {
        inFlight.least = least
    }

    private var room: Int { min(capacity, inFlight.capacity(inFlight: openStreams)) }

    var isIdle: Bool { streams.isEmpty }

    var hasAnswered: Bool { answerCount > 0 }

    func start(_ request: HTTPRequest, to origin: HTTPOrigin, receiver: any ResponseReceiver) -> UInt64 {
        catchUp()
        defer { connection?.needsWrite() }
        return UInt64(submit(request, to: origin, receiver: receiver, run: nil))
    }

    func cancel(_ request: UInt64, isLate: Bool) {
        guard let id = Int32(exactly: request), let stream = streams.removeValue(forKey: id) else { return }
        nghttp2.reset(id, code: HTTP2ErrorCode.cancel.rawValue)
        catchUp()
        if isLate { status.timedOut(after: now - stream.startedAt) }
        settle()
        connection?.needsWrite()
    }

    func draw(from run: BatchRun) {
        catchUp()
        if !runs.contains(where: { $0 === run }) { runs.append(run) }
        settle()
        connection?.needsWrite()
    }

    // MARK: Requests

    private func submit(
        _ request: HTTPRequest, to origin: HTTPOrigin, receiver: any ResponseReceiver, run: BatchRun?
    ) -> Int32 {
        guard request.isWritable else {
            receiver.failed(.unwritable)
            return 0
        }
        if streams.isEmpty { liveness.becameBusy(at: now) }
        var list = NGHTTP2FieldList()
        list.append(":method", request.method.rawValue)
        list.append(":scheme", origin.scheme.rawValue)
        list.append(":authority", request.authority.isEmpty ? origin.authority : request.authority)
        list.append(":path", request.target, indexing: .never)
        for field in request.fields where !NGHTTP2FieldList.isConnectionSpecific(field.name) {
            list.append(
                field.name, field.value, indexing: field.name == "authorization" ? .never : field.indexing)
        }
        if !request.body.isEmpty, request.fields["content-length"] == nil {
            list.append("content-length", String(request.body.count))
        }
        guard let stream = nghttp2.submitRequest(list, hasBody: !request.body.isEmpty) else {
            // The stream ids are used up: after a thousand million requests a connection is replaced.
            stopOpening()
            receiver.failed(
                TransportError(.disconnected, mayHaveBeenProcessed: false, "the connection takes no more requests"))
            return 0
        }
        openStreams += 1
        streams[stream] = HTTP2ClientStream(
            receiver: receiver, run: run, body: request.body, startedAt: now, answersBefore: answerCount)
        return stream
    }

    private func fill() {
        defer {
            inFlight.filled(
                inFlight: openStreams, isBlocked: capacity > 0 && room == 0 && runs.contains { $0.hasItems }, at: now)
        }
        while room > 0, let turn = turns.next(of: runs.count, { runs[$0].status }) {
            let run = runs[turn.index]
            var left = turn.items
            while left > 0, room > 0, let item = run.next() {
                left -= 1
                _ = submit(
                    run.batch.request(item), to: run.batch.shared.origin,
                    receiver: BatchItemReceiver(run, item: item, on: number), run: run)
            }
        }
    }

    private func timeOut() {
        let error = TransportError(.timedOut, mayHaveBeenProcessed: true, "no answer came in time")
        for (id, stream) in streams where stream.due.map({ now >= $0 }) ?? false {
            streams[id] = nil
            status.timedOut(after: now - stream.startedAt)
            nghttp2.reset(id, code: HTTP2ErrorCode.cancel.rawValue)
            stream.receiver.failed(error)
        }
    }

    // MARK: Life

    func catchUp() {
        if let connection { now = connection.now }
    }

    func stopOpening() {
        isOpen = false
    }

    /// The connection is of no more use: what waits for an answer may have been processed.
    private func fall(_ detail: String) {
        guard !isBroken else { return }
        isBroken = true
        isOpen = false
        let failed = streams.values
        streams = [:]
        let error = TransportError(.disconnected, mayHaveBeenProcessed: true, goAway?.description ?? detail)
        for stream in failed { stream.receiver.failed(error) }
    }

    private func isDone(with run: BatchRun) -> Bool {
        !(isOpen && run.hasItems) && !streams.values.contains { $0.run === run }
    }

    private func measureAnswers() {
        let count = answerCount - answersCounted
        guard count > 0, let last = lastAnswered else { return }
        answersCounted = answerCount
        let sample = InFlightLimit.Sample(latency: now - last.startedAt, answers: answerCount - last.answersBefore)
        inFlight.answered(count, sample, inFlight: openStreams + count, at: now)
    }

    /// At the end of every call: sends what there is room for, tells what has come, and closes what has served.
    private func settle() {
        let given = runs
        measureAnswers()
        if status.isBad { stopOpening() }
        if !isBroken { fill() }
        for run in given { run.flush() }
        runs.removeAll(where: isDone)
        if !isOpen, streams.isEmpty, !isBroken, !isClosing {
            isClosing = true
            nghttp2.submitGoAway(last: 0, code: HTTP2ErrorCode.noError.rawValue)
        }
        let capacity = capacity
        let shouldReport = capacity > reportedCapacity || isOpen != reportedOpen
        reportedCapacity = capacity
        reportedOpen = isOpen
        if shouldReport { owner?.capacityChanged() }
    }
}
