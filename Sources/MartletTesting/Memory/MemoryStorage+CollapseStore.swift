public import MartletCore
import MartletModel
import Synchronization

extension MemoryStorage: CollapseStore {
    public func superseded(_ query: CollapseQuery) async throws(StorageError) -> Superseded {
        state.withLock { state in
            let later = state.deliveries.filter { !$0.supersedesNobody }.map(\.progress).filter { progress in
                let delivery = progress.delivery
                return delivery.id > query.delivery && delivery.notification.hub == query.hub
                    && delivery.platform == query.platform && delivery.notification.collapse?.key == query.key
                    && delivery.notification.resend == nil
            }
            let newest = state.devices(of: query).map { channel, key in
                later.last { state.isFor($0.delivery, channel, key: key, at: query.now) }
            }
            let last = newest.compactMap(\.self).max { $0.delivery.id < $1.delivery.id }
            return Superseded(
                devices: newest.indices.filter { newest[$0] != nil },
                newest: last.flatMap { $0.state.isFinal ? nil : $0.delivery.id })
        }
    }
}

extension MemoryState {
    /// Each device by all that is known of it.
    fileprivate func devices(of query: CollapseQuery) -> [(channel: ChannelID?, key: String?)] {
        switch query.devices {
        case .channels(let ids):
            return ids.map { id in (id, channels.first { $0.id == id }?.key) }
        case .handleKeys(let keys):
            return keys.map { key in
                let channel = channels.first {
                    $0.key == key && $0.hub == query.hub && $0.platform == query.platform
                }
                return (channel?.id, key)
            }
        }
    }

    fileprivate func isFor(_ delivery: Delivery, _ channel: ChannelID?, key: String?, at now: Timestamp) -> Bool {
        switch delivery.notification.target {
        case .direct: key.map { delivery.notification.collapse?.handleKeys.contains($0) ?? false } ?? false
        case .audience(let expression):
            registrations.contains { entry in
                entry.channel == channel && entry.channel <= delivery.bounds.channel && entry.isLive(at: now)
                    && entry.registration.template == nil
                    && expression?.matches(Set(entry.registration.tags)) ?? true
            }
        }
    }
}
