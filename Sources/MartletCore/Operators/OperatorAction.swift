public import MartletModel

/// An entry of the console's audit log: a change that an operator requested in the console or through the admin socket,
/// or a secret that was shown to an operator.
public struct OperatorAction: Hashable, Sendable {
    public var at: Timestamp
    public var operatorName: String
    /// The network address of the client, as text. For a client of the admin socket, its user id, such as `uid 1000`.
    public var address: String
    /// The role with which the operator was allowed to make the request; empty if no role was needed.
    public var role: String
    /// The method and the pattern of the request, such as `PUT /hubs/{name}/credentials/{platform}`.
    public var action: String
    /// The name of the hub; nil if the request is not about one hub.
    public var hub: String?
    /// The subject of the request, such as the id of a send, or a user's name and a role; nil if the request is about
    /// the hub only.
    public var subject: String?
    /// The HTTP status of the answer; nil if the server ended before the answer was known.
    public var answer: Int?

    public init(
        at: Timestamp, operatorName: String, address: String, role: String, action: String, hub: String? = nil,
        subject: String? = nil, answer: Int? = nil
    ) {
        self.at = at
        self.operatorName = operatorName
        self.address = address
        self.role = role
        self.action = action
        self.hub = hub
        self.subject = subject
        self.answer = answer
    }

    /// The id of a stored entry. Later entries have larger ids.
    public struct ID: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int64

        public init(rawValue: Int64) {
            self.rawValue = rawValue
        }
    }

    /// The time for which entries are kept.
    public static let retention = Duration.seconds(400 * 86_400)
}

/// Selects entries of the console's audit log, newest first.
public struct OperatorActionQuery: Hashable, Sendable {
    /// Selects only entries that are older than this one; nil to start with the newest entry.
    public var before: OperatorAction.ID?
    /// The operator whose entries are selected; nil for all operators.
    public var operatorName: String?
    public var limit: Int

    public init(before: OperatorAction.ID? = nil, operatorName: String? = nil, limit: Int) {
        self.before = before
        self.operatorName = operatorName
        self.limit = limit
    }
}
