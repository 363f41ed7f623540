import MartletCore
import MartletModel

/// Finds the current channels of registrations whose channels have changed since the pages of a delivery were read, so
/// that retries can be sent there.
struct SuccessorTable {
    private let session: ShardSession
    private let delivery: Delivery
    private let native: Int32
    private let template: Int32
    private let now: Timestamp
    private let ranges: RangeTable

    /// - Parameter platform: The number of the delivery's platform.
    init(_ session: ShardSession, _ delivery: Delivery, platform: Int32, at now: Timestamp) {
        self.session = session
        self.delivery = delivery
        self.now = now
        native = Scope(platform: platform, .native).number
        template = Scope(platform: platform, .template).number
        ranges = RangeTable(session)
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
        let found = try session.first(
            """
            SELECT channel FROM registrations
            WHERE shard = $1 AND sequence = $2 AND channel <> $3 AND template IS NOT NULL
            """, member.registration, member.channel.rawValue
        ) { AudienceMember(channel: ChannelID(rawValue: $0.integer(0)), registration: member.registration) }
        guard let found else { return [] }
        let places = try ofSameHandle(as: found.channel)
        var successor = Successor(member: member, registration: found)
        successor.isReached = try isReachedByFollowing(places, but: member)
        // Registrations of the member's own channel are skipped: they belong to the same device, which gets a separate
        // push for each registration.
        for place in places where place != member.channel { successor.others += try registrations(at: place) }
        successor.others.removeAll { $0.registration == member.registration }
        successor.awaited = try session.first(
            """
            SELECT a.registration, a.due_at
            FROM retries a JOIN registrations r ON r.shard = $1 AND r.sequence = a.registration
            WHERE a.shard = $1 AND a.delivery = $2 AND a.channel = $3 AND a.registration <> $4 AND r.channel = $3
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
        let then = try session.all(
            """
            SELECT h.sequence FROM registration_history h
            WHERE h.shard = $1 AND h.channel = $2 AND h.change > $3 AND h.sequence <= $4 AND h.template IS NOT NULL
                AND h.change = (SELECT min(o.change) FROM registration_history o
                    WHERE o.shard = $1 AND o.id = h.id AND o.sequence = h.sequence AND o.change > $3)
            UNION
            SELECT r.sequence FROM registrations r
            WHERE r.shard = $1 AND r.scope = $5 AND r.channel = $2 AND r.sequence <= $4
                AND NOT EXISTS (SELECT 1 FROM registration_history u
                    WHERE u.shard = $1 AND u.id = r.id AND u.sequence = r.sequence AND u.change > $3)
            ORDER BY 1
            """, channel.rawValue, snapshot.change, snapshot.registration, template
        ) { AudienceMember(channel: channel, registration: $0.integer(0)) }
        var members: [AudienceMember] = []
        for member in then where try !isFollowed(member) { members.append(member) }
        return members
    }

    // MARK: Native sends

    /// Returns the successors of a member that is still in the audience, if its channel has lost all registrations that
    /// the channel had when the member's page was read; otherwise none. Such a channel is in the audience only because
    /// other registrations have moved to it since.
    private func ofDeserted(_ member: AudienceMember) throws(StorageError) -> [Successor] {
        guard let snapshot = try ranges.snapshot(of: member, in: delivery.id),
            try hasChanged(member.channel, since: snapshot), try !keepsOwn(member.channel, since: snapshot)
        else { return [] }
        return try ofChannel(member)
    }

    /// Returns one successor for each registration that the member's channel had when its page was read, if the
    /// registration matched the notification's tag expression at that time and has another channel now.
    private func ofChannel(_ member: AudienceMember) throws(StorageError) -> [Successor] {
        guard let snapshot = try ranges.snapshot(of: member, in: delivery.id) else { return [] }
        var successors: [Successor] = []
        for registration in try moved(from: member.channel, since: snapshot) {
            let places = try ofSameHandle(as: registration.channel)
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
        let found = try session.all(
            """
            SELECT r.channel, r.sequence, h.tags, h.spelled_tags
            FROM registration_history h JOIN registrations r ON r.shard = $1 AND r.sequence = h.sequence
            WHERE h.shard = $1 AND h.channel = $2 AND h.change > $3 AND h.sequence <= $4 AND h.template IS NULL
                AND r.template IS NULL AND r.channel <> $2
                AND h.change = (SELECT min(o.change) FROM registration_history o
                    WHERE o.shard = $1 AND o.id = h.id AND o.sequence = h.sequence AND o.change > $3)
            ORDER BY h.sequence
            """, channel.rawValue, snapshot.change, snapshot.registration
        ) { row in
            var columns = ColumnReader(row)
            return (registration: columns.member(), tags: TagRow(row, 2))
        }
        let meant = try meant(found.map(\.tags))
        return zip(found, meant).filter(\.1).map(\.0.registration)
    }

    private func hasChanged(_ channel: ChannelID, since snapshot: AudienceSnapshot) throws(StorageError) -> Bool {
        try session.exists(
            "SELECT 1 FROM registration_history WHERE shard = $1 AND channel = $2 AND change > $3 LIMIT 1",
            channel.rawValue, snapshot.change)
    }

    /// Returns true if at least one registration that a channel had in a snapshot still has this channel and matches
    /// the notification's tag expression.
    private func keepsOwn(_ channel: ChannelID, since snapshot: AudienceSnapshot) throws(StorageError) -> Bool {
        let kept = try session.all(
            """
            SELECT r.tags, r.spelled_tags FROM registrations r
            WHERE r.shard = $1 AND r.scope = $6 AND r.channel = $2 AND r.sequence <= $4
                AND (r.expires_at IS NULL OR r.expires_at > $5)
                AND (NOT EXISTS (SELECT 1 FROM registration_history u
                        WHERE u.shard = $1 AND u.id = r.id AND u.sequence = r.sequence AND u.change > $3)
                    OR EXISTS (SELECT 1 FROM registration_history h
                        WHERE h.shard = $1 AND h.id = r.id AND h.sequence = r.sequence AND h.channel = $2
                            AND h.change > $3 AND h.template IS NULL
                            AND h.change = (SELECT min(o.change) FROM registration_history o
                                WHERE o.shard = $1 AND o.id = h.id AND o.sequence = h.sequence AND o.change > $3)))
            """, channel.rawValue, snapshot.change, snapshot.registration, now, native
        ) { TagRow($0, 0) }
        return try meant(kept).contains(true)
    }

    /// Returns the channels from which native registrations have moved to the given channel since a snapshot.
    private func formerChannels(
        of channel: ChannelID, at snapshot: AudienceSnapshot
    ) throws(StorageError) -> [ChannelID] {
        try session.all(
            """
            SELECT h.channel FROM registrations r JOIN registration_history h
                ON h.shard = $1 AND h.id = r.id AND h.sequence = r.sequence
            WHERE r.shard = $1 AND r.scope = $4 AND r.channel = $2 AND h.change > $3 AND h.channel <> $2
                AND h.change = (SELECT min(o.change) FROM registration_history o
                    WHERE o.shard = $1 AND o.id = h.id AND o.sequence = h.sequence AND o.change > $3)
            """, channel.rawValue, snapshot.change, native
        ) { ChannelID(rawValue: $0.integer(0)) }
    }

    /// Returns the waiting retry of a channel in a native send; nil if there is none, or if it will be sent to another
    /// channel because the registrations have moved there.
    private func retry(at channel: ChannelID) throws(StorageError) -> AwaitedRetry? {
        let member = AudienceMember(channel: channel)
        let due = try session.first(
            "SELECT due_at FROM retries WHERE shard = $1 AND delivery = $2 AND channel = $3 AND registration = 0",
            delivery.id.rawValue, channel.rawValue
        ) { $0.timestamp(0) }
        guard let due, let snapshot = try ranges.snapshot(of: member, in: delivery.id) else { return nil }
        let awaited = AwaitedRetry(member: member, dueAt: due)
        if try keepsOwn(channel, since: snapshot) { return awaited }
        return try moved(from: channel, since: snapshot).isEmpty ? awaited : nil
    }

    /// Returns whether each of some registrations matches the notification's tag expression.
    private func meant(_ rows: [TagRow]) throws(StorageError) -> [Bool] {
        guard case .audience(let expression) = delivery.notification.target else { return rows.map { _ in false } }
        guard let expression else { return rows.map { _ in true } }
        let names = try TagRow.names(of: rows, session)
        var meant: [Bool] = []
        for row in rows { meant.append(expression.matches(try row.tags(names))) }
        return meant
    }

    /// Returns a channel, and all removed channels of its hub that had the same handle.
    private func ofSameHandle(as channel: ChannelID) throws(StorageError) -> [ChannelID] {
        [channel]
            + (try session.all(
                """
                SELECT f.channel FROM channels c JOIN former_channels f ON f.shard = $1 AND f.hash = c.hash
                WHERE c.shard = $1 AND c.channel = $2
                """, channel.rawValue
            ) { ChannelID(rawValue: $0.integer(0)) })
    }

    // MARK: Followed retries

    private func hasFollowed() throws(StorageError) -> Bool {
        try session.exists(
            "SELECT 1 FROM attempts WHERE shard = $1 AND delivery = $2 AND followed IS NOT NULL LIMIT 1",
            delivery.id.rawValue)
    }

    /// Returns true if the push to a member reached another channel than the member's own.
    private func isFollowed(_ member: AudienceMember) throws(StorageError) -> Bool {
        try session.exists(
            """
            SELECT 1 FROM attempts WHERE shard = $1 AND delivery = $2 AND channel = $3 AND registration = $4
                AND followed IS NOT NULL LIMIT 1
            """, delivery.id.rawValue, member.channel.rawValue, member.registration)
    }

    /// Returns true if one of these channels was reached by the push to a member of another channel.
    private func isReachedByFollowing(
        _ channels: [ChannelID], but member: AudienceMember
    ) throws(StorageError) -> Bool {
        try session.exists(
            """
            SELECT 1 FROM attempts
            WHERE shard = $1 AND delivery = $2 AND followed = ANY($3) AND channel <> $4 LIMIT 1
            """, delivery.id.rawValue, channels.map(\.rawValue), member.channel.rawValue)
    }
}
