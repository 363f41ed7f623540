public import MartletCore
public import MartletModel

extension SQLiteStorage: SendListStore {
    public func sends(_ query: SendQuery) async throws(StorageError) -> SendPage {
        try await readers.read { connection throws(StorageError) in try SendListTable(connection).page(query) }
    }

    public func send(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> SendEntry? {
        try await readers.read { connection throws(StorageError) in try NotificationTable(connection).entry(id, in: hub)
        }
    }

    public func sendTargets(
        in hub: Hub.ID, before: Int64?, window: Int64
    ) async throws(StorageError) -> SendTargets {
        try await readers.read { connection throws(StorageError) in
            try SendListTable(connection).targets(in: hub, before: before, window: window)
        }
    }

    public func formerRegistrations(
        with tag: Tag, in hub: Hub.ID, before: Int64?, window: Int64
    ) async throws(StorageError) -> FormerRegistrations {
        try await readers.read { connection throws(StorageError) in
            try HistoryTable(connection).former(with: tag, in: hub, before: before, window: window)
        }
    }

    public func tagNames(
        beginningWith prefix: String, after last: String?, in hub: Hub.ID, limit: Int
    ) async throws(StorageError) -> [String] {
        try await readers.read { connection throws(StorageError) in
            try SendListTable(connection).tagNames(beginningWith: prefix, after: last, in: hub, limit: limit)
        }
    }

    public func tagPrefixes(in hub: Hub.ID, steps: Int) async throws(StorageError) -> TagPrefixes {
        try await readers.read { connection throws(StorageError) in
            try SendListTable(connection).tagPrefixes(in: hub, steps: steps)
        }
    }
}
