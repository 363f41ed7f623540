import MartletCore
import MartletModel

extension MemoryState {
    func successors(of member: AudienceMember, in delivery: Delivery) -> [Successor] {
        member.registration == 0 ? ofChannel(member, in: delivery) : ofRegistration(member, in: delivery)
    }

    private func ofRegistration(_ member: AudienceMember, in delivery: Delivery) -> [Successor] {
        let entry = registrations.first {
            $0.sequence == member.registration && $0.channel != member.channel && $0.registration.template != nil
        }
        guard let entry else { return [] }
        let found = AudienceMember(channel: entry.channel, registration: entry.sequence)
        return [Successor(member: member, registration: found, isRecorded: isRecorded(found, in: delivery))]
    }

    private func ofChannel(_ member: AudienceMember, in delivery: Delivery) -> [Successor] {
        guard case .audience(let expression) = delivery.notification.target,
            let snapshot = snapshot(of: member, in: delivery)
        else { return [] }
        return registrations.compactMap { entry in
            guard let then = version(of: entry, at: snapshot), then.channel == member.channel,
                entry.sequence <= snapshot.registration, then.template == nil, entry.registration.template == nil,
                entry.channel != member.channel, expression?.matches(Set(then.tags)) ?? true
            else { return nil }
            let others = registrations.filter { $0.channel == entry.channel && $0.registration.template == nil }
                .map { version(of: $0, at: snapshot)?.channel ?? $0.channel }
            return Successor(
                member: member, registration: AudienceMember(channel: entry.channel, registration: entry.sequence),
                others: Set(others).union([entry.channel]).filter { $0 != member.channel }.sorted {
                    $0.rawValue < $1.rawValue
                },
                isRecorded: isRecorded(AudienceMember(channel: entry.channel), in: delivery))
        }
    }

    /// What a registration was at a moment, where it was changed since.
    private func version(of entry: MemoryRegistration, at snapshot: AudienceSnapshot) -> RegistrationVersion? {
        history.map(\.version).first { version in
            version.sequence == entry.sequence && version.end.map { $0.change > snapshot.change } ?? false
        }
    }

    private func snapshot(of member: AudienceMember, in delivery: Delivery) -> AudienceSnapshot? {
        guard let ranges = index(of: delivery.id).map({ deliveries[$0].ranges }) else { return nil }
        guard delivery.notification.resend == nil else {
            return ranges.map(\.snapshot).min { $0.change < $1.change }
        }
        return ranges.filter { $0.last >= member }.min { $0.last < $1.last }?.snapshot
    }

    private func isRecorded(_ member: AudienceMember, in delivery: Delivery) -> Bool {
        guard let entry = index(of: delivery.id).map({ deliveries[$0] }) else { return false }
        return entry.retries[member] != nil || entry.refused[member] != nil
            || entry.attempts.contains { $0.member == member }
    }
}
