import MartletCore
import MartletModel

/// Writes registrations with their channels, tags and contents, and finds them by id, channel or installation, on one
/// connection.
struct RegistrationTable {
    let connection: Connection
    let channels: ChannelTable
    let tags: TagTable
    let contents: ContentTable
    let history: HistoryTable
    private let memory: WriteCache?

    /// - Parameter memory: A cache for a call with several changes in one hub; nil for a single change, which is
    ///   cheaper without a cache.
    init(_ connection: Connection, _ memory: WriteCache? = nil) {
        self.connection = connection
        self.memory = memory
        channels = ChannelTable(connection)
        tags = TagTable(connection, memory)
        contents = ContentTable(connection)
        history = HistoryTable(connection)
    }

    func apply(
        _ change: RegistrationChange, in hub: Hub.ID, at now: Timestamp
    ) throws(StorageError) -> Result<Registration, RegistrationRefusal> {
        switch change {
        case .merge(let merge): return try InstallationTable(connection, memory).apply(merge, in: hub, at: now)
        case .put(let draft, let id, let condition):
            let stored = condition == .fresh ? nil : try find(id, in: hub)
            if let refusal = try refusal(of: condition, stored, id, hub, now, creates: true) {
                return .failure(refusal)
            }
            if let row = stored?.row { try leave(row, sequence: stored?.sequence) }
            let channel = try channel(of: draft, over: stored, in: hub, at: now)
            return .success(try write(draft, id: id, channel, over: stored, in: hub, at: now).registration)
        case .delete(let id, let condition):
            let stored = try find(id, in: hub)
            if let refusal = try refusal(of: condition, stored, id, hub, now, creates: false) {
                return .failure(refusal)
            }
            guard let stored else { return .failure(.notFound) }
            try remove(stored, .deleted, at: now)
            return .success(stored.registration)
        }
    }

    /// Returns the channel of a draft. Most writes repeat the stored handle; then the stored registration names the
    /// channel, and the handle need not be looked up.
    private func channel(
        of draft: RegistrationDraft, over old: StoredRegistration?, in hub: Hub.ID, at now: Timestamp
    ) throws(StorageError) -> ChannelID {
        if let old, old.registration.platform == draft.platform, old.registration.handle == draft.handle,
            try channels.renew(old.index.channel, at: now)
        {
            return old.index.channel
        }
        return try channels.register(draft, in: hub, at: now)
    }

    /// Returns the reason why a write or a removal is refused; nil if it is allowed.
    /// - Parameter creates: Whether the call creates the registration if it does not exist.
    private func refusal(
        of condition: WriteCondition, _ stored: StoredRegistration?, _ id: String, _ hub: Hub.ID, _ now: Timestamp,
        creates: Bool
    ) throws(StorageError) -> RegistrationRefusal? {
        guard let stored else {
            if condition != .fresh, try isGone(id, in: hub) { return .gone }
            guard creates, try exists(hub) else { return .notFound }
            switch condition {
            case .none, .absent, .fresh, .tagged: return nil
            case .exists, .version: return .notFound
            }
        }
        guard !stored.isExpired(at: now) else { return .gone }
        return switch condition {
        case .none, .exists: nil
        case .absent, .fresh: .versionMismatch
        case .version(let version): version == stored.registration.version ? nil : .versionMismatch
        case .tagged(let tag): stored.registration.tags.contains(tag) ? nil : .notTagged
        }
    }

    func find(_ id: String, in hub: Hub.ID) throws(StorageError) -> StoredRegistration? {
        try connection.first(
            Self.selectionByID, hub.rawValue, StoredID(id), read: StoredRegistration.init)
    }

    /// The query for a registration by its id. The text is built only once, because every write runs this query.
    private static let selectionByID = "\(StoredRegistration.selection) WHERE r.hub = ? AND r.id = ?"

    func registrations(of channel: ChannelID) throws(StorageError) -> [StoredRegistration] {
        try connection.all(
            "\(StoredRegistration.selection) WHERE r.channel = ?", channel.rawValue, read: StoredRegistration.init)
    }

    /// Returns the registrations of an installation.
    /// - Parameter sequence: The sequence number of the installation.
    func registrations(ofInstallation sequence: Int64) throws(StorageError) -> [StoredRegistration] {
        try connection.all(
            "\(StoredRegistration.selection) WHERE r.installation = ?", sequence, read: StoredRegistration.init)
    }

    /// Takes a registration out of its installation, where its slot becomes a dead slot. The registration itself stays.
    private func leave(_ row: InstallationReference, sequence: Int64?) throws(StorageError) {
        try connection.run("UPDATE registrations SET installation = NULL, slot = NULL WHERE sequence = ?", sequence)
        try recordClosed(row)
    }

    /// Records that a slot of an installation is dead: no registration has it until the installation is written again.
    func recordClosed(_ row: InstallationReference) throws(StorageError) {
        try connection.run(
            "INSERT OR IGNORE INTO dead_slots (installation, slot) VALUES (?, ?)", row.installation, row.slot)
    }

    func isGone(_ id: String, in hub: Hub.ID) throws(StorageError) -> Bool {
        try connection.first(
            "SELECT 1 FROM tombstones WHERE hub = ? AND id = ?", hub.rawValue, StoredID(id)
        ) { _ in true } ?? false
    }

    func exists(_ hub: Hub.ID) throws(StorageError) -> Bool {
        if let memory, memory.hubExists { return true }
        let exists = try HubTable.exists(hub, on: connection)
        memory?.hubExists = exists
        return exists
    }
}
