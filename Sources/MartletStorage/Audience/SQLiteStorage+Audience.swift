public import MartletCore
public import MartletModel

extension SQLiteStorage {
    public func audience(_ query: AudienceQuery) async throws(StorageError) -> AudiencePage {
        try await readers.read(query.limit > 100 ? .many : .few) { connection throws(StorageError) in
            try AudienceReader(connection).page(query)
        }
    }

    public func audienceCount(_ query: AudienceCountQuery) async throws(StorageError) -> AudienceCount {
        var progress = AudienceCounter.Progress(query)
        while !progress.isDone {
            progress = try await readers.read(.many) { [progress] connection throws(StorageError) in
                var progress = progress
                try AudienceCounter(connection).advance(&progress)
                return progress
            }
        }
        return progress.count
    }

    public func tags(
        beginningWith prefix: String, in hub: Hub.ID, limit: Int
    ) async throws(StorageError) -> [Tag] {
        let names = try await readers.read { connection throws(StorageError) in
            try TagTable(connection).names(beginningWith: prefix, hub: hub, limit: limit)
        }
        return names.compactMap { try? Tag($0) }
    }

    public func tags(beginningWith prefix: String, of query: AudienceQuery) async throws(StorageError) -> TagPage {
        try await readers.read { connection throws(StorageError) in
            try AudienceTags(connection).page(beginningWith: prefix, of: query)
        }
    }
}
