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
    public var settings: HubSettings
    public let createdAt: Timestamp
    /// When its settings were last written.
    public var modifiedAt: Timestamp

    public init(id: ID, name: String, settings: HubSettings, createdAt: Timestamp, modifiedAt: Timestamp) {
        self.id = id
        self.name = name
        self.settings = settings
        self.createdAt = createdAt
        self.modifiedAt = modifiedAt
    }
}
