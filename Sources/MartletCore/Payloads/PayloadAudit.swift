public import MartletModel

/// An attempt to fetch a payload.
public struct PayloadAccess: Hashable, Sendable {
    public enum Outcome: String, Hashable, Sendable {
        /// The user received the content.
        case read
        /// The user was told that there is no such payload.
        case refused
    }

    public var at: Timestamp
    /// The requested id of the payload. A payload with this id need not exist.
    public var payload: PayloadID
    /// The name, in lower case, of the user who made the request.
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

/// An entry of the audit log of payloads.
public struct AuditEntry: Hashable, Sendable {
    /// The number of the entry; higher than the numbers of all earlier entries.
    public var number: Int64
    public var access: PayloadAccess

    public init(number: Int64, access: PayloadAccess) {
        self.number = number
        self.access = access
    }
}

/// Selects entries of the audit log of payloads.
public struct AuditQuery: Sendable {
    /// The payload whose entries are selected; nil for all payloads.
    public var payload: PayloadID?
    /// The name, in lower case, of the user whose entries are selected; nil for all users.
    public var user: String?
    /// The maximum number of entries. If more entries match, the latest are returned.
    public var limit: Int

    public init(payload: PayloadID? = nil, user: String? = nil, limit: Int) {
        self.payload = payload
        self.user = user
        self.limit = limit
    }
}
