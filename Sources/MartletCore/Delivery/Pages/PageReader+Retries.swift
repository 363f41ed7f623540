import MartletModel

/// The members and handles that a round of retries is sent to.
struct RetryRound {
    /// Members that are still in the audience with the same channel.
    var page: AudiencePage
    /// Members whose registrations have got another handle, and are in the audience with it.
    var followed = AudiencePage()
    /// Members whose registrations have got a handle that the notification is sent to as another member.
    var repeated: Set<AudienceMember> = []
    /// The last member of the round, if not all fit; nil if the round is for all of them.
    var through: AudienceMember?
}

extension PageReader {
    /// Finds the current handles of members. A member that is not in the audience with its old channel may have a new
    /// handle: its registration is followed to that handle, unless the device with that handle was or will be sent to
    /// as another member.
    func round(
        of members: [AudienceMember], _ progress: DeliveryProgress, _ map: any ProgressMap,
        byteLimit: Int = AudiencePage.byteLimit
    ) async throws(StorageError) -> RetryRound {
        let delivery = progress.delivery
        var round = RetryRound(page: try await page(of: members, delivery, byteLimit: byteLimit))
        if !round.page.isLast { round.through = round.page.members.last }
        let last = round.through ?? .end
        guard case .audience(let expression) = delivery.notification.target else { return round }
        let present = Set(round.page.members)
        let absent = members.filter { $0 <= last && !present.contains($0) && !map.contains($0) }
        guard !absent.isEmpty else { return round }
        let successors = try await notifications.successors(of: absent, in: delivery)
        guard !successors.isEmpty else { return round }
        var query = AudienceQuery(of: delivery, expression, limit: successors.count, byteLimit: .max, now: time.now)
        query.throughChannel = AudienceMember.end.channel
        query.among = successors.map(\.registration).sorted()
        round.follow(successors, in: try await devices.audience(query)) { isSentToAsAnother($0, progress, map) }
        return round
    }

    /// Whether the device with the current handle was reached, or will be sent to, as another member.
    private func isSentToAsAnother(
        _ successor: Successor, _ progress: DeliveryProgress, _ map: any ProgressMap
    ) -> Bool {
        let bounds = progress.delivery.bounds
        let own =
            progress.delivery.isOfTemplates
            ? successor.registration : AudienceMember(channel: successor.registration.channel)
        let isWithin = progress.delivery.isOfTemplates || own.channel <= bounds.channel
        let isStillToCome = !progress.isFannedOut && isWithin && own > progress.cursor
        return successor.isRecorded || isStillToCome
            || successor.others.contains { $0 <= bounds.channel && map.contains(AudienceMember(channel: $0)) }
    }
}

extension RetryRound {
    /// The registrations and handles of the members in both pages.
    var addressees: [AudienceMember: (registration: AudienceMember?, handle: PushHandle)] {
        var addressees: [AudienceMember: (registration: AudienceMember?, handle: PushHandle)] = [:]
        for index in page.members.indices { addressees[page.members[index]] = (nil, page.handle(index)) }
        for index in followed.members.indices {
            addressees[followed.members[index]] = (followed.followed[index], followed.handle(index))
        }
        return addressees
    }

    /// - Parameters:
    ///   - found: The registrations among the successors that are in the audience.
    ///   - isRepeated: Whether a successor is sent to as another member.
    fileprivate mutating func follow(
        _ successors: [Successor], in found: AudiencePage, isRepeated: (Successor) -> Bool
    ) {
        let successors = Dictionary(successors.map { ($0.registration, $0) }) { first, _ in first }
        var members: Set<AudienceMember> = []
        var channels: Set<ChannelID> = []
        for index in found.members.indices {
            guard let successor = successors[found.members[index]], !members.contains(successor.member) else {
                continue
            }
            let isNative = successor.member.registration == 0
            if isRepeated(successor) || isNative && channels.contains(found.members[index].channel) {
                repeated.insert(successor.member)
            } else {
                members.insert(successor.member)
                channels.insert(found.members[index].channel)
                followed.append(successor.member, following: index, of: found)
            }
        }
        repeated.subtract(members)
    }
}
