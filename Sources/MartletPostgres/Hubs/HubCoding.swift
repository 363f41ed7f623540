import MartletCore
import MartletModel

/// Encodes the settings of a hub, or a list of access rules, as one value. Each key and credential is sealed
/// separately, so that all of them can be sealed with a new key while the rest stays the same.
struct HubCoding {
    let sealer: any Sealer

    // MARK: Rules

    func encode(_ rules: [AccessRule], context: String) throws(StorageError) -> [UInt8] {
        var list = ByteList()
        for rule in rules {
            list.add(rule.name)
            list.add(Int64(rule.rights.rawValue))
            list.add(rule.createdAt.milliseconds)
            list.add(rule.modifiedAt.milliseconds)
            for key in AccessRule.KeyKind.allCases {
                list.add(
                    try sealer.seal(Array(rule[key].utf8), context: "\(context)/\(rule.name)/\(key.rawValue)"))
            }
        }
        return list.bytes
    }

    func rules(_ bytes: [UInt8], context: String) throws(StorageError) -> [AccessRule] {
        var reader = ByteListReader(bytes)
        var rules: [AccessRule] = []
        while !reader.isAtEnd {
            guard let name = reader.text(), let rights = reader.integer(), let created = reader.integer(),
                let modified = reader.integer(), let primary = reader.bytes(), let secondary = reader.bytes()
            else { throw Self.unreadable }
            rules.append(
                AccessRule(
                    name: name, rights: AccessRights(rawValue: Int(rights)),
                    primaryKey: try open(primary, "\(context)/\(name)/primary"),
                    secondaryKey: try open(secondary, "\(context)/\(name)/secondary"),
                    createdAt: Timestamp(milliseconds: created), modifiedAt: Timestamp(milliseconds: modified)))
        }
        return rules
    }

    private func open(_ sealed: [UInt8], _ context: String) throws(StorageError) -> String {
        guard let bytes = sealer.open(sealed, context: context) else { throw Self.unreadable }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Settings

    /// - Parameter context: Names the hub, so that a sealed secret can be opened only as a secret of this hub.
    func encode(_ settings: HubSettings, context: String) throws(StorageError) -> [UInt8] {
        var list = ByteList()
        list.add(Self.version)
        list.add(try encode(settings.accessRules, context: context))
        var credentials = ByteList()
        for (platform, credential) in settings.credentials.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            credentials.add(platform.rawValue)
            credentials.add(
                try sealer.seal(
                    ByteList.bytes(of: credential.properties), context: "\(context)/credentials/\(platform)"))
        }
        list.add(credentials.bytes)
        list.add(settings.registrationTTL.map(\.wholeMilliseconds))
        list.add(settings.userMetadata)
        list.add(settings.limits.requestRate.map(Int64.init))
        list.add(settings.limits.backlog.map(Int64.init))
        list.add(settings.sending.testers)
        list.add(settings.sending.appName)
        list.add(settings.sending.appIcon)
        return list.bytes
    }

    func settings(_ bytes: [UInt8], context: String) throws(StorageError) -> HubSettings {
        var reader = ByteListReader(bytes)
        guard reader.integer() == Self.version, let rules = reader.bytes(), let credentials = reader.bytes() else {
            throw Self.unreadable
        }
        var settings = HubSettings(accessRules: try self.rules(rules, context: context))
        var credentialReader = ByteListReader(credentials)
        while !credentialReader.isAtEnd {
            guard let platform = credentialReader.text(), let sealed = credentialReader.bytes(),
                let opened = sealer.open(sealed, context: "\(context)/credentials/\(platform)"),
                let properties = ByteListReader.map(opened)
            else { throw Self.unreadable }
            settings.credentials[PlatformID(rawValue: platform)] = Credential(properties)
        }
        settings.registrationTTL = reader.integer().map { .milliseconds($0) }
        settings.userMetadata = reader.text()
        settings.limits = HubLimits(
            requestRate: reader.integer().map(Int.init), backlog: reader.integer().map(Int.init))
        settings.sending = SendingSettings(testers: reader.text(), appName: reader.text(), appIcon: reader.text())
        return settings
    }

    private static let version: Int64 = 1

    private static var unreadable: StorageError {
        StorageError(
            .corrupt,
            "The settings of a hub cannot be read: this is not the encryption key that the database was written with, "
                + "or a newer version wrote it. Give this node the secret.key of the other nodes.")
    }
}
