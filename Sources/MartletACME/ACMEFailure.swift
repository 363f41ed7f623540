/// Why an attempt to get a certificate ended without one.
public struct ACMEFailure: Error, Hashable, Sendable {
    /// What went wrong, as the second half of a sentence: `the authority says: …`.
    public let reason: String
    /// How long the authority asks to be left alone.
    public let retryAfter: Duration?
    /// True if the order cannot be continued: the next attempt begins a new one.
    public let endsOrder: Bool

    public init(_ reason: String, retryAfter: Duration? = nil, endsOrder: Bool = false) {
        self.reason = reason
        self.retryAfter = retryAfter
        self.endsOrder = endsOrder
    }
}
