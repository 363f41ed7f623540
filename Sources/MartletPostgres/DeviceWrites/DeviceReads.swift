import MartletCore
import MartletModel

/// Reads the rows that a group of writes needs, in one batch.
struct DeviceReads: Sendable {
    private let ids: [String]
    private let installations: [String]
    private let handles: [HandleKey]
    private let takenHandles: [HandleKey]
    private let channels: [Int64]
    private let moves: [(channel: Int64, key: String)]
    private let tags: [TagKey]
    private let knownTags: [TagKey: Int64]
    private let contents: [[UInt8]]
    private let jobs: [String]
    private let node: Int64?
    private let described: [String]

    /// - Parameter cache: The tags whose numbers are known. These numbers are not read from the database.
    init(_ needs: DeviceNeeds, known cache: NumberCache?) {
        ids = Array(needs.registrations)
        installations = Array(needs.installations)
        handles = Array(needs.handles.keys)
        takenHandles = needs.handles.filter(\.value).map(\.key)
        channels = Array(needs.channels)
        moves = needs.moves
        contents = Array(needs.contents)
        jobs = Array(needs.jobs)
        node = needs.node
        described = Array(needs.described)
        var (known, unknown) = ([TagKey: Int64](), [TagKey]())
        for key in needs.tags {
            if let id = cache?.tag(key) { known[key] = id } else { unknown.append(key) }
        }
        (knownTags, tags) = (known, unknown)
    }

    func batch(in shard: Shard) -> Batch {
        var batch = Batch()
        let shard = shard.number
        if !ids.isEmpty {
            for statement in [Self.byID, Self.tombstones] {
                batch.add(statement) {
                    $0.add(shard)
                    $0.add(ids.map { StoredForm.id($0) })
                }
            }
        }
        if !installations.isEmpty {
            for statement in [Self.byInstallation, Self.installationsByID] {
                batch.add(statement) {
                    $0.add(shard)
                    $0.add(installations.map { Array($0.utf8) })
                }
            }
        }
        if !handles.isEmpty {
            batch.add(Self.channelsByKey) {
                $0.add(shard)
                $0.add(handles.map(\.bytes))
            }
        }
        if needsChannels {
            batch.add(Self.byChannel) {
                $0.add(shard)
                $0.add(takenHandles.map(\.bytes))
                $0.add(channels)
                $0.add(moves.map(\.channel))
                $0.add(moves.map { Array($0.key.utf8) })
            }
        }
        if !channels.isEmpty {
            batch.add(Self.channelsByNumber) {
                $0.add(shard)
                $0.add(channels)
                $0.add(moves.map(\.channel))
                $0.add(moves.map { Array($0.key.utf8) })
            }
        }
        if !tags.isEmpty {
            batch.add(Self.tagsByName) {
                $0.add(shard)
                $0.add(tags.map(\.scope.number))
                $0.add(tags.map(\.name))
            }
        }
        if !contents.isEmpty {
            batch.add(Self.contentsByHash) {
                $0.add(shard)
                $0.add(contents)
            }
        }
        if !jobs.isEmpty {
            batch.add(JobChanges.known) {
                $0.add(shard)
                $0.add(jobs.map { Array($0.utf8) })
                $0.add(node)
            }
        }
        if !described.isEmpty {
            for statement in [JobChanges.tagNames, JobChanges.contents] {
                batch.add(statement) {
                    $0.add(shard)
                    $0.add(described.map { StoredForm.id($0) })
                }
            }
        }
        return batch
    }

    private var needsChannels: Bool { !takenHandles.isEmpty || !channels.isEmpty }

    /// Adds the rows that `batch` has read to a set.
    func fill(_ set: inout DeviceSet, from rows: [Rows]) {
        var rows = rows[...]
        func each(_ rows: Rows?, _ read: (Row) -> Void) {
            guard let rows else { return }
            for index in 0..<rows.count { read(rows[index]) }
        }
        if !ids.isEmpty {
            each(rows.popFirst()) { set.addRead(StoredRegistration($0)) }
            each(rows.popFirst()) { set.tombstones.insert(StoredForm.id($0.bytes(0))) }
        }
        if !installations.isEmpty {
            each(rows.popFirst()) { set.addRead(StoredRegistration($0)) }
            each(rows.popFirst()) { row in
                let installation = StoredInstallation(row)
                set.installations[row.text(0)] = DeviceSet.Change(old: installation, new: installation)
            }
        }
        if !handles.isEmpty {
            each(rows.popFirst()) { set.addRead(StoredChannel($0), key: handles[Int($0.integer(0)) - 1]) }
        }
        if needsChannels { each(rows.popFirst()) { set.addRead(StoredRegistration($0)) } }
        if !channels.isEmpty {
            each(rows.popFirst()) { row in
                let channel = StoredChannel(row)
                // The first rows are the requested channels. After them come the channels that already have the handle
                // of a move.
                let key = row.optionalInteger(0).map { moves[Int($0) - 1].key }
                set.addRead(channel, key: key.map { HandleKey(platform: channel.platform, key: $0) })
            }
        }
        if !tags.isEmpty { each(rows.popFirst()) { set.tags[tags[Int($0.integer(0)) - 1]] = $0.integer(1) } }
        if !contents.isEmpty {
            each(rows.popFirst()) { set.contents[contents[Int($0.integer(0)) - 1]] = $0.integer(1) }
        }
        set.tags.merge(knownTags) { read, _ in read }
        if !jobs.isEmpty {
            each(rows.popFirst()) { row in
                set.jobs[row.text(0)] = row.integer(2)
                set.isOwner = row.bool(1)
            }
        }
        set.node = node
        if !described.isEmpty {
            each(rows.popFirst()) { set.tagNames[$0.integer(0)] = $0.text(1) }
            each(rows.popFirst()) { set.describedContents[$0.integer(0)] = $0.bytes(1) }
            for (key, id) in set.tags { set.tagNames[id] = key.name }
            for (content, id) in set.contents { set.describedContents[id] = content }
        }
    }
}

// MARK: Statements

extension DeviceReads {
    static let byID = Statement.hot(
        [.int4, .bytesArray],
        """
        SELECT \(StoredRegistration.columns)
        FROM registrations r LEFT JOIN installations i ON i.shard = $1 AND i.sequence = r.installation
        WHERE r.shard = $1 AND r.id = ANY($2)
        """)

    static let byInstallation = Statement.hot(
        [.int4, .bytesArray],
        """
        SELECT \(StoredRegistration.columns)
        FROM installations i JOIN registrations r ON r.shard = $1 AND r.installation = i.sequence
        WHERE i.shard = $1 AND i.id = ANY($2)
        """)

    /// Finds the registrations of channels. The channels are given by the keys of their handles, by their numbers, and
    /// by the keys of the handles that other channels move to.
    static let byChannel = Statement.hot(
        [.int4, .bytesArray, .int8s, .int8s, .bytesArray],
        """
        WITH wanted AS MATERIALIZED (
            SELECT h.platform, h.channel FROM channels h
            WHERE h.shard = $1 AND h.hash = ANY(ARRAY(SELECT substr(sha256(k), 1, 16) FROM unnest($2) k))
            UNION SELECT h.platform, h.channel FROM channels h WHERE h.shard = $1 AND h.channel = ANY($3)
            UNION SELECT t.platform, t.channel
            FROM unnest($4, $5) m (channel, key) JOIN channels h ON h.shard = $1 AND h.channel = m.channel
                JOIN channels t ON t.shard = $1 AND t.hash = substr(sha256(int4send(h.platform) || m.key), 1, 16)
        )
        SELECT \(StoredRegistration.columns)
        FROM wanted w JOIN registrations r ON r.shard = $1 AND r.channel = w.channel
                AND r.scope = ANY(ARRAY[w.platform * 2, w.platform * 2 + 1])
            LEFT JOIN installations i ON i.shard = $1 AND i.sequence = r.installation
        """)

    static let channelsByKey = Statement.hot(
        [.int4, .bytesArray],
        """
        SELECT k.number, h.channel, h.platform, h.registered_at, h.is_suspected
        FROM unnest($2) WITH ORDINALITY k (key, number)
            JOIN channels h ON h.shard = $1 AND h.hash = substr(sha256(k.key), 1, 16)
        """)

    static let channelsByNumber = Statement.hot(
        [.int4, .int8s, .int8s, .bytesArray],
        """
        SELECT NULL::int8, h.channel, h.platform, h.registered_at, h.is_suspected
        FROM channels h WHERE h.shard = $1 AND h.channel = ANY($2)
        UNION ALL
        SELECT m.number, t.channel, t.platform, t.registered_at, t.is_suspected
        FROM unnest($3, $4) WITH ORDINALITY m (channel, key, number)
            JOIN channels h ON h.shard = $1 AND h.channel = m.channel
            JOIN channels t ON t.shard = $1 AND t.hash = substr(sha256(int4send(h.platform) || m.key), 1, 16)
        """)

    static let installationsByID = Statement.hot(
        [.int4, .bytesArray],
        """
        SELECT id, sequence, version, created_at, updated_at, expires_at, document, dead_slots
        FROM installations WHERE shard = $1 AND id = ANY($2)
        """)

    static let tombstones = Statement.hot(
        [.int4, .bytesArray], "SELECT id FROM tombstones WHERE shard = $1 AND id = ANY($2)")

    static let tagsByName = Statement.hot(
        [.int4, .int4s, .texts],
        """
        SELECT n.number, t.id FROM unnest($2, $3) WITH ORDINALITY n (scope, name, number)
            JOIN tags t ON t.shard = $1 AND t.scope = n.scope AND t.name = n.name
        """)

    static let contentsByHash = Statement.hot(
        [.int4, .bytesArray],
        """
        SELECT c.number, t.id FROM unnest($2) WITH ORDINALITY c (content, number)
            JOIN contents t ON t.shard = $1 AND t.hash = sha256(c.content)
        """)
}

extension StoredChannel {
    init(_ row: Row) {
        number = row.integer(1)
        platform = row.integer32(2)
        registeredAt = row.timestamp(3)
        isSuspected = row.bool(4)
        key = nil
    }
}

extension StoredInstallation {
    init(_ row: Row) {
        sequence = row.integer(1)
        version = row.integer(2)
        createdAt = row.timestamp(3)
        updatedAt = row.timestamp(4)
        expiresAt = row.optionalTimestamp(5)
        document = row.bytes(6)
        deadSlots = Set(row.texts(7))
    }
}
