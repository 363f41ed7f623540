import MartletCore
import MartletModel

/// Finds the current channels of registrations whose channels have changed since the pages of a delivery were read, on
/// one connection. Retries can then be sent to the current channels.
struct SuccessorTable {
    private let connection: Connection
    private let delivery: Delivery
    private let now: Timestamp
    private let ranges: RangeTable

    init(_ connection: Connection, _ delivery: Delivery, at now: Timestamp) {
        self.connection = connection
        self.delivery = delivery
        self.now = now
        ranges = RangeTable(connection)
    }

    func successors(
        of absent: [AudienceMember], present: [AudienceMember]
    ) throws(StorageError) -> Successors {
        var successors = Successors()
        // Most deliveries have sent each push to the channel of the push's own member. Then there is nothing to search
        // for.
        if try hasFollowed() {
            for member in present where try isReachedByFollowing([member.channel], but: member) {
                successors.reached.insert(member)
            }
        }
        for member in absent {
            successors.moved += member.registration == 0 ? try ofChannel(member) : try ofRegistration(member)
        }
        // A member of a template send that is in `present` still has its own registration, so only members of native
        // sends are checked.
        for member in present where member.registration == 0 { successors.moved += try ofDeserted(member) }
        return successors
    }

    // MARK: Template sends

    private func ofRegistration(_ member: AudienceMember) throws(StorageError) -> [Successor] {
        let found = try connection.first(
            "SELECT channel FROM registrations WHERE sequence = ? AND channel <> ? AND template IS NOT NULL",
            member.registration, member.channel.rawValue
        ) { AudienceMember(channel: ChannelID(rawValue: $0.integer(0)), registration: member.registration) }
        guard let found else { return [] }
        let places = try ChannelTable(connection).ofSameHandle(as: found.channel)
        var successor = Successor(member: member, registration: found)
        successor.isReached = try isReachedByFollowing(places, but: member)
        // Registrations of the member's own channel are skipped: they belong to the same device, which gets a separate
        // push for each registration.
        for place in places where place != member.channel { successor.others += try registrations(at: place) }
        successor.others.removeAll { $0.registration == member.registration }
        successor.awaited = try connection.first(
            """
            SELECT a.registration, a.due_at FROM retries a CROSS JOIN registrations r ON r.sequence = a.registration
            WHERE a.delivery = ?1 AND a.channel = ?2 AND a.registration <> ?3 AND r.channel = ?2
            ORDER BY a.due_at LIMIT 1
            """, delivery.id.rawValue, found.channel.rawValue, member.registration
        ) {
            AwaitedRetry(
                member: AudienceMember(channel: found.channel, registration: $0.integer(0)), dueAt: $0.timestamp(1))
        }
        return [successor]
    }

    /// Returns the registrations with templates that a channel had when this delivery read the page with the channel. A
    /// registration that has moved to another channel, and has got its push there, is left out.
    private func registrations(at channel: ChannelID) throws(StorageError) -> [AudienceMember] {
        let first = AudienceMember(channel: channel)
        guard let snapshot = try ranges.snapshot(of: first, in: delivery.id) else { return [] }
        let then = try connection.all(
            """
            SELECT h.sequence FROM registration_history h WHERE h.channel = ?1 AND h.change > ?2
                AND h.sequence <= ?3 AND h.template IS NOT NULL AND \(Self.isFirstChange)
            UNION SELECT r.sequence FROM registrations r WHERE r.channel = ?1 AND r.sequence <= ?3
                AND r.template IS NOT NULL AND \(Self.isUnchanged)
            """, channel.rawValue, snapshot.change, snapshot.registration
        ) { AudienceMember(channel: channel, registration: $0.integer(0)) }
        var members: [AudienceMember] = []
        for member in then where try !isFollowed(member) { members.append(member) }
        return members
    }

    // MARK: Native sends

    /// Returns the successors of a member that is still in the audience, if the member's channel has kept none of the
    /// registrations that the channel had when the member's page was read; otherwise an empty array. Such a channel is
    /// in the audience only because other registrations have moved to it since.
    private func ofDeserted(_ member: AudienceMember) throws(StorageError) -> [Successor] {
        guard let snapshot = try ranges.snapshot(of: member, in: delivery.id),
            try hasChanged(member.channel, since: snapshot), try !keepsOwn(member.channel, since: snapshot)
        else { return [] }
        return try ofChannel(member)
    }

    /// Returns one successor for each registration that has moved from the member's channel to another channel since
    /// the member's page was read. Only registrations that matched the notification's tag expression at that time
    /// count.
    private func ofChannel(_ member: AudienceMember) throws(StorageError) -> [Successor] {
        guard let snapshot = try ranges.snapshot(of: member, in: delivery.id) else { return [] }
        var successors: [Successor] = []
        for registration in try moved(from: member.channel, since: snapshot) {
            let places = try ChannelTable(connection).ofSameHandle(as: registration.channel)
            var others: Set<AudienceMember> = []
            for place in places {
                let other = AudienceMember(channel: place)
                if try !isFollowed(other) { others.insert(other) }
            }
            for channel in try formerChannels(of: registration.channel, at: snapshot) {
                others.insert(AudienceMember(channel: channel))
            }
            others.remove(member)
            successors.append(
                Successor(
                    member: member, registration: registration, others: others.sorted(),
                    isReached: try isReachedByFollowing(places, but: member),
                    awaited: try retry(at: registration.channel)))
        }
        return successors
    }

    /// Returns the registrations that a channel had in a snapshot with tags that match the notification's tag
    /// expression, and that have another channel now. Each is returned with its current channel.
    private func moved(
        from channel: ChannelID, since snapshot: AudienceSnapshot
    ) throws(StorageError) -> [AudienceMember] {
        let found = try connection.all(
            """
            SELECT r.channel, r.sequence, h.tags FROM registration_history h
                CROSS JOIN registrations r ON r.sequence = h.sequence
            WHERE h.channel = ?1 AND h.change > ?2 AND h.sequence <= ?3 AND h.template IS NULL
                AND r.template IS NULL AND r.channel <> ?1 AND \(Self.isFirstChange)
            ORDER BY h.sequence
            """, channel.rawValue, snapshot.change, snapshot.registration
        ) { row throws(StorageError) in
            (
                registration: AudienceMember(
                    channel: ChannelID(rawValue: row.integer(0)), registration: row.integer(1)),
                isMeant: try isMeant(row.text(2))
            )
        }
        return found.filter(\.isMeant).map(\.registration)
    }

    private func hasChanged(_ channel: ChannelID, since snapshot: AudienceSnapshot) throws(StorageError) -> Bool {
        try connection.first(
            "SELECT 1 FROM registration_history WHERE channel = ? AND change > ? LIMIT 1", channel.rawValue,
            snapshot.change
        ) { _ in true } ?? false
    }

    /// Returns true if at least one registration that a channel had in a snapshot still has this channel and matches
    /// the notification's tag expression.
    private func keepsOwn(_ channel: ChannelID, since snapshot: AudienceSnapshot) throws(StorageError) -> Bool {
        let kept = try connection.all(
            """
            SELECT r.tags FROM registrations r WHERE r.channel = ?1 AND r.sequence <= ?3 AND r.template IS NULL
                AND (r.expires_at IS NULL OR r.expires_at > ?4) AND (\(Self.isUnchanged)
                OR EXISTS (SELECT 1 FROM registration_history h WHERE h.hub = r.hub AND h.id = r.id
                    AND h.sequence = r.sequence AND h.channel = ?1 AND h.change > ?2 AND h.template IS NULL
                    AND \(Self.isFirstChange)))
            """, channel.rawValue, snapshot.change, snapshot.registration, now
        ) { row throws(StorageError) in try isMeant(row.text(0)) }
        return kept.contains(true)
    }

    /// Returns the channels from which native registrations have moved to the given channel since a snapshot.
    private func formerChannels(
        of channel: ChannelID, at snapshot: AudienceSnapshot
    ) throws(StorageError) -> [ChannelID] {
        try connection.all(
            """
            SELECT h.channel FROM registrations r CROSS JOIN registration_history h
                ON h.hub = r.hub AND h.id = r.id AND h.sequence = r.sequence
            WHERE r.channel = ?1 AND r.template IS NULL AND h.change > ?2 AND h.channel <> ?1 AND \(Self.isFirstChange)
            """, channel.rawValue, snapshot.change
        ) { ChannelID(rawValue: $0.integer(0)) }
    }

    /// Returns the waiting retry of a channel in a native send; nil if there is none, or if it will be sent to another
    /// channel because the registrations have moved there.
    private func retry(at channel: ChannelID) throws(StorageError) -> AwaitedRetry? {
        let member = AudienceMember(channel: channel)
        let due = try connection.first(
            "SELECT due_at FROM retries WHERE delivery = ? AND channel = ? AND registration = 0", delivery.id.rawValue,
            channel.rawValue
        ) { $0.timestamp(0) }
        guard let due, let snapshot = try ranges.snapshot(of: member, in: delivery.id) else { return nil }
        let awaited = AwaitedRetry(member: member, dueAt: due)
        if try keepsOwn(channel, since: snapshot) { return awaited }
        return try moved(from: channel, since: snapshot).isEmpty ? awaited : nil
    }

    private func isMeant(_ tags: String) throws(StorageError) -> Bool {
        guard case .audience(let expression) = delivery.notification.target else { return false }
        return expression?.matches(Set(try StoredRegistration.tags(tags))) ?? true
    }

    /// The SQL condition that the history row `h` holds the state that its registration had at the change ?2.
    private static let isFirstChange = """
        h.change = (SELECT min(o.change) FROM registration_history o
            WHERE o.hub = h.hub AND o.id = h.id AND o.sequence = h.sequence AND o.change > ?2)
        """

    /// The SQL condition that the registration `r` has not changed since the change ?2.
    private static let isUnchanged = """
        NOT EXISTS (SELECT 1 FROM registration_history u
            WHERE u.hub = r.hub AND u.id = r.id AND u.sequence = r.sequence AND u.change > ?2)
        """

    // MARK: Followed retries

    private func hasFollowed() throws(StorageError) -> Bool {
        try connection.first(
            "SELECT 1 FROM attempts WHERE delivery = ? AND followed IS NOT NULL LIMIT 1", delivery.id.rawValue
        ) { _ in true } ?? false
    }

    /// Returns true if the push to a member reached a channel other than the member's own.
    private func isFollowed(_ member: AudienceMember) throws(StorageError) -> Bool {
        try connection.first(
            """
            SELECT 1 FROM attempts WHERE (delivery, channel, registration) = (?, ?, ?) AND followed IS NOT NULL LIMIT 1
            """, delivery.id.rawValue, member.channel.rawValue, member.registration
        ) { _ in true } ?? false
    }

    /// Returns true if at least one of the given channels was reached by the push to another member, whose channel is
    /// not that of `member`.
    private func isReachedByFollowing(
        _ channels: [ChannelID], but member: AudienceMember
    ) throws(StorageError) -> Bool {
        for channel in channels {
            let found = try connection.first(
                "SELECT 1 FROM attempts WHERE delivery = ? AND followed = ? AND channel <> ? LIMIT 1",
                delivery.id.rawValue, channel.rawValue, member.channel.rawValue
            ) { _ in true }
            if found == true { return true }
        }
        return false
    }
}
