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

    public func traced(_ id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> TracedNotification? {
        state.withLock { state in
            guard let entry = state.index(of: id, in: hub).map({ state.notifications[$0] }) else { return nil }
            return TracedNotification(
                notification: entry.notification, begunAt: entry.begunAt, control: entry.control,
                controlledAt: entry.controlledAt,
                deliveries: state.deliveries.map(\.progress).filter {
                    $0.delivery.notification.sequence == entry.notification.sequence
                }, hasWaitingParts: !entry.waitingParts.isEmpty)
        }
    }

    public func evidence(
        of members: [AudienceMember], in delivery: Delivery.ID
    ) async throws(StorageError) -> DeliveryEvidence? {
        state.withLock { state in
            guard let entry = state.index(of: delivery).map({ state.deliveries[$0] }) else { return nil }
            let found = members.map { ($0, entry.evidence(of: $0)) }
            return DeliveryEvidence(
                progress: entry.progress, members: Dictionary(found) { first, _ in first })
        }
    }

    public func receipts(
        of notification: NotificationID, from device: String, in hub: Hub.ID
    ) async throws(StorageError) -> [DeviceReceipt] {
        state.withLock { state in
            state.receipts.filter {
                $0.key.subject == .notification(notification) && $0.key.hub == hub && $0.key.device == device
            }.values.sorted { ($0.at, $0.event.rawValue) < ($1.at, $1.event.rawValue) }
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

    /// Adds to the history the state that a registration has had until now.
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

extension MemoryDelivery {
    fileprivate func evidence(of member: AudienceMember) -> MemberEvidence {
        let own = attempts.filter { $0.member == member }.sorted { ($0.at, $0.number) < ($1.at, $1.number) }
        return MemberEvidence(
            range: ranges.filter { $0.last >= member }.min { $0.last < $1.last }, refusal: refused[member],
            retry: retries[member], attempts: own.suffix(MemberEvidence.attemptLimit),
            isReached: hasReached(member))
    }
}
