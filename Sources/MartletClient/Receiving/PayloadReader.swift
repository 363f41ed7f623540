/// A read receipt: a user who may read a payload, and when the user first read it.
public struct PayloadReader: Hashable, Sendable {
    /// The name of a user who may read the payload.
    public let user: String
    /// The time at which the user first read the payload, counted from the beginning of 1970 in UTC; nil if the user
    /// has not read it yet.
    public let readAt: Duration?

    /// Creates a read receipt. `PushClient.readers(of:)` returns the ones that the server reports.
    public init(user: String, readAt: Duration?) {
        self.user = user
        self.readAt = readAt
    }
}
