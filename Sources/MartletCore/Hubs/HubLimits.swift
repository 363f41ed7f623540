/// The limits that an operator has set for a hub. For a limit that is nil, the default applies (`DefaultLimits`).
public struct HubLimits: Hashable, Sendable {
    /// The number of requests per second that each access key of the hub may make.
    public var requestRate: Int?
    /// The maximum number of unfinished notifications of the hub.
    public var backlog: Int?

    public init(requestRate: Int? = nil, backlog: Int? = nil) {
        self.requestRate = requestRate
        self.backlog = backlog
    }

    func check() throws(HubDirectoryError) {
        guard requestRate.map({ (1...RequestRate.limit).contains($0) }) ?? true else {
            throw .invalid("A request rate is 1 to \(RequestRate.limit) a second.")
        }
        guard backlog.map({ BacklogLimits.allowed.contains($0) }) ?? true else {
            throw .invalid("A backlog limit is 1 to \(BacklogLimits.allowed.upperBound) notifications.")
        }
    }
}

/// The limits of hubs that have no limits of their own. If the operator sets none, the default values of `init` apply.
public struct DefaultLimits: Hashable, Sendable {
    /// The number of requests per second that each access key may make.
    public var requestRate: Int
    /// The maximum number of unfinished notifications of a hub.
    public var backlog: Int

    public init(requestRate: Int = 20_000, backlog: Int = 100_000) {
        self.requestRate = requestRate
        self.backlog = backlog
    }
}

extension HubDirectory {
    /// Returns the request rate of an access key: the limit of the hub, or the default.
    /// - Parameter hub: The hub of the key; nil for a key of the namespace.
    public func requestRate(of hub: Hub?) -> RequestRate {
        RequestRate(perSecond: hub?.settings.limits.requestRate ?? standard.requestRate)
    }

    /// Returns the backlog limits of a hub. A hub without a limit of its own has the default, and so has an unknown
    /// hub.
    public func backlogLimits(of id: Hub.ID) -> BacklogLimits {
        BacklogLimits(notifications: hub(id)?.settings.limits.backlog ?? standard.backlog, standard: standard.backlog)
    }
}
