public import MartletModel

/// A person who may sign in to the console. Operators are not users of the app backend.
public struct Operator: Sendable, CustomStringConvertible {
    /// The name as it was spelled when the operator was invited; names are compared without case.
    public var name: String
    /// The hash of the password in PHC string form; nil until the operator has chosen a password.
    public var passwordHash: String?
    public var roles: RoleGrants
    public var isDisabled: Bool
    public var createdAt: Timestamp
    /// The time when the operator last signed in; nil if never.
    public var signedInAt: Timestamp?
    /// The operator's settings, such as language and time zone: a JSON object.
    public var settings: String
    /// True if the operator needs a second factor to sign in.
    public var hasFactor: Bool
    /// The identity of the operator at an identity provider; nil for an operator who signs in with a password.
    public var identity: OperatorIdentity?

    public init(
        name: String, passwordHash: String? = nil, roles: RoleGrants, isDisabled: Bool = false, createdAt: Timestamp,
        signedInAt: Timestamp? = nil, settings: String = "{}", hasFactor: Bool = false,
        identity: OperatorIdentity? = nil
    ) {
        self.hasFactor = hasFactor
        self.identity = identity
        self.name = name
        self.passwordHash = passwordHash
        self.roles = roles
        self.isDisabled = isDisabled
        self.createdAt = createdAt
        self.signedInAt = signedInAt
        self.settings = settings
    }

    public var description: String { "operator \(name)" }

    /// Returns true if a text can be the name of an operator: 1 to 64 letters, digits, `.`, `_`, `-` and `@`. The first
    /// character must be a letter or a digit.
    public static func isName(_ text: String) -> Bool {
        guard (1...64).contains(text.utf8.count), let first = text.utf8.first, isLetterOrDigit(first) else {
            return false
        }
        return text.utf8.allSatisfy { isLetterOrDigit($0) || "._-@".utf8.contains($0) }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}

/// An operator as an entry of the list of operators.
public struct OperatorSummary: Sendable {
    public var entry: Operator
    /// The number of sessions that have not ended.
    public var sessions: Int
    /// The time when the operator's invitation ends; nil if there is no invitation that can be used.
    public var invitedUntil: Timestamp?

    public init(entry: Operator, sessions: Int, invitedUntil: Timestamp?) {
        self.entry = entry
        self.sessions = sessions
        self.invitedUntil = invitedUntil
    }
}

/// A link that can be used once. The holder of its token signs in as the operator.
public struct OperatorLink: Hashable, Sendable, CustomStringConvertible {
    public enum Kind: String, Hashable, Sendable {
        /// A link with which the operator chooses a password.
        case invitation
        /// A link that signs the operator in at once.
        case signIn = "sign-in"
    }

    /// The SHA-256 hash of the token; the token itself is not stored.
    public var tokenHash: [UInt8]
    public var kind: Kind
    public var operatorName: String
    public var expiresAt: Timestamp

    public init(tokenHash: [UInt8], kind: Kind, operatorName: String, expiresAt: Timestamp) {
        self.tokenHash = tokenHash
        self.kind = kind
        self.operatorName = operatorName
        self.expiresAt = expiresAt
    }

    public var description: String { "\(kind.rawValue) link of \(operatorName)" }
}

/// A session of an operator in the console. The holder of its token acts as the operator.
public struct OperatorSession: Hashable, Sendable, CustomStringConvertible {
    /// The SHA-256 hash of the token; the token itself is not stored.
    public var tokenHash: [UInt8]
    public var operatorName: String
    public var createdAt: Timestamp
    /// The time when the session was last used, with a precision of one minute.
    public var usedAt: Timestamp
    /// The time when the operator last confirmed their identity.
    public var confirmedAt: Timestamp
    /// The network address of the client at sign-in, as text.
    public var address: String
    /// The client's `User-Agent` at sign-in, shortened.
    public var agent: String

    public init(
        tokenHash: [UInt8], operatorName: String, createdAt: Timestamp, usedAt: Timestamp, confirmedAt: Timestamp,
        address: String, agent: String
    ) {
        self.tokenHash = tokenHash
        self.operatorName = operatorName
        self.createdAt = createdAt
        self.usedAt = usedAt
        self.confirmedAt = confirmedAt
        self.address = address
        self.agent = agent
    }

    /// The time after which an unused session ends.
    public static let idleLimit = Duration.seconds(12 * 3600)
    /// The maximum duration of a session.
    public static let lifetime = Duration.seconds(7 * 86_400)
    /// How long after a confirmation of identity the operator may see secrets and change operators.
    public static let freshness = Duration.seconds(600)
    /// The maximum number of sessions of one operator. A further session ends the session that was used longest ago.
    public static let countLimit = 20

    public var idleUntil: Timestamp { min(usedAt + Self.idleLimit, endsAt) }
    public var endsAt: Timestamp { createdAt + Self.lifetime }
    public var freshUntil: Timestamp { confirmedAt + Self.freshness }

    /// Returns true if the session can be used. A session that began more than a minute in the future is not valid: the
    /// clock was set back, so the age of the session is not known.
    public func isValid(at now: Timestamp) -> Bool { now < idleUntil && createdAt <= now + .seconds(60) }

    /// The id of the session in a list of sessions; it gives no access.
    public var id: String {
        let digits = Array("0123456789abcdef")
        return tokenHash.prefix(8).map { "\(digits[Int($0 >> 4)])\(digits[Int($0 & 15)])" }.joined()
    }

    public var description: String { "session \(id) of \(operatorName)" }
}
