import MartletCore
import MartletModel

extension DeliveryTable {
    func evidence(
        of members: [AudienceMember], in delivery: Delivery.ID
    ) throws(StorageError) -> DeliveryEvidence? {
        guard let progress = try progress(of: delivery) else { return nil }
        var evidence = DeliveryEvidence(progress: progress)
        let (ranges, attempts) = (RangeTable(connection), AttemptTable(connection))
        let refusals = RefusalTable(connection)
        for member in members {
            evidence.members[member] = MemberEvidence(
                range: try ranges.range(of: member, in: delivery),
                refusal: try refusals.refusal(of: member, in: delivery),
                retry: try retry(of: member, in: delivery), attempts: try attempts.attempts(of: member, in: delivery),
                isReached: try ranges.isReached(member.number, by: delivery))
        }
        return evidence
    }

    private func retry(of member: AudienceMember, in delivery: Delivery.ID) throws(StorageError) -> Retry? {
        try connection.first(
            """
            SELECT channel, registration, attempts, due_at, outcome, reason FROM retries
            WHERE delivery = ? AND channel = ? AND registration = ?
            """, delivery.rawValue, member.channel.rawValue, member.registration, read: Self.retry)
    }
}
