import Synchronization

/// Reads the body of a request piece by piece, while the peer sends it.
///
/// The peer may send only as much as was read, so a slow reader slows the peer down. A handler that responds before the
/// end of the body discards the rest, and with it an HTTP/1.1 connection.
public protocol HTTPBodyReader: Sendable {
    /// Waits for the next piece, of any length above 0.
    /// - Returns: Nil at the end of the body.
    /// - Throws: `HTTPBodyError` if the body cannot be completed; also on every further call.
    func read() async throws(HTTPBodyError) -> [UInt8]?

    /// Waits for the rest of the body.
    /// - Parameter limit: The most bytes that are accepted; `tooLarge` is thrown for more.
    func collect(upTo limit: Int) async throws(HTTPBodyError) -> [UInt8]

    /// Sets the account whose share of the memory for bodies this body uses. Must be called before the first read; the
    /// default is `HTTPRoute.account`.
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

/// Why the body of a request is incomplete.
public enum HTTPBodyError: Error, Hashable, Sendable {
    /// The body is longer than the handler allowed.
    case tooLarge
    /// The framing of the body violates HTTP.
    case malformed
    /// The peer sends nothing, or too slowly.
    case stalled
    /// The peer is gone, or the task that reads was cancelled.
    case disconnected
    /// The server had no memory for the body within its waiting time; the same request may succeed later.
    case overloaded
}

extension HTTPRequest {
    /// Reads the body in pieces. A collected body is one piece.
    public var reader: any HTTPBodyReader { stream ?? CollectedBody(body) }
}

/// A reader of a collected body.
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
