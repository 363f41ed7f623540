/// The secret text of a secure push.
public struct SecureNotification: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The id of the text at the server, as the push carried it.
    public let id: Int32
    /// The secret text.
    public let text: String
    /// Whether this user has read the text before, on any device.
    public let wasRead: Bool

    /// A description without the secret.
    public var description: String { "secure notification \(id)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["id": id, "wasRead": wasRead]) }
}
