public import MartletModel

/// A hub: a name space of registrations with its access rules and the credentials of its push services.
public struct Hub: Sendable {
    public struct ID: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int64

        public init(rawValue: Int64) {
            self.rawValue = rawValue
        }
    }

    public let id: ID
    /// As it was created; hub names compare without case.
    public let name: String
    public var accessRules: [AccessRule]
    public var credentials: [PlatformID: Credential]
    public let createdAt: Timestamp

    public init(
        id: ID, name: String, accessRules: [AccessRule], credentials: [PlatformID: Credential], createdAt: Timestamp
    ) {
        self.id = id
        self.name = name
        self.accessRules = accessRules
        self.credentials = credentials
        self.createdAt = createdAt
    }
}
