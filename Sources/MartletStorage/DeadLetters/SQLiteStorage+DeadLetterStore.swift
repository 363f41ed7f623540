public import MartletCore

extension SQLiteStorage: DeadLetterStore {
    public func resend(_ draft: ResendDraft) async throws(StorageError) -> ResendAcceptance {
        try await takeIn { connection throws(StorageError) in try ResendTable(connection).accept(draft) }
    }

    public func resends(of id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> [ResendRecord] {
        try await readers.read { connection throws(StorageError) in
            try ResendTable(connection).resends(of: id, in: hub)
        }
    }

    public func latestRefused(
        in hub: Hub.ID, before id: NotificationID?, limit: Int
    ) async throws(StorageError) -> [NotificationID] {
        try await readers.read { connection throws(StorageError) in
            try RefusalTable(connection).latest(in: hub, before: id, limit: limit)
        }
    }

    public func refusalReasons(
        of id: NotificationID, in hub: Hub.ID, lookLimit: Int, limit: Int
    ) async throws(StorageError) -> RefusalReasons {
        try await readers.read(.many) { connection throws(StorageError) in
            try RefusalTable(connection).reasons(of: id, in: hub, lookLimit: lookLimit, limit: limit)
        }
    }

    public func resendMembers(
        of delivery: Delivery, after last: AudienceMember, limit: Int
    ) async throws(StorageError) -> ResendPage {
        try await readers.read { connection throws(StorageError) in
            try ResendTable(connection).members(of: delivery, after: last, limit: limit)
        }
    }
}
