import MartletCore
import MartletModel

/// Reads the records about some members of a delivery. Each kind of record is read with one statement for all members.
struct EvidenceReader {
    let session: ShardSession
    let delivery: Delivery.ID

    func evidence(of members: [AudienceMember]) throws(StorageError) -> [AudienceMember: MemberEvidence] {
        var evidence: [AudienceMember: MemberEvidence] = [:]
        for member in members { evidence[member] = MemberEvidence() }
        guard !members.isEmpty else { return evidence }
        for (member, range) in try RangeTable(session).ranges(of: members, in: delivery) {
            evidence[member]?.range = range
        }
        for member in try RangeTable(session).reached(members, by: delivery) { evidence[member]?.isReached = true }
        for retry in try DeliveryTable(session).retries(of: members, in: delivery) {
            evidence[retry.member]?.retry = retry
        }
        for refusal in try RefusalTable(session).rows(of: members, in: delivery) {
            evidence[refusal.member]?.refusal = refusal
        }
        let rows = Dictionary(grouping: try AttemptTable(session).rows(of: members, in: delivery), by: \.member)
        for (member, attempts) in rows { evidence[member]?.attempts = attempts }
        try PageRecordTable(session).forEach(members, in: delivery) { member, records in
            // If a row and the `PageRecords` both have a refusal of this member, the row is newer.
            if evidence[member]?.refusal == nil, let index = records.refusal(of: member) {
                evidence[member]?.refusal = records.recordedRefusal(index).refusal
            }
            evidence[member]?.attempts = AttemptTable.merged(records.attempts(of: member), rows[member] ?? [])
        }
        return evidence
    }
}
