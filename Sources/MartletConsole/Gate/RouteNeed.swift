import MartletCore
import MartletModel

/// The requirements that an operator must meet to use a route of the console.
struct RouteNeed: Hashable, Sendable {
    enum Level: Hashable, Sendable {
        /// No session is needed, for example for signing in.
        case nobody
        /// Any role is sufficient.
        case anyRole
        /// This role, or a higher one, is needed for the hub that the path names.
        case hub(Role)
        /// This role, or a higher one, is needed for all hubs.
        case server(Role)
    }

    var level: Level
    /// Whether the operator must have confirmed their identity in the last ten minutes.
    var isFresh = false

    static let nobody = RouteNeed(level: .nobody)
    static let anyRole = RouteNeed(level: .anyRole)
    static func hub(_ role: Role, isFresh: Bool = false) -> RouteNeed {
        RouteNeed(level: .hub(role), isFresh: isFresh)
    }
    static func server(_ role: Role, isFresh: Bool = false) -> RouteNeed {
        RouteNeed(level: .server(role), isFresh: isFresh)
    }
}

/// Decides whether an operator may use a route.
enum ConsoleGate {
    /// Admits a request to a route.
    /// - Parameters:
    ///   - hub: The hub that the path names; nil if it names none.
    ///   - session: The session that the request's cookie belongs to, with its operator; nil if there is none.
    /// - Returns: The role by which the request is admitted; nil if no role was needed.
    /// - Throws: `ConsoleRefusal` if the operator may not use the route.
    static func admit(
        _ need: RouteNeed, hub: String?, _ session: (session: OperatorSession, entry: Operator)?, at now: Timestamp
    ) throws(ConsoleRefusal) -> Role? {
        if need.level == .nobody { return nil }
        guard let (session, entry) = session, session.isValid(at: now), !entry.isDisabled else { throw .signedOut }
        let role = try role(need.level, hub: hub, of: entry.roles)
        if need.isFresh, !session.isFresh(at: now) { throw .notFresh }
        return role
    }

    private static func role(
        _ level: RouteNeed.Level, hub: String?, of grants: RoleGrants
    ) throws(ConsoleRefusal) -> Role? {
        switch level {
        case .nobody: return nil
        case .anyRole:
            guard let role = grants.grants.map(\.role).max() else { throw .forbidden(.viewer, hub: nil) }
            return role
        case .hub(let needed):
            guard let hub, let role = grants.role(for: hub), role >= needed else {
                throw .forbidden(needed, hub: hub)
            }
            return role
        case .server(let needed):
            guard let role = grants.overall, role >= needed else { throw .forbidden(needed, hub: nil) }
            return role
        }
    }
}

extension OperatorSession {
    /// Returns whether the operator has confirmed their identity recently. A time more than a minute in the future does
    /// not count, because then the clock was set back after the confirmation.
    func isFresh(at now: Timestamp) -> Bool { now < freshUntil && confirmedAt <= now + .seconds(60) }
}
