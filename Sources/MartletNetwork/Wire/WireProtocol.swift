/// One side of a protocol on one connection. It takes and returns bytes, and knows neither the socket nor TLS.
///
/// Owned by the loop of its connection and used on that loop only. Tests can drive it in memory. The connection reads
/// `wantsInput`, `deadline` and `isFinished` again after every call, and after `needsWrite`.
protocol WireProtocol: AnyObject {
    /// True if the connection is to be closed once all output has been sent.
    var isFinished: Bool { get }

    /// True if the protocol wants more input now. False leaves the input in the socket, which slows the peer down.
    var wantsInput: Bool { get }

    /// The maximum number of bytes to read from the socket at once.
    var inputLimit: Int { get }

    /// The time when `expire(at:)` must be called; nil if there is no deadline.
    var deadline: ContinuousClock.Instant? { get }

    /// The time when a server became idle: when it had sent the last response that it owed, or when the connection
    /// began; nil while it owes a response. A request that has not arrived completely does not count.
    var idleSince: ContinuousClock.Instant? { get }

    /// Processes bytes from the peer. Never throws: a protocol violation is answered as the protocol defines, and ends
    /// the session.
    func receive(_ bytes: UnsafeRawBufferPointer)

    /// Appends output until `output` has about `limit` bytes; the rest is kept for the next call.
    func write(into output: inout [UInt8], limit: Int)

    /// Handles the passing of a deadline.
    func expire(at now: ContinuousClock.Instant)

    /// Called when the peer closed its side regularly (a FIN, preceded by a close_notify on TLS). Output still reaches
    /// the peer.
    func inputEnded()

    /// Called when the connection is closed, or has switched to another protocol, so that this protocol sends and
    /// receives nothing more. This is the last call. It is made exactly once, even after `isFinished`.
    func ended()

    /// Stops accepting new requests. A server notifies the peer (GOAWAY, `Connection: close`). Both sides finish once
    /// the open requests are answered.
    func drain()
}

extension WireProtocol {
    var wantsInput: Bool { true }
    var inputLimit: Int { .max }
    var deadline: ContinuousClock.Instant? { nil }
    var idleSince: ContinuousClock.Instant? { nil }
    func expire(at now: ContinuousClock.Instant) {}
}

/// The connection on which a protocol runs, as the protocol sees it.
///
/// A protocol must hold the connection unowned or weakly, because the connection owns the protocol.
protocol WireConnection: AnyObject {
    /// The time at which the current iteration of the loop began.
    var now: ContinuousClock.Instant { get }

    /// Requests a call of `write(into:limit:)`. Must be called when there is output, or when `wantsInput`, `deadline`
    /// or `isFinished` changed outside a call from the connection. `write(into:limit:)` is then called soon, and only
    /// once, however often this function was called.
    func needsWrite()

    /// Switches the connection to another protocol. `ended` is called on the old protocol.
    /// - Parameter unread: Bytes that the old protocol received but did not process. They are passed to the new
    ///   protocol.
    func become(_ wire: any WireProtocol, unread: [UInt8])
}
