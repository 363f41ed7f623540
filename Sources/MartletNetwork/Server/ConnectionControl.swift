public import MartletHTTP

/// Controls one connection of a server from any thread. Offers operations that no HTTP response can express.
///
/// Meant for servers that misbehave on purpose, such as the simulators of push services.
public final class ConnectionControl: Sendable {
    private final class Target {
        weak var connection: Connection?

        init(_ connection: Connection) {
            self.connection = connection
        }
    }

    /// The connection that is controlled.
    ///
    /// Its id equals that of `HTTPRequest.connection`.
    public let connection: HTTPConnection
    /// The time for which the peer had been silent when the connection was established.
    ///
    /// A server process that was suspended may accept connections of clients that have ended in the meantime. The
    /// silence tells how long ago such a client last sent data, and was therefore still alive.
    public let silence: Duration
    /// The control of the session of an HTTP/2 connection; nil for HTTP/1.1.
    public let http2: HTTP2ConnectionControl?
    private let target: LoopBound<Target>

    /// Creates a control. Must be called on the loop of the connection.
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

    /// Calls back in the next iteration of the event loop. By then the loop has written the output of the current
    /// iteration to the socket, or as much of it as the socket accepts. A reset before the call loses that output. Must be
    /// called from a job of the connection's loop.
    public func afterOutput(_ call: @escaping @Sendable () -> Void) {
        target.loop.enqueue(call)
    }

    /// Sends bytes that bypass the protocol. They follow all output written so far.
    public func write(_ bytes: [UInt8]) {
        target.loop.perform { [target] in target.value.connection?.inject(bytes) }
    }
}

/// Observes the connections of a server. Called on their loops.
public protocol ConnectionObserver: Sendable {
    /// Called when a connection is established: its TLS handshake is done and its protocol is known, but no request has
    /// been read.
    func opened(_ control: ConnectionControl)

    /// Called when a connection was closed, even if `opened` was never called for it.
    /// - Parameter connection: The `HTTPConnection.id` of the connection.
    func closed(_ connection: UInt64)
}
