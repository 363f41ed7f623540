public import MartletCore
public import MartletModel
import Synchronization

extension MemoryStorage: DeviceKeyStore {
    public func putDeviceKey(
        _ key: DeviceKey?, of registration: String, tagged tag: Tag, in hub: Hub.ID
    ) async throws(StorageError) -> Bool {
        state.withLock { state in
            guard let index = state.index(of: registration, in: hub),
                state.registrations[index].registration.tags.contains(tag)
            else { return false }
            state.deviceKeys[state.registrations[index].sequence] = key.map { MemoryDeviceKey(key: $0, tag: tag) }
            return true
        }
    }

    public func deviceKeys(
        of tag: Tag, in hub: Hub.ID, at now: Timestamp, limit: Int
    ) async throws(StorageError) -> [KeyedDevice] {
        state.withLock { state in
            let carrying = state.registrations.reversed().filter { entry in
                entry.hub == hub && entry.isLive(at: now) && entry.registration.tags.contains(tag)
            }
            let keyed = carrying.compactMap { entry in
                state.deviceKeys[entry.sequence].flatMap { kept in
                    kept.tag != tag
                        ? nil
                        : KeyedDevice(
                            registration: entry.registration.id, platform: entry.registration.platform, key: kept.key)
                }
            }
            return Array(keyed.prefix(limit))
        }
    }
}

/// A device key, and the tag for which it was put.
struct MemoryDeviceKey {
    let key: DeviceKey
    let tag: Tag
}
