/// A user's name and password.
public struct Credentials: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The name that the user logs in with.
    public let user: String
    /// In the clear; no description shows it.
    public let password: String

    /// Takes them as the user typed them.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// Shows no password.
    public var description: String { "credentials of \(user)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["user": user]) }
}
