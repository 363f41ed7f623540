public import MartletCore
public import MartletModel
import Synchronization

extension MemoryStorage: ReceiptStore {
    public func addReceipts(
        _ receipts: [Receipt], from source: ReceiptSource, at now: Timestamp
    ) async throws(StorageError) {
        state.withLock { state in
            guard let index = state.index(of: source.device, in: source.hub),
                state.registrations[index].isLive(at: now),
                state.registrations[index].registration.tags.contains(source.tag)
            else { return }
            let device = state.shown(state.registrations[index])
            for receipt in receipts where state.accepts(receipt, of: device, source, at: now) {
                let key = MemoryReceiptKey(
                    subject: receipt.subject, hub: receipt.subject.hub(source.hub), device: device.id,
                    event: receipt.event)
                guard state.receipts[key] == nil else { continue }
                if key.hub != nil { state.receiptPlatforms[key] = device.platform }
                state.receipts[key] = DeviceReceipt(
                    device: device.id, user: source.user, event: receipt.event, at: min(receipt.at, now))
            }
        }
    }

    public func receipts(
        of subject: Receipt.Subject, in hub: Hub.ID, after last: DeviceReceipt?, limit: Int
    ) async throws(StorageError) -> [DeviceReceipt] {
        state.withLock { state in
            let found = state.receipts.filter { $0.key.subject == subject && $0.key.hub == subject.hub(hub) }
            let sorted = found.values.sorted { $0.index < $1.index }
            return Array(sorted.filter { receipt in last.map { receipt.index > $0.index } ?? true }.prefix(limit))
        }
    }
}

extension Receipt.Subject {
    /// Returns the hub for a receipt of a notification; nil for a receipt of a payload, which belongs to no hub.
    fileprivate func hub(_ hub: Hub.ID) -> Hub.ID? {
        switch self {
        case .payload: nil
        case .notification: hub
        }
    }
}

extension DeviceReceipt {
    fileprivate var index: (String, String) { (device, event.rawValue) }
}

extension MemoryState {
    fileprivate func accepts(
        _ receipt: Receipt, of device: Registration, _ source: ReceiptSource, at now: Timestamp
    ) -> Bool {
        switch receipt.subject {
        case .payload(let id):
            let wanted = payloads[id]?.payload.device ?? device.id
            return isAddressee(source.user, of: id, at: now) && wanted == device.id
        case .notification(let id):
            let entry = notifications.first { $0.notification.id == id && $0.notification.hub == source.hub }
            guard let entry, entry.begunAt != nil else { return false }
            let platform: PlatformID?
            switch entry.notification.content {
            case .native(let native, _): platform = native
            case .template: platform = nil
            case .message:
                guard deliveries(of: entry).contains(where: { $0.progress.delivery.platform == device.platform }) else {
                    return false
                }
                platform = device.platform
            }
            return entry.notification.target.includes(device, platform: platform)
        }
    }
}
