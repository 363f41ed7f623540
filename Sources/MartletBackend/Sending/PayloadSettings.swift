/// The operator's settings for payloads that users send to each other.
public struct PayloadSettings: Hashable, Sendable {
    /// The maximum size of the file that a rich payload consists of, in bytes.
    public var sizeLimit: Int64
    /// The maximum total size of a user's unexpired payloads, in bytes.
    public var quota: Int64
    /// The sample that `POST /api/notifications` without a query sends to the caller's own devices, as in Microsoft's
    /// tutorials; nil if such a request is refused.
    public var sample: SampleNotification?

    public init(
        sizeLimit: Int64 = 10_000_000, quota: Int64 = 1_000_000_000, sample: SampleNotification? = nil
    ) {
        self.sizeLimit = sizeLimit
        self.quota = quota
        self.sample = sample
    }
}

/// A sample notification for trying out an app.
public enum SampleNotification: String, Hashable, Sendable, CaseIterable {
    /// An image.
    case rich
    /// A text that no push service sees.
    case secure
}
