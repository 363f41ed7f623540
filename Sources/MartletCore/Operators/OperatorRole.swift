/// The rights of an operator of the console. Each role includes the rights of the roles before it in this list.
public enum Role: String, Hashable, Comparable, CaseIterable, Sendable {
    /// May see sends, devices and the state of the server.
    case viewer
    /// May also send, and pause, resume and cancel sends.
    case sender
    /// May also change hubs, credentials, users and operators.
    case admin

    public static func < (left: Role, right: Role) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .viewer: 0
        case .sender: 1
        case .admin: 2
        }
    }
}

/// A role for all hubs, such as `admin`, or for one hub, such as `sender@shop`.
public struct RoleGrant: Hashable, Sendable, CustomStringConvertible {
    public var role: Role
    /// The name of the hub; nil for all hubs and the server itself. Names of hubs are compared without case.
    public var hub: String?

    public init(_ role: Role, hub: String? = nil) {
        self.role = role
        self.hub = hub
    }

    /// Parses a grant: a role, optionally followed by `@` and the name of a hub.
    /// - Returns: nil if the text is not a grant.
    public init?(_ text: String) {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        guard let role = Role(rawValue: String(parts[0])) else { return nil }
        guard parts.count == 2 else {
            self.init(role)
            return
        }
        guard HubName.isValid(String(parts[1])) else { return nil }
        self.init(role, hub: String(parts[1]))
    }

    public var description: String { hub.map { "\(role.rawValue)@\($0)" } ?? role.rawValue }
}

/// The roles of an operator: at most one for each hub, and at most one for all hubs.
public struct RoleGrants: Hashable, Sendable {
    /// The maximum number of grants of one operator.
    public static let countLimit = 100

    public private(set) var grants: [RoleGrant]

    /// Keeps the highest grant for each hub, and the highest grant for all hubs.
    public init(_ grants: [RoleGrant]) {
        var highest: [String?: RoleGrant] = [:]
        for grant in grants {
            let key = grant.hub?.lowercased()
            if let known = highest[key], known.role >= grant.role { continue }
            highest[key] = grant
        }
        self.grants = highest.sorted { ($0.key ?? "") < ($1.key ?? "") }.map(\.value)
    }

    /// The role for the server as a whole, which a grant for all hubs gives; nil if there is no such grant.
    public var overall: Role? { grants.first { $0.hub == nil }?.role }

    /// Returns the highest role for a hub; nil if the operator has no access to the hub.
    public func role(for hub: String) -> Role? {
        let name = hub.lowercased()
        return grants.lazy.filter { $0.hub == nil || $0.hub?.lowercased() == name }.map(\.role).max()
    }

    /// True if the operator has no role.
    public var isEmpty: Bool { grants.isEmpty }

    public var texts: [String] { grants.map(\.description) }
}
