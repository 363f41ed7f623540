public import MartletModel

/// Decides who may send to whom. It is asked before anything is stored or sent, and before keys are given out.
public protocol SendPolicy: Sendable {
    func allows(_ caller: Caller, toSendTo audience: SendAudience) -> Bool
}

/// Whom something is to be sent to.
public enum SendAudience: Sendable {
    case users([UserName])
    /// The users of the devices that the expression matches.
    case tags(TagExpression)
}

/// The rule where none was chosen: users may notify users, admins may use tags.
public struct RolePolicy: SendPolicy {
    /// The role of those who may send to everybody.
    public static let admin = "admin"

    /// Whether who is no admin may send to users.
    public var usersMaySend: Bool

    public init(usersMaySend: Bool = true) {
        self.usersMaySend = usersMaySend
    }

    public func allows(_ caller: Caller, toSendTo audience: SendAudience) -> Bool {
        if caller.roles.contains(Self.admin) { return true }
        return switch audience {
        case .users: usersMaySend
        case .tags: false
        }
    }
}
