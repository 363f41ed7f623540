import MartletCore
import MartletModel

/// Stores and reads the device keys with which texts are encrypted, on one connection. A key belongs to a registration
/// and is removed together with it.
struct DeviceKeyTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// Stores the key of a registration, or removes it if `key` is nil. Nothing changes if the registration does not
    /// have the tag.
    /// - Returns: Whether the registration exists and has the tag.
    func put(
        _ key: DeviceKey?, of registration: String, tagged tag: Tag, in hub: Hub.ID
    ) throws(StorageError) -> Bool {
        let found = try connection.first(
            """
            SELECT r.sequence FROM registrations r JOIN tags t ON t.hub = r.hub AND t.name = ?
                JOIN tag_members m ON m.tag = t.id AND m.channel = r.channel AND m.registration = r.sequence
            WHERE r.hub = ? AND r.id = ?
            """, tag.folded, hub.rawValue, StoredID(registration)
        ) { $0.integer(0) }
        guard let found else { return false }
        if let key {
            try connection.run(
                "INSERT OR REPLACE INTO device_keys (registration, tag, public_key, auth_secret) VALUES (?, ?, ?, ?)",
                found, tag.folded, key.publicKey, key.authSecret)
        } else {
            try connection.run("DELETE FROM device_keys WHERE registration = ?", found)
        }
        return true
    }

    func keys(of tag: Tag, in hub: Hub.ID, at now: Timestamp, limit: Int) throws(StorageError) -> [KeyedDevice] {
        try connection.all(
            """
            SELECT r.id, c.platform, k.public_key, k.auth_secret
            FROM tags t CROSS JOIN tag_members m ON m.tag = t.id
                CROSS JOIN device_keys k ON k.registration = m.registration AND k.tag = t.name
                CROSS JOIN registrations r ON r.sequence = m.registration
                CROSS JOIN channels c ON c.id = r.channel
            WHERE t.hub = ? AND t.name = ? AND (r.expires_at IS NULL OR r.expires_at > ?)
            ORDER BY r.sequence DESC LIMIT ?
            """, hub.rawValue, tag.folded, now, limit
        ) { row in
            KeyedDevice(
                registration: StoredID(row, 0).text, platform: PlatformID(rawValue: row.text(1)),
                key: DeviceKey(publicKey: row.bytes(2), authSecret: row.bytes(3)))
        }
    }
}
