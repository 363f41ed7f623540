import MartletHTTP

/// Whom a request's body asks for more: the server side of a protocol.
protocol RequestBodySource: AnyObject {
    /// The time of this turn of the loop.
    var now: ContinuousClock.Instant { get }

    /// The handler waits, and nothing is left for it. The first time, the peer may still wait to be told to go on.
    func bodyIsWanted(_ body: RequestBody)

    /// The handler took bytes, so that as many more may come.
    func bodyWasTaken(_ count: Int, of body: RequestBody)
}

/// The body of one request on its way from a connection to its handler, which reads it while it comes. Owned by the loop.
///
/// What has come and was not read is bounded by the source, which reads on only while this is not full (HTTP/1.1) or
/// opens the window only by what was taken (HTTP/2).
final class RequestBody {
    typealias Piece = Result<[UInt8]?, HTTPBodyError>

    private enum End {
        case complete
        case failed(HTTPBodyError)
    }

    private static let room = 64 * 1024

    private weak var source: (any RequestBodySource)?
    private let limit: Int
    private var pace: InboundPace
    private var received = 0
    private var buffer: [UInt8] = []
    private var end: End?
    private var waiting: ((Piece) -> Void)?

    /// - Parameters:
    ///   - limit: The longest body, in bytes.
    ///   - stallTime: How long the handler may wait for the least that a peer has to send.
    init(_ source: any RequestBodySource, limit: Int, stallTime: Duration) {
        self.source = source
        self.limit = limit
        pace = InboundPace(stallTime: stallTime)
    }

    /// How many bytes wait for the handler.
    var count: Int { buffer.count }

    /// Whether more bytes would only pile up.
    var isFull: Bool { buffer.count >= Self.room || isOver }

    /// Whether the end is known, be it good or bad.
    var isOver: Bool { end != nil }

    /// When the peer will have kept the handler waiting for too long; nil while the handler does not wait.
    var deadline: ContinuousClock.Instant? { pace.deadline }

    // MARK: the connection

    func receive(_ bytes: UnsafeRawBufferPointer) {
        guard end == nil else { return }
        received += bytes.count
        buffer.append(contentsOf: bytes)
        guard received <= limit else { return fail(.tooLarge) }
        if let source { pace.received(bytes.count, at: source.now) }
        handOver()
    }

    func complete() {
        guard end == nil else { return }
        end = .complete
        handOver()
    }

    /// There will be no end: what has come and was not read is dropped.
    func fail(_ error: HTTPBodyError) {
        guard end == nil else { return }
        end = .failed(error)
        let unread = buffer.count
        buffer = []
        if unread > 0 { source?.bodyWasTaken(unread, of: self) }
        handOver()
    }

    // MARK: the handler

    /// - Parameter receive: Is given the next piece, nil at the end of the body: now, or when it comes.
    func read(_ receive: @escaping (Piece) -> Void) {
        guard waiting == nil else { return receive(.failure(.disconnected)) }
        waiting = receive
        handOver()
        guard waiting != nil, let source else { return }
        pace.waits(from: source.now)
        source.bodyIsWanted(self)
    }

    private func handOver() {
        guard let receive = waiting, let piece = takePiece() else { return }
        waiting = nil
        if let source { pace.rests(from: source.now) }
        receive(piece)
    }

    /// nil while it must be waited for.
    private func takePiece() -> Piece? {
        guard buffer.isEmpty else {
            let bytes = buffer
            buffer = []
            source?.bodyWasTaken(bytes.count, of: self)
            return .success(bytes)
        }
        switch end {
        case .complete: return .success(nil)
        case .failed(let error): return .failure(error)
        case nil: return nil
        }
    }
}

/// Reads a body from wherever its handler runs.
struct LoopBodyReader: HTTPBodyReader {
    let body: LoopBound<RequestBody>

    func read() async throws(HTTPBodyError) -> [UInt8]? {
        let piece = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                body.loop.perform { body.value.read { continuation.resume(returning: $0) } }
            }
        } onCancel: {
            body.loop.perform { body.value.fail(.disconnected) }
        }
        return try piece.get()
    }
}
