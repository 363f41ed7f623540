/// A user's name and password.
public struct Credentials: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The name that the user logs in with.
    public let user: String
    /// The password in clear text. No description shows it.
    public let password: String

    /// Creates credentials from the text that the user typed.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// A description without the password.
    public var description: String { "credentials of \(user)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["user": user]) }
}
