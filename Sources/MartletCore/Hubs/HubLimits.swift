/// What an operator has said of how much a hub may be asked to do; nil: as usual.
public struct HubLimits: Hashable, Sendable {
    /// Requests a second of each of its access keys.
    public var requestRate: Int?
    /// Notifications that are accepted and not finished.
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

/// The limits of hubs of which nothing else is said. The defaults are here.
public struct DefaultLimits: Hashable, Sendable {
    /// Requests a second of each access key.
    public var requestRate: Int
    /// Notifications of a hub that are accepted and not finished.
    public var backlog: Int

    public init(requestRate: Int = 20_000, backlog: Int = 100_000) {
        self.requestRate = requestRate
        self.backlog = backlog
    }
}

extension HubDirectory {
    /// How fast each access key may be used.
    /// - Parameter hub: Whose key it is; nil: the namespace's.
    public func requestRate(of hub: Hub?) -> RequestRate {
        RequestRate(perSecond: hub?.settings.limits.requestRate ?? standard.requestRate)
    }

    /// How much of a hub may wait to be finished.
    public func backlogLimits(of id: Hub.ID) -> BacklogLimits {
        BacklogLimits(notifications: hub(id)?.settings.limits.backlog ?? standard.backlog, standard: standard.backlog)
    }
}
