/// The author of a send: the person or the key that asked for it.
///
/// The names of users and operators are in lower case, because they are compared without case.
public enum SendAuthor: Hashable, Sendable, CustomStringConvertible {
    /// A request that was signed with an access key of this name.
    case key(String)
    /// A user of the app backend.
    case user(String)
    /// An operator of the web console.
    case `operator`(String)
    /// A request on the admin socket.
    case administrator

    /// The text form, such as `key:Orders`, by which authors are stored and searched for.
    public var description: String {
        switch self {
        case .key(let name): "key:\(name)"
        case .user(let name): "user:\(name.lowercased())"
        case .operator(let name): "operator:\(name.lowercased())"
        case .administrator: "administrator"
        }
    }

    /// Whether the author is a user of the app backend. A user has only a share of the hub's backlog.
    public var isUser: Bool { if case .user = self { true } else { false } }

    /// Parses the text form; nil if the text is not the text form of an author.
    public init?(_ text: String) {
        guard let colon = text.firstIndex(of: ":") else {
            guard text == Self.administrator.description else { return nil }
            self = .administrator
            return
        }
        let name = String(text[text.index(after: colon)...])
        guard !name.isEmpty else { return nil }
        switch text[..<colon] {
        case "key": self = .key(name)
        case "user": self = .user(name.lowercased())
        case "operator": self = .operator(name.lowercased())
        default: return nil
        }
    }
}

/// Where a send comes from: its author and, for a resend, the send whose dead letters it resends.
public struct SendOrigin: Hashable, Sendable {
    /// The author of the send; nil if the author was not recorded, or is a user who has been removed.
    public var author: SendAuthor?
    /// True if the send is a resend of the dead letters of another send.
    public var isResend: Bool
    /// The send whose dead letters this send resends; nil if the record of that send has been removed.
    public var original: NotificationID?

    public init(author: SendAuthor? = nil, isResend: Bool = false, original: NotificationID? = nil) {
        self.author = author
        self.isResend = isResend
        self.original = original
    }

    /// The origin as text, for the answers of the server: the author, or for a resend its original, such as
    /// `resend:33fb…`. Nil if the author is unknown.
    public var text: String? {
        guard isResend else { return author?.description }
        return original.map { "resend:\($0)" } ?? "resend"
    }
}
