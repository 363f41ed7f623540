import MartletHTTP

/// The source of a request's body: the server side of HTTP/1.1 or HTTP/2 on one connection.
protocol RequestBodySource: AnyObject {
    /// The time at which the current iteration of the loop began.
    var now: ContinuousClock.Instant { get }

    /// Called when the handler waits for more bytes and memory is reserved for them.
    ///
    /// On the first call, the peer may still wait for 100 Continue.
    func bodyIsWanted(_ body: RequestBody)

    /// Called when the handler took `count` bytes, so that the same number of bytes may arrive.
    func bodyWasTaken(_ count: Int, of body: RequestBody)

    /// Called when the body waits for memory. The source must call `RequestBody.expire` at the body's `deadline`.
    func bodyIsHeldUp(_ body: RequestBody)
}

/// The streamed body of one request, between a connection and the handler that reads the body. Owned by the loop.
///
/// The source limits the number of unread bytes: HTTP/1.1 reads only while the body is not full, and HTTP/2 opens the
/// window only by the number of consumed bytes. Until the handler first asks for the body, HTTP/1.1 reads no more of
/// it, and HTTP/2 does not open the window further.
final class RequestBody {
    typealias Piece = Result<[UInt8]?, HTTPBodyError>

    private enum End {
        case complete
        case failed(HTTPBodyError)
    }

    /// The way in which the handler reads the body.
    private enum Reading {
        /// The handler has not asked for the body yet, because the sender of the request may have to be identified
        /// first.
        case notYet
        case pieces
        /// The handler reads the whole body at once, up to a limit.
        case whole(limit: Int)
    }

    private static let room = 64 * 1024
    /// The step, in bytes, in which the reserved memory grows if the length of the body is unknown.
    private static let step = 64 * 1024
    /// The minimum rate at which a body that is collected in memory must arrive, in bytes per second.
    private static let leastRate = 32 * 1024

    private weak var source: (any RequestBodySource)?
    private let lease: BodyLease
    private let limit: Int
    private let length: Int?
    private var reading = Reading.notYet
    private var pace: InboundProgressDeadline
    private let stallTime: Duration
    /// The deadline for a body that is collected in memory.
    private var completeBy: ContinuousClock.Instant?
    private var received = 0
    /// The number of received bytes that have not been reported to the source as taken yet.
    private var kept = 0
    private var buffer: [UInt8] = []
    private var end: End?
    private var waiting: ((Piece) -> Void)?

    /// Creates the body of a request.
    /// - Parameters:
    ///   - limit: The maximum length of the body, in bytes.
    ///   - length: The announced length of the body, if any.
    ///   - stallTime: The maximum time that the handler waits for the minimum progress.
    ///   - lease: The memory reserved for the request.
    init(_ source: any RequestBodySource, limit: Int, length: Int?, stallTime: Duration, lease: BodyLease) {
        self.source = source
        self.limit = limit
        self.length = length
        self.lease = lease
        self.stallTime = stallTime
        pace = InboundProgressDeadline(stallTime: stallTime)
    }

    /// The number of body bytes that wait for the handler.
    var count: Int { buffer.count }

    /// True if no more bytes of the body may be read now.
    var isFull: Bool {
        if isOver || lease.isWaiting { return true }
        switch reading {
        case .notYet: return true
        case .pieces: return buffer.count >= Self.room
        // A body that has reached the limit is not full: its end may still follow, and any further byte makes it fail
        // as too long.
        case .whole(let limit): return buffer.count >= lease.room && buffer.count < limit
        }
    }

    /// True while the body waits for memory.
    var isHeldUp: Bool { !isOver && lease.isWaiting }

    /// True while the body holds bytes beyond the limits, because no memory was left for them.
    var isOverdrawn: Bool {
        if case .failed = end { return false }
        return lease.isOverdrawn
    }

    /// True once the body is complete or has failed.
    var isOver: Bool { end != nil }

    /// The time when `expire` must be called; nil if there is no deadline.
    var deadline: ContinuousClock.Instant? {
        guard !isOver else { return nil }
        guard let next = lease.retryAt ?? pace.deadline else { return nil }
        return completeBy.map { min($0, next) } ?? next
    }

    // MARK: The connection

    func receive(_ bytes: UnsafeRawBufferPointer) {
        guard end == nil else { return }
        received += bytes.count
        kept += bytes.count
        buffer.append(contentsOf: bytes)
        guard received <= limit else { return fail(.tooLarge) }
        guard lease.hold(buffer.count) || overdraw() else { return refuse() }
        if let source { pace.received(bytes.count, at: source.now) }
        if case .whole = reading { askForMore() }
        handOver()
    }

    func complete() {
        guard end == nil else { return }
        end = .complete
        lease.giveUp()
        handOver()
    }

    /// Fails the body; unread bytes are dropped.
    func fail(_ error: HTTPBodyError) {
        guard end == nil else { return }
        end = .failed(error)
        buffer = []
        lease.giveUp()
        giveBack()
        handOver()
    }

    /// Handles the passing of `deadline`: tries again to reserve memory for the body, or fails a body that arrives too
    /// slowly.
    func expire(at now: ContinuousClock.Instant) {
        if let completeBy, completeBy <= now { return fail(.stalled) }
        guard lease.isWaiting else { return fail(.stalled) }
        switch lease.retry(at: now) {
        case .granted: goOn()
        case .waiting: source?.bodyIsHeldUp(self)
        case .refused: refuse()
        }
    }

    /// Holds bytes beyond the memory limits until the handler has identified the sender.
    /// - Returns: True if the bytes are held. False if the handler has already asked for the body. In that case it has
    ///   identified the sender, or does not need to.
    private func overdraw() -> Bool {
        guard case .notYet = reading, let source else { return false }
        lease.overdraw(buffer.count, at: source.now)
        source.bodyIsHeldUp(self)
        return true
    }

    private func refuse() {
        lease.countRefusal()
        fail(.overloaded)
    }

    // MARK: The handler

    /// Charges the body to the account of its sender, once the sender is identified.
    func charge(to account: HTTPBodyAccount) {
        let wasOverdrawn = lease.isOverdrawn
        lease.charge(to: account, holding: buffer.count)
        // If memory could be reserved in the sender's account, the connection may be read again. The source is
        // therefore told to look at the body again.
        if wasOverdrawn { source?.bodyIsHeldUp(self) }
    }

    /// Reads the next piece of the body.
    /// - Parameter receive: Called with the next piece, or with nil at the end of the body. The call is made
    ///   immediately if the piece is available, otherwise when it arrives.
    func read(_ receive: @escaping (Piece) -> Void) {
        begin(.pieces, receive)
    }

    /// Collects the bytes of the body that the handler has not read yet.
    /// - Parameters:
    ///   - limit: The maximum number of bytes that the handler accepts.
    ///   - receive: Called with these bytes; with nil if there are none.
    func collect(upTo limit: Int, _ receive: @escaping (Piece) -> Void) {
        begin(.whole(limit: min(limit, self.limit)), receive)
    }

    private func begin(_ reading: Reading, _ receive: @escaping (Piece) -> Void) {
        guard waiting == nil else { return receive(.failure(.disconnected)) }
        self.reading = reading
        waiting = receive
        if case .whole(let limit) = reading, let source {
            completeBy = source.now + stallTime + .seconds((length ?? limit) / Self.leastRate)
        }
        handOver()
        if waiting != nil { askForMore() }
    }

    /// Reserves memory, then asks the peer for bytes.
    private func askForMore() {
        guard let source, end == nil else { return }
        if case .whole(let limit) = reading, max(length ?? 0, buffer.count) > limit { return fail(.tooLarge) }
        if lease.cover(needed, at: source.now) { return goOn() }
        pace.pause(at: source.now)
        source.bodyIsHeldUp(self)
    }

    /// The number of body bytes for which memory must be reserved before more is read.
    private var needed: Int {
        switch reading {
        case .notYet: 0
        case .pieces: max(buffer.count, min(length ?? Self.room, Self.room))
        case .whole(let limit): max(buffer.count, min(length ?? (buffer.count / Self.step + 2) * Self.step, limit))
        }
    }

    /// Asks the source for more bytes if the handler waits for them. Called once memory is reserved.
    private func goOn() {
        guard let source, waiting != nil else { return }
        if case .whole = reading {
            if let length { buffer.reserveCapacity(length - (received - buffer.count)) }
            giveBack()
        }
        pace.resume(at: source.now)
        source.bodyIsWanted(self)
    }

    private func giveBack() {
        let count = kept
        kept = 0
        if count > 0 { source?.bodyWasTaken(count, of: self) }
    }

    private func handOver() {
        guard let receive = waiting, let piece = takePiece() else { return }
        waiting = nil
        if let source { pace.pause(at: source.now) }
        receive(piece)
    }

    /// Takes the next piece for the handler.
    ///
    /// Returns nil while the handler must wait.
    private func takePiece() -> Piece? {
        var isWhole = false
        if case .whole = reading { isWhole = true }
        switch end {
        case .failed(let error): return .failure(error)
        case .complete where buffer.isEmpty: return .success(nil)
        case nil where isWhole || buffer.isEmpty: return nil
        default: break
        }
        let bytes = buffer
        buffer = []
        giveBack()
        return .success(bytes)
    }
}

/// A body reader for handlers on any thread.
struct LoopBodyReader: HTTPBodyReader {
    let body: LoopBound<RequestBody>

    func read() async throws(HTTPBodyError) -> [UInt8]? {
        try await next { $0.read($1) }
    }

    func collect(upTo limit: Int) async throws(HTTPBodyError) -> [UInt8] {
        try await next { $0.collect(upTo: limit, $1) } ?? []
    }

    func charge(to account: HTTPBodyAccount) {
        body.loop.perform { body.value.charge(to: account) }
    }

    private func next(
        _ ask: @escaping @Sendable (RequestBody, @escaping (RequestBody.Piece) -> Void) -> Void
    ) async throws(HTTPBodyError) -> [UInt8]? {
        let piece = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                body.loop.perform { ask(body.value) { continuation.resume(returning: $0) } }
            }
        } onCancel: {
            body.loop.perform { body.value.fail(.disconnected) }
        }
        return try piece.get()
    }
}
