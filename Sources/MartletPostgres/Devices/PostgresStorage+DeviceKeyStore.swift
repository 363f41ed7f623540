public import MartletCore
public import MartletModel

extension PostgresStorage: DeviceKeyStore {
    @discardableResult
    public func putDeviceKey(
        _ key: DeviceKey?, of registration: String, tagged tag: Tag, in hub: Hub.ID
    ) async throws(StorageError) -> Bool {
        let shard = Shard(hub)
        var needs = DeviceNeeds()
        needs.registrations = [registration]
        for scope in try await allPlatforms().flatMap(\.scopes) {
            needs.tags.insert(TagKey(scope: scope, shard: shard, name: tag.folded))
        }
        return try await write(to: shard, needs) { $0.setKey(key, of: registration, tagged: tag) }
    }

    public func deviceKeys(
        of tag: Tag, in hub: Hub.ID, at now: Timestamp, limit: Int
    ) async throws(StorageError) -> [KeyedDevice] {
        let batch = Batch(Self.keysOfTag) {
            $0.add(Shard(hub).number)
            $0.add(tag.folded)
            $0.add(now)
            $0.add(Int64(limit))
        }
        let rows = try await read(batch)[0]
        var devices: [KeyedDevice] = []
        for index in 0..<rows.count {
            let row = rows[index]
            devices.append(
                KeyedDevice(
                    registration: StoredForm.id(row.bytes(0)),
                    platform: try await platform(Scope(number: row.integer32(1)).platform),
                    key: DeviceKey(publicKey: row.bytes(2), authSecret: row.bytes(3))))
        }
        return devices
    }

    private static let keysOfTag = Statement.hot(
        [.int4, .text, .int8, .int8],
        """
        WITH member AS MATERIALIZED (
            SELECT r.sequence, r.scope, r.id, r.expires_at FROM registrations r
            WHERE r.shard = $1 AND r.tags && ARRAY(SELECT t.id FROM tags t WHERE t.shard = $1 AND t.name = $2)
        )
        SELECT m.id, m.scope, k.public_key, k.auth_secret
        FROM member m JOIN device_keys k ON k.shard = $1 AND k.registration = m.sequence AND k.tag = $2
        WHERE m.expires_at IS NULL OR m.expires_at > $3 ORDER BY m.sequence DESC LIMIT $4
        """)
}
