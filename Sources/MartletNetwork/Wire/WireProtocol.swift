/// One side of a protocol on one connection: bytes in, bytes out, no socket and no TLS.
///
/// Owned by the loop of its connection and touched on that loop alone, so that it can be driven in memory by a test.
protocol WireProtocol: AnyObject {
    /// Whether the connection is to be closed once everything written has been sent.
    var isFinished: Bool { get }

    /// Takes bytes from the peer. Never throws: what breaks the protocol is answered in its own words and finishes it.
    func receive(_ bytes: UnsafeRawBufferPointer)

    /// Appends what is ready to be sent, until `output` holds about `limit` bytes; what is left stays for the next call.
    func write(into output: inout [UInt8], limit: Int)

    /// The peer has closed or the connection broke: nothing more comes or goes.
    func ended()
}

/// What a protocol asks of the connection that carries it.
protocol WireConnection: AnyObject {
    /// There is something to write: `write(into:limit:)` is called soon, once for any number of calls.
    func needsWrite()
}
