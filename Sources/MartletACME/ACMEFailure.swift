/// The reason why an attempt to get a certificate failed.
public struct ACMEFailure: Error, Hashable, Sendable {
    /// The reason, in words that continue a sentence of the log, such as `the authority says: …`.
    public let reason: String
    /// The time that the authority asks the client to wait before the next request.
    public let retryAfter: Duration?
    /// True if the order cannot be continued, so that the next attempt creates a new order.
    public let endsOrder: Bool

    public init(_ reason: String, retryAfter: Duration? = nil, endsOrder: Bool = false) {
        self.reason = reason
        self.retryAfter = retryAfter
        self.endsOrder = endsOrder
    }
}
