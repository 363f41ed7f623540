import MartletCore
import MartletModel

/// Where registrations are now that some members of a delivery had when their page was read, on one connection.
struct SuccessorTable {
    private let connection: Connection
    private let delivery: Delivery

    init(_ connection: Connection, _ delivery: Delivery) {
        self.connection = connection
        self.delivery = delivery
    }

    func successors(of members: [AudienceMember]) throws(StorageError) -> [Successor] {
        var successors: [Successor] = []
        for member in members {
            successors += member.registration == 0 ? try ofChannel(member) : try ofRegistration(member)
        }
        return successors
    }

    // MARK: Template sends

    private func ofRegistration(_ member: AudienceMember) throws(StorageError) -> [Successor] {
        let found = try connection.first(
            "SELECT channel FROM registrations WHERE sequence = ? AND channel <> ? AND template IS NOT NULL",
            member.registration, member.channel.rawValue
        ) { AudienceMember(channel: ChannelID(rawValue: $0.integer(0)), registration: member.registration) }
        guard let found else { return [] }
        return [Successor(member: member, registration: found, isRecorded: try isRecorded(found))]
    }

    // MARK: Native sends

    /// The registrations that the channel had, matched the expression by them, and has lost since.
    private func ofChannel(_ member: AudienceMember) throws(StorageError) -> [Successor] {
        guard case .audience(let expression) = delivery.notification.target, let snapshot = try snapshot(of: member)
        else { return [] }
        let moved = try connection.all(
            """
            SELECT r.channel, r.sequence, h.tags FROM registration_history h
                CROSS JOIN registrations r ON r.sequence = h.sequence
            WHERE h.channel = ?1 AND h.change > ?2 AND h.sequence <= ?3 AND h.template IS NULL
                AND r.template IS NULL AND r.channel <> ?1
                AND h.change = (SELECT min(o.change) FROM registration_history o
                    WHERE o.hub = h.hub AND o.id = h.id AND o.sequence = h.sequence AND o.change > ?2)
            ORDER BY h.sequence
            """, member.channel.rawValue, snapshot.change, snapshot.registration
        ) { row throws(StorageError) in
            (
                registration: AudienceMember(
                    channel: ChannelID(rawValue: row.integer(0)), registration: row.integer(1)),
                tags: Set(try StoredRegistration.tags(row.text(2)))
            )
        }
        var successors: [Successor] = []
        for (registration, tags) in moved where expression?.matches(tags) ?? true {
            successors.append(
                Successor(
                    member: member, registration: registration,
                    others: try channels(of: registration.channel, at: snapshot).filter { $0 != member.channel },
                    isRecorded: try isRecorded(AudienceMember(channel: registration.channel))))
        }
        return successors
    }

    /// The time that the page of a member was read at. The pages of a resend end where their dead letters do.
    private func snapshot(of member: AudienceMember) throws(StorageError) -> AudienceSnapshot? {
        guard delivery.notification.resend == nil else {
            return try connection.first(
                "SELECT change, registration FROM ranges WHERE delivery = ? ORDER BY change LIMIT 1",
                delivery.id.rawValue
            ) { AudienceSnapshot(change: $0.integer(0), registration: $0.integer(1)) }
        }
        return try RangeTable(connection).range(of: member, in: delivery.id)?.snapshot
    }

    /// A channel, and those that its native registrations had at a given time.
    private func channels(
        of channel: ChannelID, at snapshot: AudienceSnapshot
    ) throws(StorageError) -> Set<ChannelID> {
        let then = try connection.all(
            """
            SELECT ifnull((SELECT h.channel FROM registration_history h
                WHERE h.hub = r.hub AND h.id = r.id AND h.sequence = r.sequence AND h.change > ?2
                ORDER BY h.change LIMIT 1), r.channel)
            FROM registrations r WHERE r.channel = ?1 AND r.template IS NULL
            """, channel.rawValue, snapshot.change
        ) { ChannelID(rawValue: $0.integer(0)) }
        return Set(then).union([channel])
    }

    private func isRecorded(_ member: AudienceMember) throws(StorageError) -> Bool {
        try connection.first(
            """
            SELECT 1 WHERE EXISTS (SELECT 1 FROM retries WHERE (delivery, channel, registration) = (?1, ?2, ?3))
                OR EXISTS (SELECT 1 FROM refusals WHERE (delivery, channel, registration) = (?1, ?2, ?3))
                OR EXISTS (SELECT 1 FROM attempts WHERE (delivery, channel, registration) = (?1, ?2, ?3))
            """, delivery.id.rawValue, member.channel.rawValue, member.registration
        ) { _ in true } ?? false
    }
}
