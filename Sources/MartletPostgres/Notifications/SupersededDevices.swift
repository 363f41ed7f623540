import MartletCore
import MartletModel

/// Finds those devices of a delivery that a later delivery with the same collapse key also targets.
struct SupersededDevices {
    private let session: ShardSession
    private let query: CollapseQuery
    private let table: CollapseTable
    private let platform: Int32

    /// - Parameter platform: The number of the query's platform.
    init(_ session: ShardSession, _ query: CollapseQuery, platform: Int32) {
        self.session = session
        self.query = query
        self.platform = platform
        table = CollapseTable(session)
    }

    /// A device of the query: the anchor of its handle, and its registrations. A later delivery supersedes the device
    /// if the delivery's expression matches the tags of one of these registrations, and the delivery's last channel is
    /// not before the channel of this registration.
    private struct Device {
        var index: Int
        var handle: [UInt8]?
        var registrations: [(tags: Set<Tag>, channel: ChannelID)] = []

        var anchors: Set<[UInt8]> {
            var anchors: Set<[UInt8]> = [CollapseAnchor.anybody]
            if let handle { anchors.insert(handle) }
            for (tags, _) in registrations { anchors.formUnion(tags.map { Array($0.folded.utf8) }) }
            return anchors
        }
    }

    func find() throws(StorageError) -> Superseded {
        guard try table.hasLater(query) else { return Superseded() }
        var later: Set<Delivery.ID> = []
        var devices: [Int] = []
        let covering = try table.laterToSameTarget(query)
        func isCovered(_ channel: ChannelID, _ index: Int) -> Bool {
            guard let covering, channel <= covering.lastChannel else { return false }
            later.insert(covering.delivery)
            devices.append(index)
            return true
        }
        let left =
            switch query.devices {
            case .channels(let channels):
                try ofChannels(channels.enumerated().filter { !isCovered($1, $0) }.map { ($0, $1) })
            case .followed(let registrations):
                try followed(registrations.enumerated().filter { !isCovered($1.member, $0) }.map { ($0, $1) })
            case .handleKeys(let keys): try ofHandles(keys)
            }
        let audiences = try table.later(than: query, Array(Set(left.flatMap(\.anchors))))
        for device in left {
            let found = Self.later(for: device, audiences)
            guard !found.isEmpty else { continue }
            later.formUnion(found)
            devices.append(device.index)
        }
        var superseded = Superseded(devices: devices.sorted())
        guard let newest = later.max() else { return superseded }
        if try table.isUnfinished(newest) { superseded.newest = newest }
        superseded.unsent = try table.unsent(later, at: query.now)
        return superseded
    }

    /// Returns the newest delivery of each anchor of a device that is for the device.
    private static func later(for device: Device, _ later: [[UInt8]: [LaterAudience]]) -> [Delivery.ID] {
        var found: [Delivery.ID] = []
        if let handle = device.handle, let first = later[handle]?.first { found.append(first.delivery) }
        for (tags, channel) in device.registrations {
            for anchor in [CollapseAnchor.anybody] + tags.map({ Array($0.folded.utf8) }) {
                let first = (later[anchor] ?? []).first { $0.includes(tags, through: channel) }
                if let first { found.append(first.delivery) }
            }
        }
        return found
    }

    // MARK: Devices

    private func ofChannels(_ channels: [(Int, ChannelID)]) throws(StorageError) -> [Device] {
        guard !channels.isEmpty else { return [] }
        let found = try registrations(of: channels.map(\.1))
        let handles = try handles(of: channels.map(\.1))
        return channels.map { index, channel in
            Device(
                index: index, handle: handles[channel],
                registrations: (found[channel] ?? []).map { (tags: $0, channel: channel) })
        }
    }

    /// Returns the devices of registrations whose channel has changed. A later delivery may have found such a
    /// registration at its former or at its current channel.
    private func followed(_ registrations: [(Int, FollowedRegistration)]) throws(StorageError) -> [Device] {
        guard !registrations.isEmpty else { return [] }
        var devices = try ofChannels(registrations.map { ($0.0, $0.1.registration.channel) })
        let tags = try session.all(
            """
            SELECT r.sequence, r.tags, r.spelled_tags FROM registrations r
            WHERE r.shard = $1 AND r.sequence = ANY($2) AND (r.expires_at IS NULL OR r.expires_at > $3)
            """, registrations.map(\.1.registration.registration), query.now
        ) { row in (row.integer(0), TagRow(row, 1)) }
        let names = try names(of: tags.map(\.1))
        var bySequence: [Int64: Set<Tag>] = [:]
        for (sequence, row) in tags { bySequence[sequence] = try row.tags(names) }
        for index in devices.indices {
            let registration = registrations[index].1
            guard let tags = bySequence[registration.registration.registration] else { continue }
            devices[index].registrations.append((tags: tags, channel: registration.member))
        }
        return devices
    }

    private func ofHandles(_ keys: [String]) throws(StorageError) -> [Device] {
        let found = try session.all(
            """
            SELECT substr(sha256(k.key), 1, 16), h.channel FROM unnest($2) WITH ORDINALITY k (key, number)
                LEFT JOIN channels h ON h.shard = $1 AND h.hash = substr(sha256(k.key), 1, 16)
            ORDER BY k.number
            """, keys.map { HandleKey(platform: platform, key: $0).bytes }
        ) { row in (CollapseAnchor.handle(row.bytes(0)), row.optionalInteger(1).map(ChannelID.init(rawValue:))) }
        let registrations = try registrations(of: found.compactMap(\.1))
        return found.enumerated().map { index, item in
            let (handle, channel) = item
            return Device(
                index: index, handle: handle,
                registrations: channel.map { channel in
                    (registrations[channel] ?? []).map { (tags: $0, channel: channel) }
                } ?? [])
        }
    }

    /// Returns the tags of each native registration of some channels.
    private func registrations(of channels: [ChannelID]) throws(StorageError) -> [ChannelID: [Set<Tag>]] {
        guard !channels.isEmpty else { return [:] }
        let rows = try session.all(
            """
            SELECT r.channel, r.tags, r.spelled_tags FROM registrations r
            WHERE r.shard = $1 AND r.scope = $2 AND r.channel = ANY($3)
                AND (r.expires_at IS NULL OR r.expires_at > $4)
            """, Scope(platform: platform, .native).number, channels.map(\.rawValue), query.now
        ) { row in (ChannelID(rawValue: row.integer(0)), TagRow(row, 1)) }
        let names = try names(of: rows.map(\.1))
        var found: [ChannelID: [Set<Tag>]] = [:]
        for (channel, row) in rows { found[channel, default: []].append(try row.tags(names)) }
        return found
    }

    private func handles(of channels: [ChannelID]) throws(StorageError) -> [ChannelID: [UInt8]] {
        let found = try session.all(
            "SELECT channel, hash FROM channels WHERE shard = $1 AND channel = ANY($2)", channels.map(\.rawValue)
        ) { row in (ChannelID(rawValue: row.integer(0)), CollapseAnchor.handle(row.bytes(1))) }
        return Dictionary(uniqueKeysWithValues: found)
    }

    private func names(of rows: [TagRow]) throws(StorageError) -> [Int64: String] {
        try TagRow.names(of: rows, session)
    }
}

/// The tags of a row: the numbers of the tags and, if a tag is not spelled in lower case, all spellings.
struct TagRow {
    var ids: [Int64]
    var spelled: String?

    init(_ row: Row, _ column: Int32) {
        ids = row.integers(column)
        spelled = row.optionalText(column + 1)
    }

    func tags(_ names: [Int64: String]) throws(StorageError) -> Set<Tag> {
        Set(try StoredTags.tags(ids, spelled: spelled, names))
    }

    /// Reads the names of the tags of those rows that have no spellings.
    static func names(of rows: [TagRow], _ session: ShardSession) throws(StorageError) -> [Int64: String] {
        let ids = Set(rows.filter { $0.spelled == nil }.flatMap(\.ids))
        guard !ids.isEmpty else { return [:] }
        let found = try session.all("SELECT id, name FROM tags WHERE shard = $1 AND id = ANY($2)", Array(ids)) { row in
            (row.integer(0), row.text(1))
        }
        return Dictionary(uniqueKeysWithValues: found)
    }
}
