public import MartletModel

/// A hub: a namespace of registrations with its access rules and push credentials.
public struct Hub: Sendable {
    public struct ID: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int64

        public init(rawValue: Int64) {
            self.rawValue = rawValue
        }
    }

    public let id: ID
    /// The name as it was spelled when the hub was created; hub names are compared without case.
    public let name: String
    public var settings: HubSettings
    public let createdAt: Timestamp
    /// The time when the settings were last changed.
    public var modifiedAt: Timestamp

    public init(id: ID, name: String, settings: HubSettings, createdAt: Timestamp, modifiedAt: Timestamp) {
        self.id = id
        self.name = name
        self.settings = settings
        self.createdAt = createdAt
        self.modifiedAt = modifiedAt
    }
}
