public import MartletModel

/// Who may read what was sent, and whether that has happened: a read receipt.
public struct PayloadReader: Hashable, Sendable {
    /// The user's name.
    public let user: String
    /// When the user first read it; nil where that has not happened yet.
    public let readAt: Timestamp?

    /// - Parameters: As the properties.
    public init(user: String, readAt: Timestamp?) {
        self.user = user
        self.readAt = readAt
    }
}
