public import MartletCore
public import MartletModel

// What is told about sends is in the cluster of their hub.

extension ClusteredStorage: FunnelStore {
    public func funnelEvidence(of id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> FunnelEvidence {
        try await storage(of: hub).funnelEvidence(of: id, in: hub)
    }
}

extension ClusteredStorage: TraceStore {
    public func past(of device: String, in hub: Hub.ID) async throws(StorageError) -> RegistrationPast {
        try await storage(of: hub).past(of: device, in: hub)
    }

    public func traced(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> TracedNotification? {
        try await storage(of: hub).traced(id, in: hub)
    }

    public func evidence(
        of members: [AudienceMember], in delivery: Delivery.ID
    ) async throws(StorageError) -> DeliveryEvidence? {
        try await storage(of: delivery).evidence(of: members, in: delivery)
    }

    public func receipts(
        of notification: NotificationID, from device: String, in hub: Hub.ID
    ) async throws(StorageError) -> [DeviceReceipt] {
        try await storage(of: hub).receipts(of: notification, from: device, in: hub)
    }
}

extension ClusteredStorage: SendListStore {
    public func sends(_ query: SendQuery) async throws(StorageError) -> SendPage {
        try await storage(of: query.hub).sends(query)
    }

    public func send(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> SendEntry? {
        try await storage(of: hub).send(id, in: hub)
    }

    public func sendTargets(in hub: Hub.ID, before: Int64?, window: Int64) async throws(StorageError) -> SendTargets {
        try await storage(of: hub).sendTargets(in: hub, before: before, window: window)
    }

    public func formerRegistrations(
        with tag: Tag, in hub: Hub.ID, before: Int64?, window: Int64
    ) async throws(StorageError) -> FormerRegistrations {
        try await storage(of: hub).formerRegistrations(with: tag, in: hub, before: before, window: window)
    }

    public func tagNames(
        beginningWith prefix: String, after last: String?, in hub: Hub.ID, limit: Int
    ) async throws(StorageError) -> [String] {
        try await storage(of: hub).tagNames(beginningWith: prefix, after: last, in: hub, limit: limit)
    }

    public func tagPrefixes(in hub: Hub.ID, steps: Int) async throws(StorageError) -> TagPrefixes {
        try await storage(of: hub).tagPrefixes(in: hub, steps: steps)
    }
}

extension ClusteredStorage: ReceiptStore {
}
