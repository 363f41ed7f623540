/// The recipients of a notification.
public enum Audience: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
    /// The sender, on all of the sender's devices.
    case me
    /// Users by name, at least one. The server does not report whether these users exist.
    case users([String])
    /// The users whose devices match a tag expression, such as `news && !muted`. The server accepts this only from
    /// users with the role `admin`.
    case tags(String)

    /// Returns the audience that consists of one user.
    public static func user(_ name: String) -> Audience { .users([name]) }

    public init(stringLiteral name: String) { self = .users([name]) }
    public init(arrayLiteral names: String...) { self = .users(names) }
}

extension Audience {
    /// Refuses an empty list of users, because the server sends a request without names to the sender's own devices.
    func check() throws(PushClientError) {
        guard self == .users([]) else { return }
        throw PushClientError(.refused(status: 400), "Name at least one user to send to.")
    }
}
