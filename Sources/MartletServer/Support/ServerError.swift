/// The reason why a server does not start or a command fails. The description says what to do.
public struct ServerError: Error, Hashable, Sendable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) {
        self.description = description
    }
}
