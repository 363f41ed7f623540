import MartletCore
import MartletModel

extension DeliveryTable {
    func evidence(
        of members: [AudienceMember], in delivery: Delivery.ID
    ) throws(StorageError) -> DeliveryEvidence? {
        guard let progress = try progress(of: delivery) else { return nil }
        var evidence = DeliveryEvidence(progress: progress)
        let (ranges, attempts) = (RangeTable(connection), AttemptTable(connection))
        for member in members {
            evidence.members[member] = MemberEvidence(
                range: try ranges.range(of: member, in: delivery), refusal: try refusal(of: member, in: delivery),
                retry: try retry(of: member, in: delivery), attempts: try attempts.attempts(of: member, in: delivery),
                isReached: try ranges.isReached(member.number, by: delivery))
        }
        return evidence
    }

    private func refusal(of member: AudienceMember, in delivery: Delivery.ID) throws(StorageError) -> Refusal? {
        try connection.first(
            """
            SELECT handle, outcome, reason, refused_at, attempts, origin, status, connection, fate FROM refusals
            WHERE delivery = ? AND channel = ? AND registration = ?
            """, delivery.rawValue, member.channel.rawValue, member.registration
        ) { row in
            Refusal(
                member: member, handle: row.isNull(0) ? nil : PushHandle(text: StoredHandle(row, 0).text),
                outcome: OutcomeName(rawValue: row.text(1)), reason: row.text(2), at: row.timestamp(3),
                attempts: Int(row.integer(4)), answer: PushAnswer(row, 5), fate: HandleFate(row, 8))
        }
    }

    private func retry(of member: AudienceMember, in delivery: Delivery.ID) throws(StorageError) -> Retry? {
        try connection.first(
            """
            SELECT channel, registration, attempts, due_at, outcome, reason FROM retries
            WHERE delivery = ? AND channel = ? AND registration = ?
            """, delivery.rawValue, member.channel.rawValue, member.registration, read: Self.retry)
    }
}
