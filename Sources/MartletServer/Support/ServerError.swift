/// The reason why a server does not start or a command fails. The description says what to do.
public struct ServerError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String
    /// Whether another process has the data directory.
    public let isOfTakenDirectory: Bool

    public init(_ description: String, isOfTakenDirectory: Bool = false) {
        self.description = description
        self.isOfTakenDirectory = isOfTakenDirectory
    }
}
