public import MartletModel

/// The hubs with their settings, rules and credentials, and the rules of the namespace. Secrets are not encrypted here,
/// because each store seals them in its own way.
public struct MovedDirectory: Sendable {
    public var hubs: [Hub]
    public var rules: [AccessRule]
    public var backendHub: Hub.ID?
    /// The platforms that occur in the rows.
    public var platforms: [PlatformID]

    public init(hubs: [Hub], rules: [AccessRule], backendHub: Hub.ID?, platforms: [PlatformID]) {
        self.hubs = hubs
        self.rules = rules
        self.backendHub = backendHub
        self.platforms = platforms
    }

    /// Returns the directory as named lists of rows, which are compared with the lists of the copy.
    func compared() -> [(name: String, rows: [[MovedValue]])] {
        let settings = hubs.map { hub -> [MovedValue] in
            [
                .integer(hub.id.rawValue), MovedValue(hub.name), .integer(hub.createdAt.milliseconds),
                .integer(hub.modifiedAt.milliseconds), MovedValue(hub.settings.registrationTTL?.wholeMilliseconds),
                MovedValue(hub.settings.userMetadata), MovedValue(hub.settings.limits.requestRate.map(Int64.init)),
                MovedValue(hub.settings.limits.backlog.map(Int64.init)), MovedValue(hub.settings.sending.testers),
                MovedValue(hub.settings.sending.appName), MovedValue(hub.settings.sending.appIcon),
                .integer(hub.id == backendHub ? 1 : 0),
            ]
        }
        let credentials = hubs.flatMap { hub in
            hub.settings.credentials.map { platform, credential -> [MovedValue] in
                let properties = credential.properties.sorted { $0.key < $1.key }
                return [
                    .integer(hub.id.rawValue), MovedValue(platform.rawValue),
                    .list(properties.flatMap { [Array($0.key.utf8), Array($0.value.utf8)] }),
                ]
            }
        }
        let rules =
            Self.rows(of: rules, hub: 0) + hubs.flatMap { Self.rows(of: $0.settings.accessRules, hub: $0.id.rawValue) }
        return [("hubs", settings), ("access_rules", rules), ("credentials", credentials)]
    }

    private static func rows(of rules: [AccessRule], hub: Int64) -> [[MovedValue]] {
        rules.enumerated().map { position, rule in
            [
                .integer(hub), .integer(Int64(position)), MovedValue(rule.name), .integer(Int64(rule.rights.rawValue)),
                MovedValue(rule.primaryKey), MovedValue(rule.secondaryKey), .integer(rule.createdAt.milliseconds),
                .integer(rule.modifiedAt.milliseconds),
            ]
        }
    }
}
