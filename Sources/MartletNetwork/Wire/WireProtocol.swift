/// One side of a protocol on one connection: bytes in, bytes out, without socket and TLS.
///
/// Owned by the loop of its connection and used on that loop only. Tests can drive it in memory. The connection reads
/// `wantsInput`, `deadline` and `isFinished` again after every call, and after `needsWrite`.
protocol WireProtocol: AnyObject {
    /// True if the connection is to be closed once all output has been sent.
    var isFinished: Bool { get }

    /// True if the protocol wants more input now. False leaves the input in the socket, which slows the peer down.
    var wantsInput: Bool { get }

    /// The most bytes to read from the socket at once.
    var inputLimit: Int { get }

    /// When to call `expire(at:)`; nil without a deadline.
    var deadline: ContinuousClock.Instant? { get }

    /// Since when a server has owed its peer no response; nil while it owes one. An incomplete request does not count.
    var idleSince: ContinuousClock.Instant? { get }

    /// Processes bytes from the peer. Never throws: a protocol violation is answered as the protocol defines and
    /// finishes the session.
    func receive(_ bytes: UnsafeRawBufferPointer)

    /// Appends output until `output` has about `limit` bytes; the rest is kept for the next call.
    func write(into output: inout [UInt8], limit: Int)

    /// Handles a passed deadline.
    func expire(at now: ContinuousClock.Instant)

    /// The peer closed its side regularly (a FIN, on TLS a close_notify before it). Output still reaches the peer.
    func inputEnded()

    /// The connection is closed; nothing more is sent or received. The last call, made exactly once, also after
    /// `isFinished`.
    func ended()

    /// Takes no new requests. A server tells the peer (GOAWAY, `Connection: close`). Both sides finish once the open
    /// requests are answered.
    func drain()
}

extension WireProtocol {
    var wantsInput: Bool { true }
    var inputLimit: Int { .max }
    var deadline: ContinuousClock.Instant? { nil }
    var idleSince: ContinuousClock.Instant? { nil }
    func expire(at now: ContinuousClock.Instant) {}
}

/// The connection as its protocol sees it.
///
/// A protocol must hold the connection unowned or weakly, because the connection owns the protocol.
protocol WireConnection: AnyObject {
    /// The time at which the current turn of the loop began.
    var now: ContinuousClock.Instant { get }

    /// Must be called when there is output, or when `wantsInput`, `deadline` or `isFinished` changed outside a call
    /// from the connection. `write(into:limit:)` is then called soon, once for any number of calls.
    func needsWrite()

    /// Switches the connection to another protocol. The old one gets `ended`.
    /// - Parameter unread: Bytes that the old protocol received and did not process, for the new one.
    func become(_ wire: any WireProtocol, unread: [UInt8])
}
