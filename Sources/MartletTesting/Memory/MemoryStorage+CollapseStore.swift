public import MartletCore
import MartletModel
import Synchronization

extension MemoryStorage: CollapseStore {
    public func superseded(_ query: CollapseQuery) async throws(StorageError) -> [Int] {
        state.withLock { state in
            let later = state.deliveries.filter { !$0.supersedesNobody }.map(\.progress.delivery).filter { delivery in
                delivery.id > query.delivery && delivery.notification.hub == query.hub
                    && delivery.platform == query.platform && delivery.notification.collapse?.key == query.key
                    && delivery.notification.resend == nil
            }
            switch query.devices {
            case .channels(let channels):
                return channels.indices.filter { place in
                    let key = state.channels.first { $0.id == channels[place] }?.key
                    return later.contains { state.isFor($0, channels[place], key: key, at: query.now) }
                }
            case .handleKeys(let keys):
                return keys.indices.filter { place in
                    let channel = state.channels.first {
                        $0.key == keys[place] && $0.hub == query.hub && $0.platform == query.platform
                    }
                    return later.contains { state.isFor($0, channel?.id, key: keys[place], at: query.now) }
                }
            }
        }
    }
}

extension MemoryState {
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
