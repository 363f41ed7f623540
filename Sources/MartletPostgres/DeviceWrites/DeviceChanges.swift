import MartletCore
import MartletModel

/// Writes the changes of a `DeviceSet` to the database, with one statement for each kind of change.
struct DeviceChanges {
    private let set: DeviceSet
    private let shard: Int32

    init(_ set: DeviceSet) {
        self.set = set
        shard = set.shard.number
    }

    /// The statements that write the changes; empty if nothing has changed.
    var batch: Batch {
        var batch = Batch()
        addNumbers(to: &batch)
        addChannels(to: &batch)
        addSpellings(to: &batch)
        addInstallations(to: &batch)
        addRegistrations(to: &batch)
        addMarks(to: &batch)
        addKeys(to: &batch)
        addRemovals(to: &batch)
        addHistory(to: &batch)
        if !set.progress.isEmpty, let node = set.node {
            batch.add(JobChanges.owned) {
                $0.add(shard)
                $0.add(node)
            }
        }
        for progress in set.progress.values { batch.append(JobChanges.storing(progress, in: set.shard)) }
        return batch
    }

    // MARK: Tags and contents

    private func addNumbers(to batch: inout Batch) {
        if !set.newTags.isEmpty {
            let tags = set.newTags.sorted { $0.value < $1.value }
            batch.add(Self.insertTags) {
                $0.add(shard)
                $0.add(tags.map(\.key.scope.number))
                $0.add(tags.map(\.key.name))
                $0.add(tags.map(\.value))
            }
        }
        if !set.newContents.isEmpty {
            let contents = set.newContents.sorted { $0.value < $1.value }
            batch.add(Self.insertContents) {
                $0.add(shard)
                $0.add(contents.map(\.value))
                $0.add(contents.map(\.key))
            }
        }
    }

    static let insertTags = Statement.hot(
        [.int4, .int4s, .texts, .int8s],
        """
        INSERT INTO tags (shard, scope, name, id) SELECT $1, n.scope, n.name, n.id FROM unnest($2, $3, $4) n (scope, name, id)
        """)

    static let insertContents = Statement.hot(
        [.int4, .int8s, .bytesArray],
        """
        INSERT INTO contents (shard, id, hash, content)
        SELECT $1, n.id, sha256(n.content), n.content FROM unnest($2, $3) n (id, content)
        """)

    // MARK: Channels

    private func addChannels(to batch: inout Batch) {
        let changes = set.channels.values.sorted { ($0.new?.number ?? 0) < ($1.new?.number ?? 0) }
        let new = changes.compactMap { change in change.old == nil ? change.new : nil }
        if !new.isEmpty {
            batch.add(Self.insertChannels) {
                $0.add(shard)
                $0.add(new.map { $0.key?.bytes ?? [] })
                $0.add(new.map(\.number))
                $0.add(new.map(\.platform))
            }
        }
        let moved = changes.compactMap { change in change.old != nil && change.new?.key != nil ? change.new : nil }
        if !moved.isEmpty {
            batch.add(Self.moveChannels) {
                $0.add(shard)
                $0.add(moved.map(\.number))
                $0.add(moved.map { $0.key?.bytes ?? [] })
            }
        }
        let marked = changes.compactMap { change in
            change.old.map { $0.isSuspected != change.new?.isSuspected } ?? false ? change.new : nil
        }
        if !marked.isEmpty {
            batch.add(Self.markChannels) {
                $0.add(shard)
                $0.add(marked.map(\.number))
                $0.add(marked.map(\.isSuspected))
            }
        }
    }

    static let insertChannels = Statement.hot(
        [.int4, .bytesArray, .int8s, .int4s],
        """
        INSERT INTO channels (shard, hash, channel, platform)
        SELECT $1, substr(sha256(n.key), 1, 16), n.channel, n.platform
        FROM unnest($2, $3, $4) n (key, channel, platform)
        """)

    static let moveChannels = Statement.hot(
        [.int4, .int8s, .bytesArray],
        """
        UPDATE channels c SET hash = substr(sha256(n.key), 1, 16) FROM unnest($2, $3) n (channel, key)
        WHERE c.shard = $1 AND c.channel = n.channel
        """)

    static let markChannels = Statement.hot(
        [.int4, .int8s, .bools],
        """
        UPDATE channels c SET is_suspected = n.is_suspected FROM unnest($2, $3) n (channel, is_suspected)
        WHERE c.shard = $1 AND c.channel = n.channel
        """)

    /// Writes the newest spelling of a handle to all registrations of its channel, also to those that the transaction
    /// has not read.
    private func addSpellings(to batch: inout Batch) {
        let spelled = set.spellings.filter { set.channels[$0.key]?.old != nil }.sorted { $0.key < $1.key }
        guard !spelled.isEmpty else { return }
        batch.add(Self.spell) {
            $0.add(shard)
            $0.add(spelled.map(\.value.platform))
            $0.add(spelled.map(\.key))
            $0.add(spelled.map { StoredForm.handle($0.value.handle) })
        }
    }

    static let spell = Statement.hot(
        [.int4, .int4s, .int8s, .bytesArray],
        """
        UPDATE registrations r SET handle = n.handle FROM unnest($2, $3, $4) n (platform, channel, handle)
        WHERE r.shard = $1 AND r.scope = ANY(ARRAY[n.platform * 2, n.platform * 2 + 1]) AND r.channel = n.channel
            AND r.handle <> n.handle
        """)

    // MARK: Installations

    private func addInstallations(to batch: inout Batch) {
        let changes = set.installations.sorted { $0.key < $1.key }
        let removed = changes.compactMap { change -> Int64? in
            guard let old = change.value.old, old.sequence != change.value.new?.sequence else { return nil }
            return old.sequence
        }
        if !removed.isEmpty {
            batch.add(Self.deleteInstallations) {
                $0.add(shard)
                $0.add(removed)
            }
        }
        let written = changes.filter { $0.value.new != nil && $0.value.new != $0.value.old }
        for (id, change) in written {
            guard let new = change.new else { continue }
            batch.add(change.old?.sequence == new.sequence ? Self.updateInstallation : Self.insertInstallation) {
                $0.add(shard)
                $0.add(new.sequence)
                $0.add(Array(id.utf8))
                $0.add(new.version)
                $0.add(new.createdAt)
                $0.add(new.updatedAt)
                $0.add(new.expiresAt)
                $0.add(new.document)
                $0.add(new.deadSlots.sorted().map { Array($0.utf8) })
            }
        }
        let closed = set.deadSlots.flatMap { sequence, slots in slots.map { (sequence, $0) } }
        if !closed.isEmpty {
            batch.add(Self.closeSlots) {
                $0.add(shard)
                $0.add(closed.map(\.0))
                $0.add(closed.map { Array($0.1.utf8) })
            }
        }
    }

    static let deleteInstallations = Statement.hot(
        [.int4, .int8s], "DELETE FROM installations WHERE shard = $1 AND sequence = ANY($2)")

    private static let installationTypes: [ParameterType] = [
        .int4, .int8, .bytes, .int8, .int8, .int8, .int8, .bytes, .bytesArray,
    ]

    static let insertInstallation = Statement.hot(
        installationTypes,
        """
        INSERT INTO installations (shard, sequence, id, version, created_at, updated_at, expires_at, document, dead_slots)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        """)

    static let updateInstallation = Statement.hot(
        installationTypes,
        """
        UPDATE installations SET version = $4, created_at = $5, updated_at = $6, expires_at = $7, document = $8,
            dead_slots = $9
        WHERE shard = $1 AND sequence = $2 AND id = $3
        """)

    static let closeSlots = Statement.hot(
        [.int4, .int8s, .bytesArray],
        """
        UPDATE installations i SET dead_slots = ARRAY(SELECT DISTINCT s FROM unnest(i.dead_slots || n.slots) s)
        FROM (SELECT m.sequence, array_agg(m.slot) AS slots FROM unnest($2, $3) m (sequence, slot) GROUP BY m.sequence) n
        WHERE i.shard = $1 AND i.sequence = n.sequence
        """)

    // MARK: Registrations

    private func addRegistrations(to batch: inout Batch) {
        let changes = set.registrations.sorted { $0.key < $1.key }.map(\.value)
        let removed = changes.compactMap { $0.new == nil ? $0.old?.sequence : nil }
        if !removed.isEmpty {
            for statement in [Self.deleteRegistrations, Self.deleteKeys] {
                batch.add(statement) {
                    $0.add(shard)
                    $0.add(removed)
                }
            }
        }
        var (repeated, changed, added) = ([StoredRegistration](), [StoredRegistration](), [StoredRegistration]())
        for change in changes {
            guard let new = change.new else { continue }
            if let old = change.old {
                if new == old { continue }
                if new.isRepetition(of: old) { repeated.append(new) } else { changed.append(new) }
            } else {
                added.append(new)
            }
        }
        if !repeated.isEmpty {
            batch.add(Self.repeatRegistrations) {
                $0.add(shard)
                $0.add(repeated.map(\.sequence))
                $0.add(repeated.map(\.version))
                $0.add(repeated.map(\.updatedAt.milliseconds))
            }
        }
        if !changed.isEmpty { batch.add(Self.updateRegistrations) { addColumns(of: changed, to: &$0) } }
        if !added.isEmpty { batch.add(Self.insertRegistrations) { addColumns(of: added, to: &$0) } }
    }

    private func addColumns(of registrations: [StoredRegistration], to parameters: inout Parameters) {
        parameters.add(shard)
        parameters.add(registrations.map(\.sequence))
        parameters.add(registrations.map(\.scope.number))
        parameters.add(registrations.map(\.channel))
        parameters.add(registrations.map { StoredForm.id($0.id) })
        parameters.add(registrations.map { StoredForm.handle($0.handle) })
        // PostgreSQL's arrays of arrays require inner arrays of equal length, so each list of tags is a text.
        parameters.add(registrations.map { "{\($0.tags.map { String($0) }.joined(separator: ","))}" })
        parameters.add(registrations.map(\.spelledTags))
        parameters.add(registrations.map(\.version))
        parameters.add(registrations.map(\.createdAt.milliseconds))
        parameters.add(registrations.map(\.updatedAt.milliseconds))
        parameters.add(registrations.map { $0.expiresAt?.milliseconds })
        parameters.add(registrations.map(\.template))
        parameters.add(registrations.map(\.variables))
        parameters.add(registrations.map { $0.secondaryTile.map { Array($0.utf8) } })
        parameters.add(registrations.map { $0.row?.installation })
        parameters.add(registrations.map { $0.row.map { Array($0.slot.utf8) } })
    }

    private static let registrationTypes: [ParameterType] = [
        .int4, .int8s, .int4s, .int8s, .bytesArray, .bytesArray, .texts, .texts, .int8s, .int8s, .int8s, .int8s, .int8s,
        .int8s, .bytesArray, .int8s, .bytesArray,
    ]

    private static let registrationValues = """
        unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) n (sequence, scope, channel, id,
            handle, tags, spelled_tags, version, created_at, updated_at, expires_at, template, variables, secondary_tile,
            installation, slot)
        """

    static let insertRegistrations = Statement.hot(
        registrationTypes,
        """
        INSERT INTO registrations (shard, sequence, scope, channel, id, handle, tags, spelled_tags, version, created_at,
            updated_at, expires_at, template, variables, secondary_tile, installation, slot)
        SELECT $1, n.sequence, n.scope, n.channel, n.id, n.handle, n.tags::int8[], n.spelled_tags, n.version,
            n.created_at, n.updated_at, n.expires_at, n.template, n.variables, n.secondary_tile, n.installation, n.slot
        FROM \(registrationValues)
        """)

    static let updateRegistrations = Statement.hot(
        registrationTypes,
        """
        UPDATE registrations r SET scope = n.scope, channel = n.channel, handle = n.handle, tags = n.tags::int8[],
            spelled_tags = n.spelled_tags, version = n.version, updated_at = n.updated_at, expires_at = n.expires_at,
            template = n.template, variables = n.variables, secondary_tile = n.secondary_tile,
            installation = n.installation, slot = n.slot
        FROM \(registrationValues)
        WHERE r.shard = $1 AND r.sequence = n.sequence
        """)

    static let repeatRegistrations = Statement.hot(
        [.int4, .int8s, .int8s, .int8s],
        """
        UPDATE registrations r SET version = n.version, updated_at = n.updated_at
        FROM unnest($2, $3, $4) n (sequence, version, updated_at)
        WHERE r.shard = $1 AND r.sequence = n.sequence
        """)

    static let deleteRegistrations = Statement.hot(
        [.int4, .int8s], "DELETE FROM registrations WHERE shard = $1 AND sequence = ANY($2)")

    static let deleteKeys = Statement.hot(
        [.int4, .int8s], "DELETE FROM device_keys WHERE shard = $1 AND registration = ANY($2)")

    // MARK: Packs

    /// Marks the channels of registrations that a pack has otherwise, or lacks.
    private func addMarks(to batch: inout Batch) {
        // If the first pack comes meanwhile, the statement that claims the numbers fails.
        guard set.ordinals.hasPacks else { return }
        var marked: Set<PackedChannel> = []
        for change in set.registrations.values {
            if let old = change.old, let new = change.new, !new.isPackedOtherwise(than: old) { continue }
            if let old = change.old { marked.insert(PackedChannel(scope: old.scope, channel: old.channel)) }
            if let new = change.new { marked.insert(PackedChannel(scope: new.scope, channel: new.channel)) }
        }
        for (channel, spelling) in set.spellings where set.channels[channel]?.old != nil {
            for kind in [AudienceQuery.Kind.native, .template] {
                let scope = Scope(platform: spelling.platform, kind)
                marked.insert(PackedChannel(scope: scope, channel: channel))
            }
        }
        guard !marked.isEmpty else { return }
        let sorted = marked.sorted { ($0.scope.number, $0.channel) < ($1.scope.number, $1.channel) }
        batch.add(PackStatements.mark) {
            $0.add(shard)
            $0.add(sorted.map(\.scope.number))
            $0.add(sorted.map(\.channel))
        }
    }

    private struct PackedChannel: Hashable {
        var scope: Scope
        var channel: Int64
    }

    // MARK: Device keys

    private func addKeys(to batch: inout Batch) {
        let alive = set.keys.filter { set.registrations[$0.key]?.new != nil }.sorted { $0.key < $1.key }
        let removed = alive.filter { $0.value == nil }.map(\.key)
        if !removed.isEmpty {
            batch.add(Self.deleteKeys) {
                $0.add(shard)
                $0.add(removed)
            }
        }
        let stored = alive.compactMap { sequence, key in key.map { (sequence, $0) } }
        guard !stored.isEmpty else { return }
        batch.add(Self.putKeys) {
            $0.add(shard)
            $0.add(stored.map(\.0))
            $0.add(stored.map(\.1.tag))
            $0.add(stored.map(\.1.key.publicKey))
            $0.add(stored.map(\.1.key.authSecret))
        }
    }

    static let putKeys = Statement.hot(
        [.int4, .int8s, .texts, .bytesArray, .bytesArray],
        """
        INSERT INTO device_keys (shard, registration, tag, public_key, auth_secret)
        SELECT $1, n.registration, n.tag, n.public_key, n.auth_secret
        FROM unnest($2, $3, $4, $5) n (registration, tag, public_key, auth_secret)
        ON CONFLICT (shard, registration) DO UPDATE
            SET tag = excluded.tag, public_key = excluded.public_key, auth_secret = excluded.auth_secret
        """)

    // MARK: What is left behind

    private func addRemovals(to batch: inout Batch) {
        if !set.newTombstones.isEmpty {
            let gone = set.newTombstones.sorted { $0.key < $1.key }
            batch.add(Self.insertTombstones) {
                $0.add(shard)
                $0.add(gone.map { StoredForm.id($0.key) })
                $0.add(gone.map(\.value.milliseconds))
            }
        }
        guard !set.leftChannels.isEmpty else { return }
        let left = set.leftChannels.sorted { $0.key < $1.key }
        batch.add(Self.removeUnused) {
            $0.add(shard)
            $0.add(left.map(\.key))
        }
        batch.add(Self.touchLeft) {
            $0.add(shard)
            $0.add(left.map(\.key))
            $0.add(left.map(\.value.milliseconds))
        }
    }

    static let insertTombstones = Statement.hot(
        [.int4, .bytesArray, .int8s],
        """
        INSERT INTO tombstones (shard, id, gone_at) SELECT $1, n.id, n.gone_at FROM unnest($2, $3) n (id, gone_at)
        ON CONFLICT (shard, id) DO UPDATE SET gone_at = excluded.gone_at
        """)

    /// Removes channels that have no registrations. The hashes of their handles are kept in `former_channels`, because
    /// a later channel with the same handle may belong to a device that was already sent to through the removed
    /// channel.
    static let removeUnused = Statement.hot(
        [.int4, .int8s],
        """
        WITH gone AS (
            DELETE FROM channels c WHERE c.shard = $1 AND c.channel = ANY($2) AND NOT EXISTS (
                SELECT 1 FROM registrations r WHERE r.shard = $1 AND r.channel = c.channel
                    AND r.scope = ANY(ARRAY[c.platform * 2, c.platform * 2 + 1]))
            RETURNING c.channel, c.hash
        )
        INSERT INTO former_channels (shard, channel, hash) SELECT $1, g.channel, g.hash FROM gone g
        """)

    static let touchLeft = Statement.hot(
        [.int4, .int8s, .int8s],
        """
        UPDATE channels c SET registered_at = n.registered_at FROM unnest($2, $3) n (channel, registered_at)
        WHERE c.shard = $1 AND c.channel = n.channel AND c.registered_at < n.registered_at
        """)

    private func addHistory(to batch: inout Batch) {
        guard !set.history.isEmpty else { return }
        let states = set.history.map(\.registration)
        batch.add(Self.insertHistory) {
            $0.add(shard)
            // The numbers are relative to the last number of this transaction. The row in `ordinals` contains that
            // number when this statement runs, because the transaction has locked and changed the row.
            $0.add(set.history.map { $0.change - set.ordinals.changes })
            $0.add(states.map(\.sequence))
            $0.add(states.map { StoredForm.id($0.id) })
            $0.add(states.map { $0.row.map { Array($0.id.utf8) } })
            $0.add(states.map(\.scope.platform))
            $0.add(states.map(\.channel))
            $0.add(states.map { StoredForm.handle($0.handle) })
            $0.add(states.map { "{\($0.tags.map { String($0) }.joined(separator: ","))}" })
            $0.add(states.map(\.spelledTags))
            $0.add(states.map(\.template))
            $0.add(states.map(\.variables))
            $0.add(states.map { $0.expiresAt?.milliseconds })
            $0.add(states.map(\.createdAt.milliseconds))
            $0.add(set.history.map(\.at.milliseconds))
            $0.add(set.history.map(\.cause.rawValue))
        }
    }

    static let insertHistory = Statement.hot(
        [
            .int4, .int8s, .int8s, .bytesArray, .bytesArray, .int4s, .int8s, .bytesArray, .texts, .texts, .int8s,
            .int8s,
            .int8s, .int8s, .int8s, .texts,
        ],
        """
        INSERT INTO registration_history (shard, change, sequence, id, installation, platform, channel, handle, tags,
            spelled_tags, template, variables, expires_at, created_at, ended_at, cause)
        SELECT $1, o.changes + n.change, n.sequence, n.id, n.installation, n.platform, n.channel, n.handle, n.tags::int8[],
            n.spelled_tags, n.template, n.variables, n.expires_at, n.created_at, n.ended_at, n.cause
        FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) n (change, sequence, id,
            installation, platform, channel, handle, tags, spelled_tags, template, variables, expires_at, created_at,
            ended_at, cause)
            JOIN ordinals o ON o.shard = $1
        """)
}
