public import MartletCore
public import MartletModel
import Synchronization

extension MemoryStorage: InstallationStore {
    public func apply(
        _ change: InstallationChange, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> Result<InstallationRecord, RegistrationRefusal> {
        state.withLock { $0.apply(change, in: hub, at: now) }
    }

    public func installation(
        _ id: String, in hub: Hub.ID, at now: Timestamp
    ) async throws(StorageError) -> InstallationRecord? {
        state.withLock { $0.installation(id, in: hub, at: now) }
    }
}
