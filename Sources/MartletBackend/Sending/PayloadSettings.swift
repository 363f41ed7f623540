/// What an operator may choose about what users send each other to be fetched.
public struct PayloadSettings: Hashable, Sendable {
    /// The largest file, in bytes.
    public var sizeLimit: Int64
    /// The most bytes that one user may have sent and that have not expired.
    public var quota: Int64
    /// What a bare `POST /api/notifications` sends to the caller's own devices, as the original guides have it; nil:
    /// nothing.
    public var sample: SampleNotification?

    public init(
        sizeLimit: Int64 = 10_000_000, quota: Int64 = 1_000_000_000, sample: SampleNotification? = nil
    ) {
        self.sizeLimit = sizeLimit
        self.quota = quota
        self.sample = sample
    }
}

/// A notification to try an app with.
public enum SampleNotification: String, Hashable, Sendable, CaseIterable {
    /// An image.
    case rich
    /// A text that no push service sees.
    case secure
}
