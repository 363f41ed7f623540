import Synchronization

/// Reads the body of a request piece by piece, while the peer sends it.
///
/// Flow control lets the peer send only as fast as the body is read, so a slow reader slows the peer down. If a handler
/// responds before the end of the body, the rest of the body is discarded. Over HTTP/1.1 the connection is then closed,
/// unless the rest is short.
public protocol HTTPBodyReader: Sendable {
    /// Waits for the next non-empty piece.
    /// - Returns: Nil at the end of the body.
    /// - Throws: `HTTPBodyError` if the body cannot be completed. Every further call throws again.
    func read() async throws(HTTPBodyError) -> [UInt8]?

    /// Waits for all bytes of the body that have not been read yet, and returns them.
    /// - Parameter limit: The maximum number of these bytes; if there are more, `tooLarge` is thrown.
    func collect(upTo limit: Int) async throws(HTTPBodyError) -> [UInt8]

    /// Sets the account that is charged for the memory of this body. Must be called before the first read; the default
    /// is `HTTPRoute.account`.
    func charge(to account: HTTPBodyAccount)
}

extension HTTPBodyReader {
    public func collect(upTo limit: Int) async throws(HTTPBodyError) -> [UInt8] {
        var bytes: [UInt8] = []
        while let piece = try await read() {
            bytes += piece
            guard bytes.count <= limit else { throw .tooLarge }
        }
        return bytes
    }

    public func charge(to account: HTTPBodyAccount) {}
}

/// The reason why the body of a request is incomplete.
public enum HTTPBodyError: Error, Hashable, Sendable {
    /// The body is longer than the handler allows.
    case tooLarge
    /// The framing of the body violates HTTP.
    case malformed
    /// The peer sends too slowly or has stopped sending.
    case stalled
    /// The peer has disconnected, or the reading task was cancelled.
    case disconnected
    /// No memory for the body became free within the server's waiting time; the same request may succeed later.
    case overloaded
}

extension HTTPRequest {
    /// The reader of the body in pieces.
    ///
    /// A collected body is read as one piece.
    public var reader: any HTTPBodyReader { stream ?? CollectedBody(body) }
}

/// Reads a body that is already in memory: as one piece, and after that nil.
private final class CollectedBody: HTTPBodyReader {
    private let rest: Mutex<[UInt8]>

    init(_ bytes: [UInt8]) {
        rest = Mutex(bytes)
    }

    func read() -> [UInt8]? {
        rest.withLock { rest in
            defer { rest = [] }
            return rest.isEmpty ? nil : rest
        }
    }
}
