public import MartletModel

/// An attempt to fetch a payload.
public struct PayloadAccess: Hashable, Sendable {
    public enum Outcome: String, Hashable, Sendable {
        /// The user was given the content.
        case read
        /// The user was told that there is no such payload.
        case refused
    }

    public var at: Timestamp
    /// As it was asked for: there need be none.
    public var payload: PayloadID
    /// The folded name.
    public var user: String
    public var outcome: Outcome
    /// Where the request came from.
    public var address: String

    public init(at: Timestamp, payload: PayloadID, user: String, outcome: Outcome, address: String) {
        self.at = at
        self.payload = payload
        self.user = user
        self.outcome = outcome
        self.address = address
    }
}

/// An attempt as the audit has it.
public struct AuditEntry: Hashable, Sendable {
    /// Higher than that of every entry before.
    public var number: Int64
    public var access: PayloadAccess

    public init(number: Int64, access: PayloadAccess) {
        self.number = number
        self.access = access
    }
}

/// Which entries of the audit are asked for.
public struct AuditQuery: Sendable {
    /// nil: of any payload.
    public var payload: PayloadID?
    /// A folded name; nil: of anybody.
    public var user: String?
    /// The most entries; of more, the latest.
    public var limit: Int

    public init(payload: PayloadID? = nil, user: String? = nil, limit: Int) {
        self.payload = payload
        self.user = user
        self.limit = limit
    }
}
