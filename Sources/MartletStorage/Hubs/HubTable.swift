import MartletCore
import MartletModel

/// Hubs with their rules and credentials, on one connection.
struct HubTable {
    private let connection: Connection
    private let sealer: any Sealer

    init(_ connection: Connection, _ sealer: any Sealer) {
        self.connection = connection
        self.sealer = sealer
    }

    func hubs() throws(StorageError) -> [Hub] {
        var hubs = try connection.all("SELECT id, name, created_at FROM hubs WHERE is_deleted = 0 ORDER BY folded_name")
        { row in
            Hub(
                id: Hub.ID(rawValue: row.integer(0)), name: row.text(1), accessRules: [], credentials: [:],
                createdAt: row.timestamp(2))
        }
        for place in hubs.indices {
            hubs[place].accessRules = try accessRules(of: hubs[place].id)
            hubs[place].credentials = try credentials(of: hubs[place].id)
        }
        return hubs
    }

    func create(name: String, accessRules: [AccessRule], at now: Timestamp) throws(StorageError) -> Hub? {
        try connection.run(
            "INSERT INTO hubs (name, folded_name, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", name,
            name.lowercased(), now)
        guard connection.changes == 1 else { return nil }
        let hub = Hub(
            id: Hub.ID(rawValue: connection.lastInsertedRow), name: name, accessRules: accessRules, credentials: [:],
            createdAt: now)
        try insertParts(of: hub)
        return hub
    }

    func update(_ hub: Hub) throws(StorageError) -> Bool {
        guard try exists(hub.id) else { return false }
        try connection.run("DELETE FROM access_rules WHERE hub = ?", hub.id.rawValue)
        try connection.run("DELETE FROM credentials WHERE hub = ?", hub.id.rawValue)
        try insertParts(of: hub)
        return true
    }

    func exists(_ id: Hub.ID) throws(StorageError) -> Bool {
        try connection.first("SELECT 1 FROM hubs WHERE id = ? AND is_deleted = 0", id.rawValue) { _ in true } ?? false
    }

    /// Takes away the hub's name, rules and credentials; what else it has is `HubPurge`'s to remove.
    func markDeleted(_ id: Hub.ID) throws(StorageError) -> Bool {
        guard try exists(id) else { return false }
        try connection.run(
            "UPDATE hubs SET is_deleted = 1, folded_name = '*' || id WHERE id = ?", id.rawValue)
        try connection.run("DELETE FROM access_rules WHERE hub = ?", id.rawValue)
        try connection.run("DELETE FROM credentials WHERE hub = ?", id.rawValue)
        return true
    }

    private func accessRules(of hub: Hub.ID) throws(StorageError) -> [AccessRule] {
        try connection.all(
            """
            SELECT name, rights, sealed_primary_key, sealed_secondary_key, created_at, modified_at
            FROM access_rules WHERE hub = ? ORDER BY position
            """, hub.rawValue
        ) { row throws(StorageError) in
            let context = Self.context(hub, rule: row.text(0))
            return AccessRule(
                name: row.text(0), rights: AccessRights(rawValue: Int(row.integer(1))),
                primaryKey: try text(row.bytes(2), "\(context)/primary"),
                secondaryKey: try text(row.bytes(3), "\(context)/secondary"), createdAt: row.timestamp(4),
                modifiedAt: row.timestamp(5))
        }
    }

    private func credentials(of hub: Hub.ID) throws(StorageError) -> [PlatformID: Credential] {
        let pairs = try connection.all(
            "SELECT platform, sealed_properties FROM credentials WHERE hub = ?", hub.rawValue
        ) { row throws(StorageError) in
            let platform = PlatformID(rawValue: row.text(0))
            let bytes = try open(row.bytes(1), Self.context(hub, platform))
            guard let properties = StringMapCoding.decode(bytes) else { throw Self.unreadable }
            return (platform, Credential(properties))
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    private func insertParts(of hub: Hub) throws(StorageError) {
        for (position, rule) in hub.accessRules.enumerated() {
            let context = Self.context(hub.id, rule: rule.name)
            try connection.run(
                "INSERT INTO access_rules VALUES (?, ?, ?, ?, ?, ?, ?, ?)", hub.id.rawValue, position, rule.name,
                rule.rights.rawValue, try sealer.seal(Array(rule.primaryKey.utf8), context: "\(context)/primary"),
                try sealer.seal(Array(rule.secondaryKey.utf8), context: "\(context)/secondary"), rule.createdAt,
                rule.modifiedAt)
        }
        for (platform, credential) in hub.credentials {
            let sealed = try sealer.seal(
                StringMapCoding.encode(credential.properties), context: Self.context(hub.id, platform))
            try connection.run(
                "INSERT INTO credentials VALUES (?, ?, ?)", hub.id.rawValue, platform.rawValue, sealed)
        }
    }

    private static func context(_ hub: Hub.ID, rule: String) -> String { "access_rules/\(hub.rawValue)/\(rule)" }

    private static func context(_ hub: Hub.ID, _ platform: PlatformID) -> String {
        "credentials/\(hub.rawValue)/\(platform)"
    }

    private func text(_ sealed: [UInt8], _ context: String) throws(StorageError) -> String {
        String(decoding: try open(sealed, context), as: UTF8.self)
    }

    private func open(_ sealed: [UInt8], _ context: String) throws(StorageError) -> [UInt8] {
        guard let bytes = sealer.open(sealed, context: context) else { throw Self.unreadable }
        return bytes
    }

    private static var unreadable: StorageError {
        StorageError(
            .corrupt,
            "The keys of a hub cannot be read: this is not the encryption key that the database was written with.")
    }
}
