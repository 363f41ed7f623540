public import MartletCore
import MartletModel
import Synchronization

extension MemoryStorage: FunnelStore {
    public func funnelEvidence(
        of id: NotificationID, in hub: Hub.ID
    ) async throws(StorageError) -> FunnelEvidence {
        state.withLock { state in
            guard state.index(of: id, in: hub) != nil else { return FunnelEvidence() }
            var platforms: [PlatformID: FunnelEvidence.PlatformCounts] = [:]
            var received: [PlatformID: Set<String>] = [:]
            for (key, platform) in state.receiptPlatforms where key.hub == hub {
                platforms[platform, default: FunnelEvidence.PlatformCounts()].reported.insert(key.event)
                guard key.subject == .notification(id) else { continue }
                received[platform, default: []].insert(key.device)
                if key.event == .opened { platforms[platform, default: FunnelEvidence.PlatformCounts()].opened += 1 }
            }
            for (platform, devices) in received { platforms[platform]?.received = devices.count }
            for entry in state.deliveries where entry.progress.delivery.notification.id == id {
                let failed = entry.refused.values.count { refusal in
                    let wasTried = refusal.attempts > 0 || entry.attempts.contains { $0.member == refusal.member }
                    return refusal.answer != nil || refusal.handle == nil || refusal.outcome == .abandoned && wasTried
                }
                let platform = entry.progress.delivery.platform
                platforms[platform, default: FunnelEvidence.PlatformCounts()].failed += failed
                platforms[platform, default: FunnelEvidence.PlatformCounts()].stopped += entry.stopped
            }
            return FunnelEvidence(platforms: platforms)
        }
    }
}

extension MemoryDelivery {
    /// The number of members that were tried without success and have neither a refusal nor a retry. A member whose
    /// attempts were all superseded does not count.
    fileprivate var stopped: Int {
        Dictionary(grouping: attempts, by: \.member).count { member, attempts in
            refused[member] == nil && retries[member] == nil
                && !attempts.contains { $0.outcome == .success }
                && attempts.contains { $0.outcome != .superseded }
        }
    }
}
