import CMartletNGHTTP2
import MartletHTTP

/// The server side of HTTP/2 on one connection: assembles requests, passes them to the handler and detects abusive
/// peers.
final class HTTP2ServerSession: WireProtocol {
    /// The maximum number of frames that may wait for a peer that does not read.
    private static let queueLimit = 1_000

    let limits: ServerLimits
    let dispatch: any RequestDispatch
    private let info: HTTPConnection
    private let control: HTTP2ConnectionControl?
    let bodies: ConnectionBodies
    private weak var connection: (any WireConnection)?

    private(set) lazy var nghttp2 = NGHTTP2Session(.server, events: self)
    var streams: [Int32: HTTP2ServerStream] = [:]
    var tap: HTTP2FrameTap
    private var flood: HTTP2FloodGuard

    private(set) var now: ContinuousClock.Instant
    private var idleDeadline: ContinuousClock.Instant
    /// The time when a request last ended, or when the connection began.
    private var quietSince: ContinuousClock.Instant
    /// The memory reserved for an incomplete header block that is long.
    private var blockLease: BodyLease?
    /// The time when bytes of any response were last sent.
    private var lastMoved: ContinuousClock.Instant
    /// The time of the next check of the streams' deadlines.
    ///
    /// One scan per second costs less than a timer per stream.
    private var sweep: ContinuousClock.Instant?
    /// The time when waiting bodies try again to get memory; nil if no body is waiting.
    private var bodyRetry: ContinuousClock.Instant?

    /// True if a stream may hold bytes of a body beyond the limits, because no memory was left for them.
    private var mayBeOverdrawn = false
    private var isBroken = false
    private var isClosing = false
    private var isSilent = false
    private var withholdsWindows = false
    /// The number of bytes of closed streams for which the connection's window has not been opened yet, because windows
    /// are withheld.
    private var withheld = 0
    private var outlivesGoAway = false
    var drainPhase = DrainPhase.none

    enum DrainPhase {
        case none
        /// The peer was told to open no new streams, and a PING was sent. When the peer answers the PING, it has
        /// received the notice.
        case noticed
        case final
    }

    /// Creates a session on a connection.
    /// - Parameters:
    ///   - info: The description of the connection for requests.
    ///   - control: Controls this session from other threads.
    init(
        connection: any WireConnection, dispatch: any RequestDispatch, info: HTTPConnection, limits: ServerLimits,
        settings: HTTP2Settings = HTTP2Settings(), control: HTTP2ConnectionControl? = nil,
        bodies: ConnectionBodies? = nil
    ) {
        self.bodies = bodies ?? ConnectionBodies(alone: limits, connection: info.id)
        self.connection = connection
        self.dispatch = dispatch
        self.info = info
        self.limits = limits
        self.control = control
        now = connection.now
        idleDeadline = now + limits.headTime
        quietSince = now
        lastMoved = now
        flood = HTTP2FloodGuard(now: now)
        tap = HTTP2FrameTap(
            prefaceLength: Int(NGHTTP2_CLIENT_MAGIC_LEN), blockLimit: 2 * limits.fieldBytes + limits.targetBytes)
        var settings = settings
        settings.streamLimit = settings.streamLimit ?? UInt32(limits.concurrentStreams)
        settings.headerListSize = settings.headerListSize ?? UInt32(limits.fieldBytes)
        nghttp2.submit(settings: settings.entries)
        nghttp2.setConnectionWindow(Int32(clamping: settings.connectionWindow))
    }

    // MARK: WireProtocol

    var isFinished: Bool {
        isBroken || ((isClosing || (nghttp2.isDone && !outlivesGoAway)) && !nghttp2.wantsWrite && !isSilent)
    }

    /// False while too many frames wait to be sent, so that nothing more is read from a peer that causes output without
    /// reading it.
    ///
    /// Also false while bytes are held beyond the memory limits, until the sender of the bytes is identified.
    var wantsInput: Bool { nghttp2.queuedFrames < Self.queueLimit && !isOverdrawn }

    var inputLimit: Int { bodies.inputLimit }

    private var isOverdrawn: Bool {
        // The streams are searched only if a body has waited, which is rare.
        guard bodyRetry != nil || mayBeOverdrawn else { return false }
        return streams.values.contains { $0.input?.isOverdrawn == true && !$0.isAnswered }
    }

    var idleSince: ContinuousClock.Instant? {
        let owes = streams.values.contains { $0.phase == .answering || $0.input != nil || $0.output.count > 0 }
        return owes || nghttp2.wantsWrite ? nil : quietSince
    }

    var deadline: ContinuousClock.Instant? {
        if isSilent || isClosing { return nil }
        guard !streams.isEmpty else { return idleDeadline }
        guard let sweep, let bodyRetry else { return sweep }
        return min(sweep, bodyRetry)
    }

    func receive(_ bytes: UnsafeRawBufferPointer) {
        catchUp()
        guard !isSilent, !isBroken, !isClosing else { return }
        do throws(HTTP2FrameTap.Fault) {
            try tap.read(bytes) { flood.allows($0, at: now) }
        } catch {
            return giveUp(.enhanceYourCalm)
        }
        if !nghttp2.receive(bytes) { isBroken = true }
        tap.forgetBlocks()
        guard holdsBlock() else { return giveUp(.enhanceYourCalm) }
        idled()
    }

    /// Reserves memory for an incomplete header block and its decoded fields. Returns false if no memory is left.
    private func holdsBlock() -> Bool {
        guard tap.heldBytes > limits.freeHeadBytes else {
            blockLease = nil
            return true
        }
        let lease = blockLease ?? bodies.lease(.address, headBytes: limits.fieldBytes)
        blockLease = lease
        if lease.hold(tap.heldBytes) { return true }
        lease.countRefusal()
        return false
    }

    func write(into output: inout [UInt8], limit: Int) {
        catchUp()
        guard !isSilent, !isBroken else { return }
        if !nghttp2.write(into: &output, limit: limit) { isBroken = true }
    }

    func expire(at now: ContinuousClock.Instant) {
        self.now = now
        guard !streams.isEmpty else {
            if now >= idleDeadline { close() }
            return
        }
        retryBodies()
        guard let sweep, now >= sweep else { return }
        for stream in streams.values {
            if let deadline = stream.deadline, now >= deadline {
                expire(stream)
                connection?.needsWrite()
            }
            if let deadline = stream.input?.deadline, now >= deadline { stream.input?.expire(at: now) }
        }
        self.sweep = now + sweepInterval
    }

    /// Sets the time at which the waiting bodies try again to get memory.
    func bodyIsHeldUp() {
        bodyRetry = bodyRetry ?? now + limits.bodies.retryInterval
        mayBeOverdrawn = true
        connection?.needsWrite()
    }

    private func retryBodies() {
        guard let retry = bodyRetry, now >= retry else { return }
        bodyRetry = nil
        for stream in streams.values {
            if let input = stream.input {
                if input.isHeldUp { input.expire(at: now) }
            } else if stream.lease?.isWaiting == true {
                retryBody(of: stream)
            }
        }
        connection?.needsWrite()
    }

    func inputEnded() {
        // A client that closed its side still reads the responses to its requests. An incomplete request will never be
        // completed, so it is reset and its memory released.
        for stream in streams.values where stream.phase == .head || stream.phase == .body { reset(stream, .cancel) }
        // No shutdown notice is needed: no new request can arrive.
        guard !streams.isEmpty else { return close() }
        outlivesGoAway = false
        drainPhase = .final
    }

    func ended() {
        isBroken = true
        blockLease = nil
        for stream in streams.values { forget(stream) }
        streams = [:]
    }

    func drain() {
        guard drainPhase == .none else { return }
        drainPhase = .noticed
        outlivesGoAway = false
        nghttp2.submitShutdownNotice()
        nghttp2.submitPing()
        connection?.needsWrite()
    }

    // MARK: State

    /// Updates the current time and executes the commands of `control`.
    func catchUp() {
        if let connection { now = connection.now }
        guard let control else { return }
        for command in control.takeCommands() { obey(command) }
    }

    private func obey(_ command: HTTP2ConnectionControl.Command) {
        switch command {
        case .announce(let streamLimit):
            nghttp2.submit(settings: [(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, streamLimit)])
        case .announceWindow(let bytes):
            nghttp2.submit(settings: [(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, bytes)])
        case .goAway(let last, let code, let debugData, let finishes):
            outlivesGoAway = !finishes
            nghttp2.submitGoAway(
                last: last ?? nghttp2.lastProcessedStream, code: code.rawValue, debugData: debugData)
        case .reset(let id, let code):
            if let stream = streams[id] { reset(stream, code) }
        case .withholdWindows(let isWithheld):
            withholdsWindows = isWithheld
            if !isWithheld { releaseWindows() }
        case .goSilent:
            isSilent = true
        case .close:
            isClosing = true
        }
    }

    /// Closes the connection with GOAWAY and NO_ERROR.
    private func close() {
        nghttp2.submitGoAway(last: nghttp2.lastProcessedStream, code: HTTP2ErrorCode.noError.rawValue)
        isClosing = true
        connection?.needsWrite()
    }

    /// Closes the connection because the peer is abusive.
    func giveUp(_ code: HTTP2ErrorCode) {
        nghttp2.terminate(code: code.rawValue)
        isClosing = true
        for stream in streams.values { forget(stream) }
        streams = [:]
    }

    /// Finishes a drain when no request is open any more.
    private func idled() {
        if streams.isEmpty && drainPhase == .final { isClosing = true }
    }

    func began(_ stream: HTTP2ServerStream) {
        streams[stream.id] = stream
        if sweep == nil { sweep = now + sweepInterval }
    }

    /// Removes a closed stream. Cancels its handler unless the response was complete.
    func forget(_ stream: HTTP2ServerStream) {
        stream.phase = .gone
        if !stream.isAnswered { stream.running?.cancel() }
        stream.running = nil
        stream.input?.fail(.disconnected)
        stream.lease = nil
        stream.answer = nil
        stream.output = HTTP2BodyBuffer()
        quietSince = now
        streams[stream.id] = nil
        guard streams.isEmpty else { return }
        sweep = nil
        bodyRetry = nil
        mayBeOverdrawn = false
        idleDeadline = now + limits.idleTime
        idled()
    }

    private var sweepInterval: Duration {
        min(.seconds(1), min(limits.stallTime, min(limits.headTime, limits.bodyTime)))
    }

    private func expire(_ stream: HTTP2ServerStream) {
        switch stream.phase {
        case .head: giveUp(.enhanceYourCalm)
        case .body where stream.input == nil: refuse(stream, with: .requestTimeout)
        case .body, .answering, .refused:
            // The whole connection is closed if the peer has read nothing for the stall time. If only streams were
            // reset, such a peer would keep sending requests.
            if stream.output.count > 0, lastMoved + limits.stallTime <= now { return giveUp(.enhanceYourCalm) }
            reset(stream, .cancel)
        case .gone: break
        }
    }

    func reset(_ stream: HTTP2ServerStream, _ code: HTTP2ErrorCode) {
        nghttp2.reset(stream.id, code: code.rawValue)
        forget(stream)
    }

    func needsWrite() {
        connection?.needsWrite()
    }

    /// Records that bytes of a response were sent to the peer now.
    func moved() {
        lastMoved = now
    }

    /// The connection, as the handler sees it in each request.
    var requestConnection: HTTPConnection { info }

    // MARK: Windows and floods

    /// Opens the windows of the stream and the connection by the number of consumed bytes of a body.
    func consume(_ count: Int, of stream: HTTP2ServerStream) {
        if withholdsWindows {
            stream.withheld += count
        } else {
            nghttp2.consume(count, of: stream.id)
        }
    }

    /// Handles bytes that must wait for memory. The stream's window stays closed, so that no more bytes of this body
    /// arrive; the connection's window is opened, so that other streams are not blocked.
    func putOff(_ count: Int, of stream: HTTP2ServerStream) {
        if withholdsWindows {
            stream.withheld += count
        } else {
            nghttp2.consumeConnection(count)
            stream.early += count
        }
    }

    /// Opens the stream's window by the number of bytes that had to wait for memory, because their memory is reserved
    /// now.
    func takeUp(_ stream: HTTP2ServerStream) {
        if stream.early > 0 { nghttp2.consumeStream(stream.early, of: stream.id) }
        stream.early = 0
    }

    /// Opens only the connection's window, because the stream is closed or its body is not needed.
    func consumeConnection(_ count: Int) {
        if withholdsWindows {
            withheld += count
        } else {
            nghttp2.consumeConnection(count)
        }
    }

    private func releaseWindows() {
        nghttp2.consumeConnection(withheld)
        withheld = 0
        for stream in streams.values where stream.withheld > 0 {
            nghttp2.consume(stream.withheld, of: stream.id)
            stream.withheld = 0
        }
    }

    func countReset() {
        if !flood.allowsReset(at: now) { giveUp(.enhanceYourCalm) }
    }

    func countData() {
        flood.sentData()
    }
}
