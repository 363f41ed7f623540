public import MartletCore
import MartletModel
import Synchronization

extension MemoryStorage: DeadLetterStore {
    public func resend(_ draft: ResendDraft) async throws(StorageError) -> ResendAcceptance {
        state.withLock { state in
            guard let index = state.index(of: draft.original, in: draft.hub) else { return .notFound }
            let original = state.notifications[index]
            let sequence = original.notification.sequence
            let deliveries = state.deliveries.filter { $0.progress.delivery.notification.sequence == sequence }
            guard original.canceledAt != nil || original.begunAt != nil,
                original.waitingParts.isEmpty, deliveries.allSatisfy(\.progress.state.isFinal)
            else { return .underWay }
            let earlier = state.resends(of: sequence)
            if let known = earlier.first(where: { $0.outcome == nil || $0.outcome == draft.outcome }) {
                return .resent(known.id)
            }
            let rank =
                original.notification.resend?.rank
                ?? deliveries.map(\.progress.delivery).last { $0.part?.lead == nil }?.id
            let resend = Resend(
                original: sequence, outcome: draft.outcome, rank: original.notification.collapse == nil ? nil : rank)
            let taken = Set(earlier.compactMap(\.outcome))
            let deadLetters = deliveries.flatMap { $0.refused.values }
            guard deadLetters.contains(where: { resend.takesUp($0, but: taken) }) else { return .nothing }
            let new = NotificationDraft(
                id: draft.id, hub: draft.hub, content: original.notification.content,
                target: original.notification.target, acceptedAt: draft.acceptedAt, expiresAt: draft.expiresAt,
                collapse: original.notification.collapse,
                isConfidential: original.notification.isConfidential, resend: resend)
            guard case .accepted(let notification, let begun) = state.accept(new) else { return .nothing }
            return .accepted(notification, begun)
        }
    }

    public func resends(of id: NotificationID, in hub: Hub.ID) async throws(StorageError) -> [ResendRecord] {
        state.withLock { state in
            state.index(of: id, in: hub).map { state.resends(of: state.notifications[$0].notification.sequence) } ?? []
        }
    }

    public func latestRefused(
        in hub: Hub.ID, before id: NotificationID?, limit: Int
    ) async throws(StorageError) -> [NotificationID] {
        state.withLock { state in
            let refused = state.deliveries.filter { !$0.refusals.isEmpty }.map(\.progress.delivery.notification)
            let ids = Set(refused.filter { $0.hub == hub }.map(\.id)).sorted(by: >)
            return Array(ids.filter { known in id.map { known < $0 } ?? true }.prefix(limit))
        }
    }

    public func refusalReasons(
        of id: NotificationID, in hub: Hub.ID, lookLimit: Int, limit: Int
    ) async throws(StorageError) -> RefusalReasons {
        state.withLock { state in
            let records = state.deliveries.filter {
                $0.progress.delivery.notification.id == id && $0.progress.delivery.notification.hub == hub
            }.flatMap(\.refusals.values)
            let counts = Dictionary(grouping: records.prefix(lookLimit)) { [$0.outcome.rawValue, $0.reason] }
                .map { key, found in
                    RefusalReasons.Count(outcome: OutcomeName(rawValue: key[0]), reason: key[1], count: found.count)
                }
                .sorted { ($1.count, $0.outcome.rawValue, $0.reason) < ($0.count, $1.outcome.rawValue, $1.reason) }
            return RefusalReasons(
                counts: Array(counts.prefix(limit)), isPartial: records.count > lookLimit || counts.count > limit)
        }
    }

    public func resendMembers(
        of delivery: Delivery, after last: AudienceMember, limit: Int
    ) async throws(StorageError) -> ResendPage {
        state.withLock { state in
            guard let resend = delivery.notification.resend else {
                return ResendPage(members: [], last: last, isLast: true)
            }
            let originals = state.deliveries.filter { entry in
                entry.progress.delivery.notification.sequence == resend.original
                    && entry.progress.delivery.platform == delivery.platform
            }
            let taken = state.resends(of: resend.original, before: delivery.notification.sequence)
            let deadLetters = originals.flatMap(\.refused.values)
                .filter { resend.takesUp($0, but: Set(taken.compactMap(\.outcome))) && $0.member > last }
                .sorted { $0.member < $1.member }.prefix(limit)
            return ResendPage(
                members: deadLetters.compactMap { letter in
                    let record = originals.compactMap { $0.refusals[letter.member] }.first
                    return state.memberNow(letter.member, record, in: delivery)
                }, last: deadLetters.last?.member ?? last, isLast: deadLetters.count < limit)
        }
    }
}

extension Resend {
    fileprivate func takesUp(_ refusal: Refusal, but taken: Set<OutcomeName>) -> Bool {
        (outcome.map { $0 == refusal.outcome } ?? true) && !taken.contains(refusal.outcome)
    }
}

extension MemoryState {
    fileprivate func resends(of original: Int64, before sequence: Int64 = .max) -> [ResendRecord] {
        notifications.map(\.notification).filter { $0.resend?.original == original && $0.sequence < sequence }
            .map { ResendRecord(id: $0.id, outcome: $0.resend?.outcome) }
    }

    fileprivate func memberNow(
        _ member: AudienceMember, _ record: RefusalRecord?, in delivery: Delivery
    ) -> AudienceMember? {
        if case .direct = delivery.notification.target { return member }
        let isOfTemplates = if case .template = delivery.notification.content { true } else { false }
        let entry = registrations.first { entry in
            entry.hub == delivery.notification.hub && (entry.registration.template != nil) == isOfTemplates
                && (isOfTemplates
                    ? entry.sequence == member.registration : entry.registration.id == record?.registration)
        }
        return entry.map { AudienceMember(channel: $0.channel, registration: isOfTemplates ? $0.sequence : 0) }
    }
}
