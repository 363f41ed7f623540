/// One side of a protocol on one connection: bytes in, bytes out, no socket and no TLS.
///
/// Owned by the loop of its connection and touched on that loop alone, so that it can be driven in memory by a test.
/// The connection reads `wantsInput`, `deadline` and `isFinished` again after every call, and after `needsWrite`.
protocol WireProtocol: AnyObject {
    /// Whether the connection is to be closed once everything written has been sent.
    var isFinished: Bool { get }

    /// Whether more bytes from the peer are wanted now; false leaves them in the socket, which slows the peer down.
    var wantsInput: Bool { get }

    /// When `expire(at:)` is to be called, or nil where nothing is being waited for.
    var deadline: ContinuousClock.Instant? { get }

    /// Since when a server has owed its peer no answer; nil while it owes one. What came of a request that is not whole
    /// does not count.
    var idleSince: ContinuousClock.Instant? { get }

    /// Takes bytes from the peer. Never throws: what breaks the protocol is answered in its own words and finishes it.
    func receive(_ bytes: UnsafeRawBufferPointer)

    /// Appends what is ready to be sent, until `output` holds about `limit` bytes; what is left stays for the next call.
    func write(into output: inout [UInt8], limit: Int)

    /// The deadline has passed.
    func expire(at now: ContinuousClock.Instant)

    /// The peer sends nothing more, and said so properly (a FIN, on TLS a close_notify before it). What is written
    /// still reaches it.
    func inputEnded()

    /// The connection is gone: nothing more comes or goes. Called exactly once, at last, also after `isFinished`.
    func ended()

    /// No new requests: a server tells the peer (GOAWAY, `Connection: close`), both finish once what runs is answered.
    func drain()
}

extension WireProtocol {
    var wantsInput: Bool { true }
    var deadline: ContinuousClock.Instant? { nil }
    var idleSince: ContinuousClock.Instant? { nil }
    func expire(at now: ContinuousClock.Instant) {}
}

/// What a protocol asks of the connection that carries it.
///
/// A protocol holds it unowned or weakly: the connection owns the protocol.
protocol WireConnection: AnyObject {
    /// The time of this turn of the loop.
    var now: ContinuousClock.Instant { get }

    /// There is something to write, or `wantsInput`, `deadline` or `isFinished` changed outside a call of the
    /// connection: `write(into:limit:)` is called soon, once for any number of calls.
    func needsWrite()

    /// Another protocol is spoken from here on. The one that was is told that it has ended.
    /// - Parameter unread: What the old one has taken and not read, for the new one.
    func become(_ wire: any WireProtocol, unread: [UInt8])
}
