/// Who is notified.
public enum Audience: Hashable, Sendable, ExpressibleByStringLiteral, ExpressibleByArrayLiteral {
    /// The user who sends, on all devices.
    case me
    /// Users by name, at least one. Whether there are such users is not told.
    case users([String])
    /// The users whose devices a tag expression matches, such as `news && !muted`; the server asks for a role.
    case tags(String)

    /// One user.
    public static func user(_ name: String) -> Audience { .users([name]) }

    public init(stringLiteral name: String) { self = .users([name]) }
    public init(arrayLiteral names: String...) { self = .users(names) }
}

extension Audience {
    /// A form without a name would go to the sender.
    func check() throws(PushClientError) {
        guard self == .users([]) else { return }
        throw PushClientError(.refused(status: 400), "Name at least one user to send to.")
    }
}
