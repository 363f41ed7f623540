import MartletCore
import MartletModel

/// Stores and reads channels, on one connection.
struct ChannelTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    func id(ofKey key: String, hub: Hub.ID, platform: PlatformID) throws(StorageError) -> ChannelID? {
        try connection.first(Self.selectionByKey, hub.rawValue, platform.rawValue, StoredHandle(key)) {
            ChannelID(rawValue: $0.integer(0))
        }
    }

    private static let selectionByKey = "SELECT id FROM channels WHERE hub = ? AND platform = ? AND key = ?"

    /// Returns the channel of a draft's handle. Makes the channel if it is missing; otherwise stores the current
    /// spelling of the handle, and ends the suspicion that the device is stale.
    ///
    /// This uses two statements, because SQLite makes a table in memory each time it runs a statement with RETURNING.
    func register(_ draft: RegistrationDraft, in hub: Hub.ID, at now: Timestamp) throws(StorageError) -> ChannelID {
        guard let id = try id(ofKey: draft.handleKey, hub: hub, platform: draft.platform) else {
            try connection.run(
                Self.insertionOfOne, hub.rawValue, draft.platform.rawValue,
                StoredHandle(draft.handleKey), Self.spelled(draft), now)
            return ChannelID(rawValue: connection.lastInsertedRow)
        }
        try update(id, to: draft, at: now)
        return id
    }

    /// Returns the channels of several drafts, in the order of the drafts. Does the same for each draft as `register`
    /// for one draft, but inserts all new channels together.
    func register(
        _ drafts: [RegistrationDraft], in hub: Hub.ID, at now: Timestamp
    ) throws(StorageError) -> [ChannelID] {
        var (stored, new): ([ChannelID?], [RegistrationDraft]) = ([], [])
        // If several drafts belong to the same new channel, the spelling in the last of them is kept.
        var places: [ChannelKey: Int] = [:]
        var placesOfDrafts: [Int] = []
        let statement = try connection.take(Self.selectionByKey)
        defer { connection.giveBack(statement) }
        try statement.bind(hub.rawValue, at: 1)
        for draft in drafts {
            let key = ChannelKey(platform: draft.platform, key: draft.handleKey)
            let place = places[key]
            let id = place == nil ? try find(key, by: statement) : nil
            stored.append(id)
            placesOfDrafts.append(place ?? new.count)
            if let place {
                new[place] = draft
            } else if let id {
                try update(id, to: draft, at: now)
            } else {
                places[key] = new.count
                new.append(draft)
            }
        }
        let first = try insert(new, in: hub, at: now)
        return zip(stored, placesOfDrafts).map { $0 ?? ChannelID(rawValue: first + Int64($1)) }
    }

    private func find(_ key: ChannelKey, by statement: Statement) throws(StorageError) -> ChannelID? {
        try statement.bind(key.platform.rawValue, at: 2)
        try statement.bind(StoredHandle(key.key), at: 3)
        defer { statement.reset() }
        return try statement.step() ? ChannelID(rawValue: statement.integer(0)) : nil
    }

    /// Inserts new channels.
    /// - Returns: The number of the first channel; the other channels have the numbers that follow.
    private func insert(
        _ drafts: [RegistrationDraft], in hub: Hub.ID, at now: Timestamp
    ) throws(StorageError) -> Int64 {
        try connection.insert(Self.insertion, columns: 5, drafts) { draft, statement, first throws(StorageError) in
            try statement.bind(hub.rawValue, at: first)
            try statement.bind(draft.platform.rawValue, at: first + 1)
            try statement.bind(StoredHandle(draft.handleKey), at: first + 2)
            try statement.bind(Self.spelled(draft), at: first + 3)
            try statement.bind(now, at: first + 4)
        }
        return connection.lastInsertedRow - Int64(drafts.count) + 1
    }

    private static let insertion = "INSERT INTO channels (hub, platform, key, handle, registered_at)"
    private static let insertionOfOne = "\(insertion) VALUES (?, ?, ?, ?, ?)"

    private func update(_ id: ChannelID, to draft: RegistrationDraft, at now: Timestamp) throws(StorageError) {
        try connection.run(
            "UPDATE channels SET handle = ?, registered_at = ?, is_suspected = NULL WHERE id = ?", Self.spelled(draft),
            now, id.rawValue)
    }

    /// Returns the handle as the draft spells it; nil if this spelling is equal to the key of the handle.
    private static func spelled(_ draft: RegistrationDraft) -> StoredHandle? {
        draft.handle.text == draft.handleKey ? nil : StoredHandle(draft.handle.text)
    }

    /// Records that a channel was registered again with the same handle.
    /// - Returns: False if the channel does not exist or is suspected to be stale; then nothing is recorded.
    func renew(_ channel: ChannelID, at now: Timestamp) throws(StorageError) -> Bool {
        try connection.run(
            "UPDATE channels SET registered_at = ? WHERE id = ? AND is_suspected IS NULL", now, channel.rawValue)
        return connection.changes == 1
    }

    func setHandle(_ handle: PushHandle, key: String, of channel: ChannelID) throws(StorageError) {
        let spelled = handle.text == key ? nil : StoredHandle(handle.text)
        try connection.run(
            "UPDATE channels SET key = ?, handle = ?, is_suspected = NULL WHERE id = ?", StoredHandle(key), spelled,
            channel.rawValue)
    }

    func setSuspected(_ isSuspected: Bool, _ channel: ChannelID) throws(StorageError) {
        let value: Int64? = isSuspected ? 1 : nil
        try connection.run(
            "UPDATE channels SET is_suspected = ?1 WHERE id = ?2 AND is_suspected IS NOT ?1", value, channel.rawValue)
    }

    func suspectedStale(of platform: PlatformID, in hub: Hub.ID, limit: Int) throws(StorageError) -> [ChannelID] {
        try connection.all(
            """
            SELECT id FROM channels WHERE hub = ? AND platform = ? AND is_suspected IS NOT NULL ORDER BY id LIMIT ?
            """, hub.rawValue, platform.rawValue, limit
        ) { ChannelID(rawValue: $0.integer(0)) }
    }

    /// The SQL query that finds a channel of a hub, and returns its platform and the time of its last registration.
    static let finding = "SELECT platform, registered_at FROM channels WHERE id = ? AND hub = ?"

    /// Records as kept the handles of a step that were registered again (`DeliveryStep.keepRenewedHandles`).
    func keepRenewedHandles(of step: inout DeliveryStep) throws(StorageError) {
        let statement = try connection.take("SELECT registered_at FROM channels WHERE id = ?")
        defer { connection.giveBack(statement) }
        try step.keepRenewedHandles { channel throws(StorageError) in
            try statement.bind(channel.rawValue, at: 1)
            defer { statement.reset() }
            return try statement.step() ? statement.timestamp(0) : nil
        }
    }

    /// Returns the highest channel of all hubs; `.none` if there are no channels.
    func last() throws(StorageError) -> ChannelID {
        try connection.first("SELECT id FROM channels ORDER BY id DESC LIMIT 1") { ChannelID(rawValue: $0.integer(0)) }
            ?? .none
    }

    /// Removes a channel if it has no registrations. The end of its key is kept in `former_channels`, because a later
    /// channel with the same handle may belong to a device that was already sent to through the removed channel.
    /// - Returns: Whether the channel was removed.
    @discardableResult
    func removeIfUnused(_ channel: ChannelID) throws(StorageError) -> Bool {
        try connection.run(
            """
            INSERT INTO former_channels (id, hub, platform, ending)
            SELECT id, hub, platform, \(Self.ending) FROM channels
            WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM registrations WHERE channel = ?1)
            """, channel.rawValue)
        guard connection.changes == 1 else { return false }
        try connection.run("DELETE FROM channels WHERE id = ?", channel.rawValue)
        return true
    }

    /// The SQL query for the values of a channel that `former_channels` and the history keep when the channel is
    /// removed: its platform, its handle and the end of its key.
    static let remembered = "SELECT platform, ifnull(handle, key), \(ending) FROM channels WHERE id = ?"

    /// The SQL expression for the end of a channel's key. The end is enough to recognize the same handle later.
    private static let ending = "substr(key, -32)"

    /// Returns a channel, and all removed channels of its hub and platform that had the same handle.
    func ofSameHandle(as channel: ChannelID) throws(StorageError) -> [ChannelID] {
        [channel]
            + (try connection.all(
                """
                SELECT f.id FROM former_channels f
                    JOIN (SELECT hub, platform, \(Self.ending) AS ending FROM channels WHERE id = ?) c
                    ON (f.hub, f.platform, f.ending) = (c.hub, c.platform, c.ending)
                """, channel.rawValue
            ) { ChannelID(rawValue: $0.integer(0)) })
    }
}

/// The values that identify a channel within a hub.
private struct ChannelKey: Hashable {
    var platform: PlatformID
    var key: String
}
