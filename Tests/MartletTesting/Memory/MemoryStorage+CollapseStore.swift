public import MartletCore
import MartletModel
import Synchronization

extension MemoryStorage: CollapseStore {
    public func superseded(_ query: CollapseQuery) async throws(StorageError) -> Superseded {
        let superseded = find(query)
        await beInterrupted()
        return superseded
    }

    private func find(_ query: CollapseQuery) -> Superseded {
        state.withLock { state in
            let later = state.deliveries.filter { !$0.supersedesNone }.map(\.progress).filter { progress in
                let delivery = progress.delivery
                return delivery.id > query.delivery && delivery.notification.hub == query.hub
                    && delivery.platform == query.platform
                    && delivery.notification.collapse?.key(on: query.platform) == query.key
                    && delivery.notification.resend == nil && delivery.part?.lead == nil
            }
            let newest = state.devices(of: query).enumerated().map { index, device in
                later.last { progress in
                    if state.isFor(progress.delivery, device.channel, key: device.key, at: query.now) { return true }
                    guard case .followed(let registrations) = query.devices else { return false }
                    return state.isFor(progress.delivery, registrations[index], at: query.now)
                }
            }
            let last = newest.compactMap(\.self).max { $0.delivery.id < $1.delivery.id }
            let unsent = Set(newest.compactMap(\.self).filter { state.isUnsent($0, at: query.now) }.map(\.delivery.id))
            return Superseded(
                devices: newest.indices.filter { newest[$0] != nil },
                newest: last.flatMap { $0.state.isFinal ? nil : $0.delivery.id }, unsent: unsent.sorted())
        }
    }

    public func supersedeNothing(_ delivery: Delivery.ID, in hub: Hub.ID) async throws(StorageError) {
        state.withLock { state in
            guard let index = state.deliveries.firstIndex(where: { $0.progress.delivery.id == delivery }) else {
                return
            }
            state.deliveries[index].supersedesNone = true
        }
    }
}

extension MemoryState {
    /// Returns whether a delivery is canceled or expired, but not finished, and no page of it is recorded.
    fileprivate func isUnsent(_ progress: DeliveryProgress, at now: Timestamp) -> Bool {
        guard !progress.state.isFinal, progress.cursor == .none, !progress.isFannedOut else { return false }
        let sequence = progress.delivery.notification.sequence
        let isCanceled = notifications.contains { $0.notification.sequence == sequence && $0.control == .canceled }
        let delivery = progress.delivery
        return isCanceled || (delivery.part?.expiresAt ?? delivery.notification.expiresAt) <= now
    }

    /// Returns the channel and the handle's key of each device of a query; nil where one of them is unknown.
    fileprivate func devices(of query: CollapseQuery) -> [(channel: ChannelID?, key: String?)] {
        switch query.devices {
        case .channels(let ids):
            return ids.map { id in (id, channels.first { $0.id == id }?.key) }
        case .followed(let registrations):
            let ids = registrations.map(\.registration.channel)
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

    /// Returns whether the audience of a delivery includes a registration at its former channel. The tags are the
    /// registration's current ones.
    fileprivate func isFor(_ delivery: Delivery, _ followed: FollowedRegistration, at now: Timestamp) -> Bool {
        guard case .audience(let expression) = delivery.notification.target else { return false }
        return followed.member <= delivery.bounds.channel
            && registrations.contains { entry in
                entry.sequence == followed.registration.registration && entry.isLive(at: now)
                    && expression?.matches(Set(entry.registration.tags)) ?? true
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
