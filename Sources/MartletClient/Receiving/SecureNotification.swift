/// A secret text that a secure push announced.
public struct SecureNotification: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// As in the push.
    public let id: Int32
    /// The secret.
    public let text: String
    /// Whether this user had read it before, on any device.
    public let wasRead: Bool

    /// Shows no secret.
    public var description: String { "secure notification \(id)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["id": id, "wasRead": wasRead]) }
}
