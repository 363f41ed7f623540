public import MartletModel

/// A policy that decides who may send to whom. It is asked before anything is stored or sent, and before keys are given
/// out.
public protocol SendPolicy: Sendable {
    func allows(_ caller: Caller, toSendTo audience: SendAudience) -> Bool
}

/// The recipients of a send.
public enum SendAudience: Sendable {
    case users([UserName])
    /// The users of the devices that the expression matches.
    case tags(TagExpression)
}

/// The default policy: users may notify users, and admins may use tags.
public struct RolePolicy: SendPolicy {
    /// The role of users who may send to tag expressions, and so to all users.
    public static let admin = "admin"

    /// Whether users without the admin role may send to users.
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
