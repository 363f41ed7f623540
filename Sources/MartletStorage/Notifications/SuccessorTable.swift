import MartletCore
import MartletModel

/// Where registrations are now that some members of a delivery had when their page was read, on one connection.
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
        // Of most deliveries nobody was followed, and of most pages nothing has changed.
        if try hasFollowed() {
            for member in present where try isReachedByFollowing([member.channel], but: member) {
                successors.reached.insert(member)
            }
        }
        for member in absent {
            successors.moved += member.registration == 0 ? try ofChannel(member) : try ofRegistration(member)
        }
        // A member of a template send is present with its own registration.
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
        // Those that had the member's own handle are of its device, which gets what each of them is for.
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

    /// The registrations with templates that a channel had when its page was read, but for those that were reached at
    /// another one.
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

    /// Where a member is whose channel is in the audience only because of registrations that have come to it since: its
    /// own have gone.
    private func ofDeserted(_ member: AudienceMember) throws(StorageError) -> [Successor] {
        guard let snapshot = try ranges.snapshot(of: member, in: delivery.id),
            try hasChanged(member.channel, since: snapshot), try !keepsOwn(member.channel, since: snapshot)
        else { return [] }
        return try ofChannel(member)
    }

    /// The registrations that the channel had, matched the expression by them, and has lost since.
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

    /// Registrations that a channel had at a given time, with tags that the send is for, and that have another one now.
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

    /// Whether a registration that a channel had at a given time is in the audience with it now as well.
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

    /// The channels that native registrations of a channel had at a given time, where they have moved to it since.
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

    /// The retry of a channel as a member of its own, unless it follows the registrations that have gone.
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

    /// Of what a registration `h` was, the state at the change ?2.
    private static let isFirstChange = """
        h.change = (SELECT min(o.change) FROM registration_history o
            WHERE o.hub = h.hub AND o.id = h.id AND o.sequence = h.sequence AND o.change > ?2)
        """

    /// Whether a registration `r` is what it was at the change ?2.
    private static let isUnchanged = """
        NOT EXISTS (SELECT 1 FROM registration_history u
            WHERE u.hub = r.hub AND u.id = r.id AND u.sequence = r.sequence AND u.change > ?2)
        """

    // MARK: Where followed retries went

    private func hasFollowed() throws(StorageError) -> Bool {
        try connection.first(
            "SELECT 1 FROM attempts WHERE delivery = ? AND followed IS NOT NULL LIMIT 1", delivery.id.rawValue
        ) { _ in true } ?? false
    }

    /// Whether a member was reached at another channel than its own.
    private func isFollowed(_ member: AudienceMember) throws(StorageError) -> Bool {
        try connection.first(
            """
            SELECT 1 FROM attempts WHERE (delivery, channel, registration) = (?, ?, ?) AND followed IS NOT NULL LIMIT 1
            """, delivery.id.rawValue, member.channel.rawValue, member.registration
        ) { _ in true } ?? false
    }

    /// Whether a member of another handle was followed to one of these channels.
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
