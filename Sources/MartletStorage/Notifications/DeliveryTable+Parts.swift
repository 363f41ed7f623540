import MartletCore
import MartletModel

extension DeliveryTable {
    /// Returns the siblings of a delivery: the other deliveries of its notification on its platform. Empty if the
    /// delivery has no part.
    func siblings(of delivery: Delivery) throws(StorageError) -> [Delivery.ID] {
        guard delivery.part != nil else { return [] }
        return try connection.all(
            "SELECT id FROM deliveries WHERE notification = ? AND platform = ? AND id <> ? ORDER BY id",
            delivery.notification.sequence, delivery.platform.rawValue, delivery.id.rawValue
        ) { Delivery.ID(rawValue: $0.integer(0)) }
    }

    /// Returns those of the given members that another delivery of the notification on the same platform has already
    /// handled. The other delivery has reached the member, or has recorded a refusal or a retry of the member, or has
    /// sent the push of another channel's member to this member's channel.
    func handled(
        _ members: [AudienceMember], besides delivery: Delivery
    ) throws(StorageError) -> Set<AudienceMember> {
        var handled: Set<AudienceMember> = []
        for sibling in try siblings(of: delivery) {
            let reached = try RangeTable(connection).reached(members, by: sibling)
            handled.formUnion(reached)
            handled.formUnion(
                try RefusalTable(connection).refused(members.filter { !handled.contains($0) }, in: sibling))
            for member in members where !handled.contains(member) {
                if try hasRecord(of: member, in: sibling) { handled.insert(member) }
            }
        }
        return handled
    }

    private func hasRecord(of member: AudienceMember, in delivery: Delivery.ID) throws(StorageError) -> Bool {
        try connection.first(
            """
            SELECT 1 FROM retries WHERE delivery = ?1 AND channel = ?2 AND registration = ?3
            UNION ALL SELECT 1 FROM attempts WHERE delivery = ?1 AND followed = ?2 AND channel <> ?2 LIMIT 1
            """, delivery.rawValue, member.channel.rawValue, member.registration
        ) { _ in true } ?? false
    }
}
