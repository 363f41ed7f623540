public import MartletModel

/// The settings of a hub. They are given when the hub is created, and can be changed later.
public struct HubSettings: Hashable, Sendable {
    /// The access rules in the given order. Their names are unique.
    public var accessRules: [AccessRule]
    public var credentials: [PlatformID: Credential]
    /// The time from a registration's last write to its expiry; nil for no expiry.
    public var registrationTTL: Duration?
    /// A note by the owner; the server does not interpret it.
    public var userMetadata: String?
    public var limits: HubLimits
    public var sending: SendingSettings

    public init(
        accessRules: [AccessRule] = [], credentials: [PlatformID: Credential] = [:], registrationTTL: Duration? = nil,
        userMetadata: String? = nil, limits: HubLimits = HubLimits(),
        sending: SendingSettings = SendingSettings()
    ) {
        self.limits = limits
        self.sending = sending
        self.accessRules = accessRules
        self.credentials = credentials
        self.registrationTTL = registrationTTL
        self.userMetadata = userMetadata
    }

    public static let accessRuleLimit = 12
    /// The maximum length of `userMetadata` in UTF-16 code units, as in Azure Notification Hubs.
    public static let userMetadataLimit = 1024
    public static let minimumRegistrationTTL: Duration = .seconds(86_400)

    /// Adds each of the two default rules, unless a rule with its name exists.
    mutating func addDefaultRules(at now: Timestamp) {
        let defaults: [(String, AccessRights)] = [
            (AccessRule.defaultListenName, .listen), (AccessRule.defaultFullName, .all),
        ]
        for (name, rights) in defaults where !accessRules.contains(where: { $0.name == name }) {
            accessRules.append(AccessRule(name: name, rights: rights, at: now))
        }
    }

    /// Checks all settings. A credential that is not in `old` is checked by creating a `PushService` with it.
    func check(
        replacing old: HubSettings = HubSettings(), platforms: PushPlatformList
    ) throws(HubDirectoryError) {
        try checkRules()
        try limits.check()
        try sending.check()
        if let registrationTTL, registrationTTL < Self.minimumRegistrationTTL {
            throw .invalid("Registrations must be allowed to live for a day at least (RegistrationTtl).")
        }
        guard (userMetadata ?? "").utf16.count <= Self.userMetadataLimit else {
            throw .invalid("The user metadata is longer than \(Self.userMetadataLimit) characters.")
        }
        for (platform, credential) in credentials where old.credentials[platform] != credential {
            guard let descriptor = platforms[platform]?.descriptor else { throw .unknownPlatform(platform) }
            // If the platform uses the credential of another platform, its own credential is never used and is not
            // checked.
            guard descriptor.credentialPlatform == platform else { continue }
            do throws(PushServiceError) {
                _ = try platforms.service(platform)?.init(credential: credential)
            } catch {
                throw .badCredential(error)
            }
        }
    }

    private func checkRules() throws(HubDirectoryError) {
        guard accessRules.count <= Self.accessRuleLimit else {
            throw .invalid("A hub has at most \(Self.accessRuleLimit) access rules.")
        }
        guard Set(accessRules.map(\.name)).count == accessRules.count else {
            throw .invalid("Two access rules have the same name.")
        }
        for rule in accessRules {
            if let fault = rule.fault { throw .invalid(fault) }
        }
    }
}
