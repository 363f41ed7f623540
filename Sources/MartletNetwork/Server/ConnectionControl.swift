public import MartletHTTP

/// Steers one connection of a server from any thread: what no answer can say, for servers that misbehave on purpose.
public final class ConnectionControl: Sendable {
    private final class Target {
        weak var connection: Connection?

        init(_ connection: Connection) {
            self.connection = connection
        }
    }

    /// Which connection this is: `HTTPRequest.connection` has the same id.
    public let connection: HTTPConnection
    /// How long the peer had been silent when its connection was taken up. A server that stood still finds connections of
    /// processes that are dead by then, and what they sent, they sent alive.
    public let silence: Duration
    /// Steers the session of an HTTP/2 connection; nil for HTTP/1.1.
    public let http2: HTTP2ConnectionControl?
    private let target: LoopBound<Target>

    /// Called on the loop of the connection.
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

    /// Closes the connection with a TCP reset: what has not been sent, or not been read, is lost.
    public func reset() {
        target.loop.perform { [target] in target.value.connection?.reset() }
    }

    /// Sends bytes past the protocol that is spoken, after what it has written already.
    public func write(_ bytes: [UInt8]) {
        target.loop.perform { [target] in target.value.connection?.inject(bytes) }
    }
}

/// Is told of the connections of a server. Called on their loops.
public protocol ConnectionObserver: Sendable {
    /// A connection is made, its TLS handshake done and its protocol known; no request of it has been read.
    func opened(_ control: ConnectionControl)

    /// A connection is gone. Also called for one that ended before it was opened.
    /// - Parameter connection: `HTTPConnection.id`.
    func closed(_ connection: UInt64)
}
