import MartletHTTP

/// Whom a request's body asks for more: the server side of a protocol.
protocol RequestBodySource: AnyObject {
    /// The time of this turn of the loop.
    var now: ContinuousClock.Instant { get }

    /// The handler waits for more, and there is room for it. The first time, the peer may still wait to be told to go on.
    func bodyIsWanted(_ body: RequestBody)

    /// So many bytes were taken, so that as many more may come.
    func bodyWasTaken(_ count: Int, of body: RequestBody)

    /// The body waits for room: `RequestBody.expire` is to be called at its `deadline`.
    func bodyIsHeldUp(_ body: RequestBody)
}

/// The body of one request on its way from a connection to its handler, which reads it while it comes. Owned by the loop.
///
/// What has come and was not read is bounded by the source, which reads on only while this is not full (HTTP/1.1) or
/// opens the window only by what was taken (HTTP/2). Until the handler first asks, nothing is read that has not come by
/// itself.
final class RequestBody {
    typealias Piece = Result<[UInt8]?, HTTPBodyError>

    private enum End {
        case complete
        case failed(HTTPBodyError)
    }

    /// How the handler reads.
    private enum Reading {
        /// It has not asked yet: who sends the request may have to be found out first.
        case notYet
        case pieces
        /// All at once, up to a limit.
        case whole(limit: Int)
    }

    private static let room = 64 * 1024
    /// By how much room grows for a body whose length is not known.
    private static let step = 64 * 1024
    /// The slowest that a body may come that is kept in memory, in bytes a second.
    private static let leastRate = 32 * 1024

    private weak var source: (any RequestBodySource)?
    private let lease: BodyLease
    private let limit: Int
    private let length: Int?
    private var reading = Reading.notYet
    private var pace: InboundProgressDeadline
    private let stallTime: Duration
    /// When a body that is kept in memory must be complete.
    private var completeBy: ContinuousClock.Instant?
    private var received = 0
    /// Bytes that have come and were not given back to the source.
    private var kept = 0
    private var buffer: [UInt8] = []
    private var end: End?
    private var waiting: ((Piece) -> Void)?

    /// - Parameters:
    ///   - limit: The longest body, in bytes.
    ///   - length: How long it is, where that was announced.
    ///   - stallTime: How long the handler may wait for the least that a peer has to send.
    ///   - lease: The room that it has.
    init(_ source: any RequestBodySource, limit: Int, length: Int?, stallTime: Duration, lease: BodyLease) {
        self.source = source
        self.limit = limit
        self.length = length
        self.lease = lease
        self.stallTime = stallTime
        pace = InboundProgressDeadline(stallTime: stallTime)
    }

    /// How many bytes wait for the handler.
    var count: Int { buffer.count }

    /// Whether more bytes are not to be read now.
    var isFull: Bool {
        if isOver || lease.isWaiting { return true }
        switch reading {
        case .notYet: return true
        case .pieces: return buffer.count >= Self.room
        // What has come up to the limit is all that is kept: only its end may follow.
        case .whole(let limit): return buffer.count >= lease.room && buffer.count < limit
        }
    }

    /// Whether it waits for room.
    var isHeldUp: Bool { !isOver && lease.isWaiting }

    /// Whether the end is known, be it good or bad.
    var isOver: Bool { end != nil }

    /// When `expire` is to be called; nil while nothing is waited for.
    var deadline: ContinuousClock.Instant? {
        guard !isOver else { return nil }
        guard let next = lease.retryAt ?? pace.deadline else { return nil }
        return completeBy.map { min($0, next) } ?? next
    }

    // MARK: the connection

    func receive(_ bytes: UnsafeRawBufferPointer) {
        guard end == nil else { return }
        received += bytes.count
        kept += bytes.count
        buffer.append(contentsOf: bytes)
        guard received <= limit else { return fail(.tooLarge) }
        guard lease.hold(buffer.count) else { return refuse() }
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

    /// There will be no end: what has come and was not read is dropped.
    func fail(_ error: HTTPBodyError) {
        guard end == nil else { return }
        end = .failed(error)
        buffer = []
        lease.giveUp()
        giveBack()
        handOver()
    }

    /// The deadline has passed.
    func expire(at now: ContinuousClock.Instant) {
        if let completeBy, completeBy <= now { return fail(.stalled) }
        guard lease.isWaiting else { return fail(.stalled) }
        switch lease.retry(at: now) {
        case .granted: goOn()
        case .waiting: source?.bodyIsHeldUp(self)
        case .refused: refuse()
        }
    }

    private func refuse() {
        lease.countRefusal()
        fail(.overloaded)
    }

    // MARK: the handler

    /// Says who sends the request.
    func charge(to account: HTTPBodyAccount) {
        lease.charge(to: account, holding: buffer.count)
    }

    /// - Parameter receive: Is given the next piece, nil at the end of the body: now, or when it comes.
    func read(_ receive: @escaping (Piece) -> Void) {
        begin(.pieces, receive)
    }

    /// - Parameters:
    ///   - limit: The most bytes that are wanted.
    ///   - receive: Is given all that is left of the body, or nil where that is nothing.
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

    /// Asks for room, and then the peer for bytes.
    private func askForMore() {
        guard let source, end == nil else { return }
        if case .whole(let limit) = reading, max(length ?? 0, buffer.count) > limit { return fail(.tooLarge) }
        if lease.cover(needed, at: source.now) { return goOn() }
        pace.rests(from: source.now)
        source.bodyIsHeldUp(self)
    }

    /// How much of the body must have room before more of it is read.
    private var needed: Int {
        switch reading {
        case .notYet: 0
        case .pieces: max(buffer.count, min(length ?? Self.room, Self.room))
        case .whole(let limit): max(buffer.count, min(length ?? (buffer.count / Self.step + 2) * Self.step, limit))
        }
    }

    /// There is room.
    private func goOn() {
        guard let source, waiting != nil else { return }
        if case .whole = reading {
            if let length { buffer.reserveCapacity(length - (received - buffer.count)) }
            giveBack()
        }
        pace.waits(from: source.now)
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
        if let source { pace.rests(from: source.now) }
        receive(piece)
    }

    /// nil while it must be waited for.
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

/// Reads a body from wherever its handler runs.
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
