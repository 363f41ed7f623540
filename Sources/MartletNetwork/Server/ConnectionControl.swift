public import MartletHTTP

/// Controls one connection of a server from any thread, beyond what a response can do, for servers that misbehave on
/// purpose.
public final class ConnectionControl: Sendable {
    private final class Target {
        weak var connection: Connection?

        init(_ connection: Connection) {
            self.connection = connection
        }
    }

    /// The connection; `HTTPRequest.connection` has the same id.
    public let connection: HTTPConnection
    /// How long the peer had been silent when the connection was accepted. A server process that was suspended finds
    /// connections of client processes that have ended since; the clients were alive when they sent the data.
    public let silence: Duration
    /// Controls the session of an HTTP/2 connection; nil for HTTP/1.1.
    public let http2: HTTP2ConnectionControl?
    private let target: LoopBound<Target>

    /// Must be called on the loop of the connection.
    init(_ connection: Connection, info: HTTPConnection, isHTTP2: Bool) {
        let target = LoopBound(Target(connection), loop: connection.loop)
        self.target = target
        self.connection = info
        silence = connection.silence
        http2 =
            isHTTP2
            ? HTTP2ConnectionControl(connection: info) {
                target.loop.perform { target.value.connection?.needsWrite() }
            } : nil
    }

    /// Closes the connection with a TCP reset: unsent and unread data is lost.
    public func reset() {
        target.loop.perform { [target] in target.value.connection?.reset() }
    }

    /// Sends bytes that bypass the protocol, after the output that is already written.
    public func write(_ bytes: [UInt8]) {
        target.loop.perform { [target] in target.value.connection?.inject(bytes) }
    }
}

/// Observes the connections of a server. Called on their loops.
public protocol ConnectionObserver: Sendable {
    /// A connection is established: its TLS handshake is done and its protocol known. No request has been read.
    func opened(_ control: ConnectionControl)

    /// A connection was closed. Also called for one that ended before `opened`.
    /// - Parameter connection: `HTTPConnection.id`.
    func closed(_ connection: UInt64)
}
