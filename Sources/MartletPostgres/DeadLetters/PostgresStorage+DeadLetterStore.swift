public import MartletCore
import MartletModel

extension PostgresStorage: DeadLetterStore {
    public func resend(_ draft: ResendDraft) async throws(StorageError) -> ResendAcceptance {
        // The original can be of any platform. The transaction cannot read the table of platforms, so the cache is
        // filled beforehand.
        _ = try await allPlatforms()
        return try await write(Shard(draft.hub), elsewhere: .resend) {
            [cache] session throws(StorageError) in
            try ResendTable(session, cache).accept(draft)
        }
    }

    public func resends(of id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> [ResendRecord] {
        try await read(Shard(hub)) { [cache] session throws(StorageError) in
            try ResendTable(session, cache).resends(of: id)
        }
    }

    public func resendMembers(
        of delivery: Delivery, after last: AudienceMember, limit: Int
    ) async throws(StorageError) -> ResendPage {
        try await read(Shard(ofComposed: delivery.id.rawValue), isConsistent: true) {
            [cache] session throws(StorageError) in
            try ResendTable(session, cache).members(of: delivery, after: last, limit: limit)
        }
    }

    public func latestRefused(
        in hub: Hub.ID, before id: NotificationID?, limit: Int
    ) async throws(StorageError) -> [NotificationID] {
        try await read(Shard(hub)) { session throws(StorageError) in
            try RefusalTable(session).latest(before: id, limit: limit)
        }
    }

    public func refusalReasons(
        of id: NotificationID, in hub: Hub.ID, lookLimit: Int, limit: Int
    ) async throws(StorageError) -> RefusalReasons {
        try await read(Shard(hub), isConsistent: true) { session throws(StorageError) in
            try RefusalTable(session).reasons(of: id, lookLimit: lookLimit, limit: limit)
        }
    }
}
