public import MartletCore

extension SQLiteStorage: CampaignStore {
    public func campaigns(
        in hub: Hub.ID, before id: Campaign.ID?, limit: Int
    ) async throws(StorageError) -> [Campaign] {
        try await readers.read { connection throws(StorageError) in
            try CampaignTable(connection).all(in: hub, before: id, limit: limit)
        }
    }

    public func campaign(_ id: Campaign.ID, in hub: Hub.ID) async throws(StorageError) -> Campaign? {
        try await readers.read { connection throws(StorageError) in
            try CampaignTable(connection).campaign(id, in: hub)
        }
    }

    public func addCampaign(_ text: CampaignText, in hub: Hub.ID) async throws(StorageError) -> Campaign? {
        try await takeIn { connection throws(StorageError) in try CampaignTable(connection).add(text, in: hub) }
    }

    public func change(
        _ id: Campaign.ID, in hub: Hub.ID, version: Int64, to text: CampaignText
    ) async throws(StorageError) -> CampaignChange {
        try await takeIn { connection throws(StorageError) in
            try CampaignTable(connection).change(id, in: hub, version: version, to: text)
        }
    }

    public func recordSend(
        _ send: NotificationID, of id: Campaign.ID, in hub: Hub.ID
    ) async throws(StorageError) -> CampaignChange {
        try await writer.write { connection throws(StorageError) in
            try CampaignTable(connection).recordSend(send, of: id, in: hub)
        }
    }

    public func removeCampaign(_ id: Campaign.ID, in hub: Hub.ID) async throws(StorageError) -> Bool {
        try await writer.write { connection throws(StorageError) in
            try CampaignTable(connection).remove(id, in: hub)
        }
    }
}
