/// The reason why a server does not start or a command fails.
///
/// Its description says what to do.
public struct ServerError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String
    /// Whether the reason is that another process uses the data directory.
    public let isOfTakenDirectory: Bool

    public init(_ description: String, isOfTakenDirectory: Bool = false) {
        self.description = description
        self.isOfTakenDirectory = isOfTakenDirectory
    }
}
