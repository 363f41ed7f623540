public import MartletCore
import MartletModel
import Synchronization

extension MemoryStorage: TraceStore {
    public func past(of device: String, in hub: Hub.ID) async throws(StorageError) -> RegistrationPast {
        state.withLock { state in
            let byID = state.versions(in: hub) { $0.id == device }
            return RegistrationPast(
                versions: byID.isEmpty ? state.versions(in: hub) { $0.installation == device } : byID, knownSince: 0)
        }
    }
}

extension MemoryState {
    fileprivate func versions(
        in hub: Hub.ID, _ isChosen: (RegistrationVersion) -> Bool
    ) -> [RegistrationVersion] {
        let present = registrations.filter { $0.hub == hub }.map {
            RegistrationVersion(sequence: $0.sequence, channel: $0.channel, shown($0), end: nil)
        }
        return (history.filter { $0.hub == hub }.map(\.version) + present).filter(isChosen)
    }

    /// Keeps a registration as it was until now.
    mutating func keep(_ entry: MemoryRegistration, _ cause: RegistrationEnding, at now: Timestamp) {
        let end = RegistrationVersion.End(change: Int64(history.count + 1), at: now, cause: cause)
        history.append(
            (
                entry.hub,
                RegistrationVersion(sequence: entry.sequence, channel: entry.channel, shown(entry), end: end)
            ))
    }

    func isSentOtherwise(_ new: Registration, to channel: ChannelID, than old: MemoryRegistration) -> Bool {
        channel != old.channel || new.template != old.registration.template
            || new.pushVariables != old.registration.pushVariables || Set(new.tags) != Set(old.registration.tags)
    }
}
