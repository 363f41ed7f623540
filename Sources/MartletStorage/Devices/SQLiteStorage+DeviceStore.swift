public import MartletCore
public import MartletModel

extension SQLiteStorage: DeviceStore {
    public func apply(
        _ changes: [RegistrationChange], in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> [Result<Registration, RegistrationRefusal>] {
        if changes.contains(where: \.takesRoom) { try room.check() }
        return try await writer.write { connection throws(StorageError) in
            if changes.count == 1 { return [try RegistrationTable(connection).apply(changes[0], in: hub, at: now)] }
            return try RegistrationTable(connection, WriteCache()).apply(changes, in: hub, at: now)
        }
    }

    public func registration(
        _ id: String, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Registration? {
        try await readers.read { connection throws(StorageError) in
            let stored = try RegistrationTable(connection).find(id, in: hub)
            return stored.flatMap { $0.isExpired(at: now) ? nil : $0.registration }
        }
    }

    public func registrations(_ query: RegistrationQuery) async throws(StorageError) -> RegistrationPage {
        try await readers.read { connection throws(StorageError) in try RegistrationTable(connection).page(query) }
    }

    public func renderings(_ ids: [TemplateBinding.ID], in hub: Hub.ID) async throws(StorageError) -> [TemplateBinding]
    {
        try await readers.read { connection throws(StorageError) in
            let contents = ContentTable(connection)
            var found: [TemplateBinding] = []
            for id in ids {
                if let rendering = try contents.find(id, in: hub) { found.append(rendering) }
            }
            return found
        }
    }

    public func apply(
        _ feedback: [ChannelFeedback], in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Int {
        try await writer.write { connection throws(StorageError) in
            try RegistrationTable(connection).apply(feedback, in: hub, at: now)
        }
    }

    public func suspectedStale(
        of platform: PlatformID, in hub: Hub.ID, limit: Int
    ) async throws(StorageError) -> [ChannelID] {
        try await readers.read { connection throws(StorageError) in
            try ChannelTable(connection).suspectedStale(of: platform, in: hub, limit: limit)
        }
    }
}

extension RegistrationChange {
    /// True if the change needs disk space. A removal does not, so it is allowed even when free space is below the
    /// reserve of `DiskRoom`.
    fileprivate var takesRoom: Bool {
        switch self {
        case .put, .merge: true
        case .delete: false
        }
    }
}
