public import MartletCore
import MartletModel
import Synchronization

extension MemoryStorage: FunnelStore {
    public func funnelEvidence(
        of id: NotificationID, in hub: Hub.ID
    ) async throws(StorageError) -> FunnelEvidence {
        state.withLock { state in
            guard state.place(of: id, in: hub) != nil else { return FunnelEvidence() }
            var parts: [PlatformID: FunnelEvidence.Part] = [:]
            var received: [PlatformID: Set<String>] = [:]
            for (key, platform) in state.receiptPlatforms where key.hub == hub {
                parts[platform, default: FunnelEvidence.Part()].reported.insert(key.event)
                guard key.subject == .notification(id) else { continue }
                received[platform, default: []].insert(key.device)
                if key.event == .opened { parts[platform, default: FunnelEvidence.Part()].opened += 1 }
            }
            for (platform, devices) in received { parts[platform]?.received = devices.count }
            for entry in state.deliveries where entry.progress.delivery.notification.id == id {
                let failed = entry.refused.values.count {
                    $0.answer != nil || $0.handle == nil || $0.outcome == .abandoned
                }
                parts[entry.progress.delivery.platform, default: FunnelEvidence.Part()].failed = failed
            }
            return FunnelEvidence(parts: parts)
        }
    }
}
