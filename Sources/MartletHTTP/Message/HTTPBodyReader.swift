import Synchronization

/// The body of a request that its handler reads piece by piece, while the peer sends it.
///
/// The peer may send only as much as was read: a slow reader is sent to slowly. A handler that answers without
/// reading to the end gives the rest of the body up, and with it an HTTP/1.1 connection.
public protocol HTTPBodyReader: Sendable {
    /// Waits for the next piece, of any length above 0.
    /// - Returns: nil at the end of the body.
    /// - Throws: `HTTPBodyError` when there will be no end; again at every further call.
    func read() async throws(HTTPBodyError) -> [UInt8]?

    /// Waits for all of the body that has not been read.
    /// - Parameter limit: The most that is taken; `tooLarge` is thrown for more.
    func collect(upTo limit: Int) async throws(HTTPBodyError) -> [UInt8]

    /// Says whose share of the memory for bodies this one uses. Comes before the first read; without it, `HTTPRoute.account`
    /// says so.
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

/// Why the body of a request does not come to its end.
public enum HTTPBodyError: Error, Hashable, Sendable {
    /// It is longer than the handler allowed.
    case tooLarge
    /// Its framing breaks the rules of HTTP.
    case malformed
    /// The peer sends nothing, or next to nothing.
    case stalled
    /// The peer has gone, or the task that reads was cancelled.
    case disconnected
    /// The server had no memory left for it within the time that it waits: the same request may succeed later.
    case overloaded
}

extension HTTPRequest {
    /// The body in pieces, however it was received: streamed, or collected, which is one piece.
    public var reader: any HTTPBodyReader { stream ?? CollectedBody(body) }
}

/// A body that has come already.
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
