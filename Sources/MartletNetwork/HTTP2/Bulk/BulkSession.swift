import MartletHTTP

/// The client side of HTTP/2 for many requests.
///
/// The session writes frames itself, without a library. The header block of a batch is encoded once and copied for each
/// request of the batch. The session recognises plain successes without decoding their header blocks.
///
/// The requests of batches are drawn and encoded only when the connection asks for output, so that no encoded requests
/// wait in memory. The session behaves like nghttp2; tests compare the two.
final class BulkSession: ClientProtocol {
    /// The maximum size of a frame's payload, and of a header block, that the peer may send, in bytes.
    static let frameLimit = 16_384
    static let blockLimit = 64 * 1024
    /// The receive windows: the number of bytes that the peer may send on one stream, and on the whole connection.
    static let streamWindow = 65_535
    static let connectionWindow = 1 << 20
    /// The maximum number of bytes of control frames, such as answers to PING and SETTINGS, that may wait to be sent. A
    /// peer that causes more is treated as flooding.
    static let controlLimit = 64 * 1024
    /// The number of useless frames, as counted by `flood`, at which a request that times out ends the connection. The
    /// frames are counted since the last answer. The connection does not end if an answer has arrived since the request
    /// was sent.
    private static let rubbishLimit = 64

    let number = ConnectionNumber.next()
    private weak var connection: (any WireConnection)?
    private weak var owner: (any ClientProtocolOwner)?
    var now: ContinuousClock.Instant

    // The following properties are the state for sending.
    var control: [UInt8] = []
    var ring = BulkStreamRing(capacity: 128)
    var runs: [BulkRun?] = []
    var turns = BatchScheduler()
    var singles: [Int32: BulkSingle] = [:]
    /// The ids of the streams whose bodies wait for a flow-control window to open, in the order of their requests.
    var unwritten: [Int32] = []
    /// True if there are items that cannot be sent and whose failure has not been reported yet.
    var hasRefused = false
    var table = HPACKEncoderTable()
    var nextID: Int32 = 1
    var window = 65_535
    var peer = BulkPeerSettings()
    /// True after the peer has announced its stream limit, or has sent its first SETTINGS without a limit.
    var hasAnnouncedStreams = false

    // The following properties are the state for receiving.
    var assembler = HTTP2FrameAssembler(maxFrameSize: BulkSession.frameLimit)
    let inflater = HPACKInflater()
    /// True after the peer has acknowledged a header table of size 0. From then on, its header blocks are
    /// self-contained.
    var isTableEmpty = false
    var answers: [Int32: BulkAnswer] = [:]
    /// The beginning of a header block that is not complete until further CONTINUATION frames arrive.
    var block: [UInt8] = []
    var blockHead: HTTP2FrameHeader?
    var unreturned = 0

    // The following properties are the state of the connection.
    var limit = HTTP2StreamLimit(ceiling: 4096)
    private var inFlight: InFlightLimit
    /// The value of `answerCount` when answers were last passed to `inFlight`.
    private var answersCounted = 0
    private var answersInRoundTrip = 0
    private var liveness: HTTP2Liveness
    var flood: HTTP2FloodGuard
    /// The value of `flood.count` when the last answer arrived.
    private var floodCountAtAnswer = 0
    /// True if the connection was ended because the peer sent more than any answer needs, such as a flood of frames.
    private(set) var hasMisbehaved = false
    var status = HTTP2ConnectionHealth()
    private let clock: BulkClock
    private(set) var roundTrip: Duration?
    private(set) var answeredAt: ContinuousClock.Instant?
    private(set) var isOpen = true
    private(set) var isBroken = false
    private var isClosing = false
    private(set) var answerCount = 0
    var goAway: HTTP2GoAway?
    private var reportedCapacity = 0
    private var reportedOpen = true

    /// Creates a session on a connection.
    /// - Parameter owner: Called when the session has capacity for requests again, and when it permanently stops
    ///   accepting requests.
    init(
        connection: any WireConnection, owner: (any ClientProtocolOwner)?, inFlight: InFlightLimit = InFlightLimit()
    ) {
        self.connection = connection
        self.owner = owner
        self.inFlight = inFlight
        now = connection.now
        liveness = HTTP2Liveness(now: now)
        flood = HTTP2FloodGuard(now: now)
        clock = BulkClock(start: now)
        control = HTTP2FrameWriter.preface
        HTTP2FrameWriter.settings(
            [
                (BulkPeerSettings.headerTableSize, 0), (BulkPeerSettings.enablePush, 0),
                (BulkPeerSettings.initialWindowSize, UInt32(Self.streamWindow)),
            ], into: &control)
        HTTP2FrameWriter.windowUpdate(0, by: Self.connectionWindow - 65_535, into: &control)
        reportedCapacity = capacity
    }

    // MARK: WireProtocol

    var isFinished: Bool { isBroken || (isClosing && control.isEmpty) }

    /// False once the connection is being closed, so that nothing more is read from a peer that does not stop sending.
    var wantsInput: Bool { !isBroken && !isClosing }

    var deadline: ContinuousClock.Instant? {
        guard !isFinished else { return nil }
        var first = liveness.deadline(isBusy: ring.count > 0)
        if let pausedUntil = limit.pausedUntil { first = min(first, pausedUntil) }
        for run in runs { if let run { first = min(first, run.due) } }
        return first
    }

    func receive(_ bytes: UnsafeRawBufferPointer) {
        guard !isBroken, !isClosing else { return }
        catchUp()
        liveness.heard(at: now)
        let isSound = assembler.read(bytes, skim: takeSuccesses) { head, payload in
            take(head, payload)
            return !isBroken && !isClosing
        }
        if !isSound { giveUp(.frameSizeError, "the peer sent a frame that is too long") }
        if control.count > Self.controlLimit { giveUp(.enhanceYourCalm, "the peer floods the connection") }
        settle()
    }

    func write(into output: inout [UInt8], limit: Int) {
        guard !isBroken else { return }
        catchUp()
        output += control
        control.removeAll(keepingCapacity: true)
        if !isClosing {
            fill(&output, limit: limit)
            if output.count < limit { inFlight.filled(inFlight: ring.count, isBlocked: isBlocked, at: now) }
        }
        guard hasRefused else { return }
        hasRefused = false
        settle()
    }

    func expire(at now: ContinuousClock.Instant) {
        self.now = now
        limit.expire(at: now)
        switch liveness.expire(at: now, isBusy: ring.count > 0) {
        case .none: break
        case .ping: HTTP2FrameWriter.ping([0, 0, 0, 0, 0, 0, 0, 0], isAnswer: false, into: &control)
        case .giveUp: fall("the peer is silent and does not answer a PING")
        }
        for index in runs.indices {
            if let run = runs[index], now >= run.due { timeOut(run.run.answerTime, at: index) }
        }
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
    }

    func drain() {
        isOpen = false
        settle()
        connection?.needsWrite()
    }

    // MARK: ClientProtocol

    var capacity: Int { isOpen ? limit.capacity(open: ring.count, at: now) : 0 }

    var inFlightLimit: Int? { inFlight.current }

    func limitInFlight(toAtLeast least: Int) {
        inFlight.least = least
    }

    /// The number of requests that may currently be drawn from batches.
    var room: Int { min(capacity, inFlight.capacity(inFlight: ring.count)) }

    /// True if the in-flight limit is the only reason why batch requests are waiting.
    private var isBlocked: Bool {
        capacity > 0 && unwritten.isEmpty && inFlight.capacity(inFlight: ring.count) == 0
            && runs.contains { $0?.run.hasItems ?? false }
    }

    var endReason: String? { goAway?.description }

    var isIdle: Bool { ring.count == 0 }

    var hasAnswered: Bool { answerCount > 0 }

    var isHeldBack: Bool { !unwritten.isEmpty }

    func start(_ request: HTTPRequest, to origin: HTTPOrigin, receiver: any ResponseReceiver) -> UInt64 {
        catchUp()
        guard request.isWritable else {
            receiver.failed(.unwritable)
            return 0
        }
        guard let id = openStream(run: -1, item: 0) else {
            receiver.failed(
                TransportError(.disconnected, mayHaveBeenProcessed: false, "the connection takes no more requests"))
            return 0
        }
        singles[id] = BulkSingle(receiver: receiver, body: request.body)
        let start = HTTP2FrameWriter.reserveHeader(in: &control)
        table.writeSizeUpdate(into: &control)
        HPACKWriter.block(of: request, to: origin, into: &control)
        HTTP2FrameWriter.headers(
            at: start, on: id, isLast: request.body.isEmpty, maxFrameSize: peer.maxFrameSize, into: &control)
        if request.body.isEmpty { ring[id].isWritten = true } else { unwritten.append(id) }
        connection?.needsWrite()
        return UInt64(id)
    }

    func cancel(_ request: UInt64, isLate: Bool) {
        guard let id = Int32(exactly: request), singles.removeValue(forKey: id) != nil else { return }
        catchUp()
        let stream = close(id, reset: .cancel)
        if isLate, let stream { timedOut(stream) }
        settle()
        connection?.needsWrite()
    }

    func draw(from run: BatchRun) {
        catchUp()
        guard isOpen, !runs.contains(where: { $0?.run === run }) else { return }
        if let index = runs.firstIndex(where: { $0 == nil }) {
            runs[index] = BulkRun(run)
        } else {
            runs.append(BulkRun(run))
        }
        connection?.needsWrite()
    }

    // MARK: State

    private func catchUp() {
        if let connection { now = connection.now }
    }

    func becameBusy() {
        liveness.becameBusy(at: now)
    }

    /// The current time on the session's clock. Streams store it as their start time.
    var ticks: UInt32 { clock.ticks(at: now) }

    /// The number of responses received so far, truncated to the 32 bits that a stream stores.
    var answersBefore: UInt32 { UInt32(truncatingIfNeeded: answerCount) }

    private func age(of stream: BulkStream) -> Duration { clock.time(from: stream.startedAt, to: now) }

    /// Records that the peer answered `count` requests.
    /// - Parameter last: The stream of the request that was answered last. The time since its head was written becomes
    ///   `roundTrip`.
    func answered(_ count: Int = 1, last: BulkStream) {
        answerCount += count
        answeredAt = now
        floodCountAtAnswer = flood.count
        roundTrip = age(of: last)
        answersInRoundTrip = Int(answersBefore &- last.answersBefore)
        limit.answered(count)
        status.answered(count)
    }

    func stopOpening() {
        isOpen = false
    }

    /// Closes the connection with GOAWAY because the peer violated the protocol, or sent more than any answer needs,
    /// such as a flood of frames (`enhanceYourCalm`).
    func giveUp(_ code: HTTP2ErrorCode, _ detail: String) {
        guard !isBroken, !isClosing else { return }
        hasMisbehaved = code == .enhanceYourCalm
        HTTP2FrameWriter.goAway(code, into: &control)
        isClosing = true
        isOpen = false
        failAll(detail)
    }

    /// Marks the connection as broken and fails its requests.
    private func fall(_ detail: String) {
        guard !isBroken else { return }
        isBroken = true
        isOpen = false
        failAll(detail)
    }

    /// Fails all requests in flight. They are not sent again, because the peer may have processed them.
    private func failAll(_ detail: String) {
        let error =
            hasMisbehaved
            ? TransportError(.misbehaved, mayHaveBeenProcessed: true, detail)
            : TransportError(.disconnected, mayHaveBeenProcessed: true, goAway?.description ?? detail)
        for stream in ring.all { fail(stream.id, error) }
    }

    /// Fails the requests of a run that have timed out, and computes the time of the next check.
    private func timeOut(_ answerTime: Duration, at index: Int) {
        let error = TransportError(.timedOut, mayHaveBeenProcessed: true, "no answer came in time")
        var longest = Duration.zero
        for stream in ring.all where stream.run == Int32(index) {
            let age = age(of: stream)
            guard age + .microseconds(1) >= answerTime else {
                longest = max(longest, age)
                continue
            }
            fail(stream.id, error, reset: .cancel)
            timedOut(stream)
        }
        // The next check is delayed by at least a fraction of the answer time: the requests were written at many
        // different times, and checking the streams at each of these times would cost too much.
        runs[index]?.due = now + max(answerTime - longest, answerTime / 32)
    }

    /// Counts a request that got no answer in time.
    ///
    /// Ends the connection if three conditions hold: the request waited for at least `HTTP2ConnectionHealth.patience`,
    /// no answer has arrived since it was sent, and the peer has sent `rubbishLimit` useless frames since its last
    /// answer.
    private func timedOut(_ stream: BulkStream) {
        let age = age(of: stream)
        status.timedOut(after: age)
        guard age >= HTTP2ConnectionHealth.patience, stream.answersBefore == answersBefore,
            flood.count - floodCountAtAnswer >= Self.rubbishLimit
        else { return }
        giveUp(.enhanceYourCalm, "the peer sends frames without use and no answer")
    }

    private func measureAnswers() {
        let count = answerCount - answersCounted
        guard count > 0, let roundTrip else { return }
        answersCounted = answerCount
        inFlight.answered(
            count, InFlightLimit.Sample(latency: roundTrip, answers: answersInRoundTrip), inFlight: ring.count + count,
            at: now)
    }

    /// Finishes each call into the session: reports results, removes completed runs, and closes the connection if it is
    /// no longer needed.
    func settle() {
        measureAnswers()
        if status.isBad { stopOpening() }
        for index in runs.indices {
            guard let run = runs[index] else { continue }
            run.run.flush()
            if run.open == 0, !isOpen || !run.run.hasItems || now >= run.run.deadline { runs[index] = nil }
        }
        if !isOpen, ring.count == 0, !isBroken, !isClosing {
            isClosing = true
            HTTP2FrameWriter.goAway(.noError, into: &control)
        }
        let capacity = capacity
        let shouldReport = capacity > reportedCapacity || isOpen != reportedOpen
        reportedCapacity = capacity
        reportedOpen = isOpen
        if shouldReport { owner?.capacityChanged() }
    }
}
