public import MartletModel

/// An attempt to fetch a payload.
public struct PayloadAccess: Hashable, Sendable {
    public enum Outcome: String, Hashable, Sendable {
        /// The user got the content.
        case read
        /// The user was told that there is no such payload.
        case refused
    }

    public var at: Timestamp
    /// As requested; there may be no such payload.
    public var payload: PayloadID
    /// The folded name of the user.
    public var user: String
    public var outcome: Outcome
    /// The network address of the client.
    public var address: String

    public init(at: Timestamp, payload: PayloadID, user: String, outcome: Outcome, address: String) {
        self.at = at
        self.payload = payload
        self.user = user
        self.outcome = outcome
        self.address = address
    }
}

/// An entry of the audit log.
public struct AuditEntry: Hashable, Sendable {
    /// Higher than the numbers of all earlier entries.
    public var number: Int64
    public var access: PayloadAccess

    public init(number: Int64, access: PayloadAccess) {
        self.number = number
        self.access = access
    }
}

/// Selects entries of the audit log.
public struct AuditQuery: Sendable {
    /// nil for all payloads.
    public var payload: PayloadID?
    /// A folded name; nil for all users.
    public var user: String?
    /// The most entries; if more match, the latest ones.
    public var limit: Int

    public init(payload: PayloadID? = nil, user: String? = nil, limit: Int) {
        self.payload = payload
        self.user = user
        self.limit = limit
    }
}
