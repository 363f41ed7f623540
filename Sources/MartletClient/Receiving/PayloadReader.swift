/// Who may read what was sent, and whether that has happened: a read receipt.
public struct PayloadReader: Hashable, Sendable {
    /// The user's name.
    public let user: String
    /// When the user first read it, as the time since the beginning of 1970 in UTC; nil where that has not happened yet.
    public let readAt: Duration?

    /// - Parameters: As the properties.
    public init(user: String, readAt: Duration?) {
        self.user = user
        self.readAt = readAt
    }
}
