import MartletCore
import MartletModel

/// Stores and reads hubs with their settings, on one connection.
struct HubTable {
    private let connection: Connection
    private let sealer: any Sealer

    init(_ connection: Connection, _ sealer: any Sealer) {
        self.connection = connection
        self.sealer = sealer
    }

    static let sealedColumns = [
        SealedColumn(
            table: "credentials", column: "sealed_properties", context: "'credentials/' || hub || '/' || platform")
    ]

    func hubs() throws(StorageError) -> [Hub] { try hubs(from: .min, through: .max) }

    private func hubs(from first: Int64, through last: Int64) throws(StorageError) -> [Hub] {
        var hubs = try connection.all(
            """
            SELECT id, name, registration_ttl, user_metadata, created_at, modified_at, request_rate, backlog_limit,
                testers, app_name, app_icon
            FROM hubs WHERE is_deleted = 0 AND id BETWEEN ? AND ? ORDER BY folded_name
            """, first, last
        ) { row in
            let settings = HubSettings(
                registrationTTL: row.isNull(2) ? nil : .milliseconds(row.integer(2)), userMetadata: row.optionalText(3),
                limits: HubLimits(
                    requestRate: row.isNull(6) ? nil : Int(row.integer(6)),
                    backlog: row.isNull(7) ? nil : Int(row.integer(7))),
                sending: SendingSettings(
                    testers: row.optionalText(8), appName: row.optionalText(9), appIcon: row.optionalText(10)))
            return Hub(
                id: Hub.ID(rawValue: row.integer(0)), name: row.text(1), settings: settings,
                createdAt: row.timestamp(4), modifiedAt: row.timestamp(5))
        }
        let rules = AccessRuleTable(connection, sealer)
        for index in hubs.indices {
            hubs[index].settings.accessRules = try rules.rules(of: hubs[index].id)
            hubs[index].settings.credentials = try credentials(of: hubs[index].id)
        }
        return hubs
    }

    func create(name: String, settings: HubSettings, at now: Timestamp) throws(StorageError) -> Hub? {
        let others = try connection.all("SELECT id FROM hubs WHERE is_deleted = 0 LIMIT 2") {
            Hub.ID(rawValue: $0.integer(0))
        }
        try connection.run(
            """
            INSERT INTO hubs (name, folded_name, registration_ttl, user_metadata, request_rate, backlog_limit, created_at,
                modified_at, testers, app_name, app_icon)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
            """, name, name.lowercased(), settings.registrationTTL?.wholeMilliseconds, settings.userMetadata,
            settings.limits.requestRate, settings.limits.backlog, now, now, settings.sending.testers,
            settings.sending.appName, settings.sending.appIcon)
        guard connection.changes == 1 else { return nil }
        let hub = Hub(
            id: Hub.ID(rawValue: connection.lastInsertedRow), name: name, settings: settings, createdAt: now,
            modifiedAt: now)
        try insertParts(settings, of: hub.id)
        if others.isEmpty {
            try setBackendHub(hub.id)
        } else if others.count == 1, try backendHub() == nil {
            try setBackendHub(others[0])
        }
        return hub
    }

    func backendHub() throws(StorageError) -> Hub.ID? {
        try connection.first("SELECT hub FROM backend_hub") { Hub.ID(rawValue: $0.integer(0)) }
    }

    func setBackendHub(_ id: Hub.ID) throws(StorageError) {
        try connection.run("DELETE FROM backend_hub")
        try connection.run("INSERT INTO backend_hub VALUES (?)", id.rawValue)
    }

    func update(
        _ id: Hub.ID, settings: HubSettings, replacing old: HubSettings, at now: Timestamp
    ) throws(StorageError) -> HubUpdate {
        guard let stored = try hubs(from: id.rawValue, through: id.rawValue).first else { return .absent }
        guard stored.settings == old else { return .changed }
        try connection.run(
            """
            UPDATE hubs SET registration_ttl = ?, user_metadata = ?, request_rate = ?, backlog_limit = ?, modified_at = ?,
                testers = ?, app_name = ?, app_icon = ?
            WHERE id = ?
            """, settings.registrationTTL?.wholeMilliseconds, settings.userMetadata, settings.limits.requestRate,
            settings.limits.backlog, now, settings.sending.testers, settings.sending.appName,
            settings.sending.appIcon, id.rawValue)
        try removeParts(of: id)
        try insertParts(settings, of: id)
        return .stored
    }

    func exists(_ id: Hub.ID) throws(StorageError) -> Bool {
        try Self.exists(id, on: connection)
    }

    static func exists(_ id: Hub.ID, on connection: Connection) throws(StorageError) -> Bool {
        try connection.first("SELECT 1 FROM hubs WHERE id = ? AND is_deleted = 0", id.rawValue) { _ in true } ?? false
    }

    /// Marks a hub as deleted: frees its name, and removes its rules and credentials. `HubPurge` removes the rest of
    /// its data later. Returns false if there is no such hub.
    func markDeleted(_ id: Hub.ID) throws(StorageError) -> Bool {
        guard try exists(id) else { return false }
        try connection.run(
            "UPDATE hubs SET is_deleted = 1, folded_name = '*' || id WHERE id = ?", id.rawValue)
        try removeParts(of: id)
        return true
    }

    private func credentials(of hub: Hub.ID) throws(StorageError) -> [PlatformID: Credential] {
        let pairs = try connection.all(
            "SELECT platform, sealed_properties FROM credentials WHERE hub = ?", hub.rawValue
        ) { row throws(StorageError) in
            let platform = PlatformID(rawValue: row.text(0))
            guard let bytes = sealer.open(row.bytes(1), context: Self.context(hub, platform)),
                let properties = StringMapCoding.decode(bytes)
            else { throw AccessRuleTable.unreadable }
            return (platform, Credential(properties))
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    func insertParts(_ settings: HubSettings, of hub: Hub.ID) throws(StorageError) {
        try AccessRuleTable(connection, sealer).insert(settings.accessRules, of: hub)
        for (platform, credential) in settings.credentials {
            let sealed = try sealer.seal(
                StringMapCoding.encode(credential.properties), context: Self.context(hub, platform))
            try connection.run(
                "INSERT INTO credentials VALUES (?, ?, ?)", hub.rawValue, platform.rawValue, sealed)
        }
    }

    private func removeParts(of hub: Hub.ID) throws(StorageError) {
        try AccessRuleTable(connection, sealer).removeRules(of: hub)
        try connection.run("DELETE FROM credentials WHERE hub = ?", hub.rawValue)
    }

    private static func context(_ hub: Hub.ID, _ platform: PlatformID) -> String {
        "credentials/\(hub.rawValue)/\(platform)"
    }
}
