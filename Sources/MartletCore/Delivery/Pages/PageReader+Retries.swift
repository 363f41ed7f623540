import MartletModel

extension PageReader {
    /// The maximum time for which a retry waits for a later page that contains its registration.
    private static let maximumPageWait = Duration.seconds(60)

    /// Prepares a round of retries: finds the current handles of the members whose pushes are retried.
    ///
    /// A member may have a new handle in two cases: its old channel is not in the audience any more, or that channel is
    /// in the audience only because other registrations were moved to it later. The retry is then sent to the new
    /// handle of the member's own registration. If the device with the new handle was already reached as another
    /// member, the member becomes `repeated`. If that device may still be reached as another member, the member becomes
    /// `waiting`.
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
        let successors = try await notifications.successors(
            of: absent, present: round.page.members.filter { !map.contains($0) }, in: delivery, at: time.now)
        var found = AudiencePage()
        if !successors.moved.isEmpty {
            var query = AudienceQuery(
                of: delivery, expression, limit: successors.moved.count, byteLimit: .max, now: time.now)
            query.throughChannel = AudienceMember.end.channel
            query.among = successors.moved.map(\.registration).sorted()
            found = try await devices.audience(query)
        }
        let candidates = successors.moved.flatMap { [Self.ownMember($0.registration, in: delivery)] + $0.others }
        let other = successors.moved.isEmpty ? nil : try await otherSide(of: delivery, candidates)
        round.follow(successors, in: found) { claim(on: $0, progress, map, other) }
        return round
    }

    /// Returns the member that a registration belongs to at its current channel.
    private static func ownMember(_ current: AudienceMember, in delivery: Delivery) -> AudienceMember {
        delivery.isOfTemplates ? current : AudienceMember(channel: current.channel)
    }

    /// Returns whether the device with the current handle of a successor is free to be sent to, was already reached as
    /// another member, or may still be reached as another member.
    private func claim(
        on successor: Successor, _ progress: DeliveryProgress, _ map: any ProgressMap, _ other: OtherSide?
    ) -> RetryRound.Claim {
        let delivery = progress.delivery
        let (bounds, current) = (delivery.bounds, successor.registration)
        func isMember(_ member: AudienceMember) -> Bool {
            delivery.isOfTemplates ? member.registration <= bounds.registration : member.channel <= bounds.channel
        }
        let own = Self.ownMember(current, in: delivery)
        if let other, other.handled.contains(own) || successor.others.contains(where: other.handled.contains) {
            return .reached
        }
        if successor.isReached || successor.others.contains(where: { isMember($0) && map.contains($0) }) {
            return .reached
        }
        if let awaited = successor.awaited { return .awaited(awaited.member, until: awaited.dueAt) }
        if let other, isMember(own), !other.sample.contains(own.number) {
            return other.willReach(own) ? .awaited(own, until: time.now + Self.maximumPageWait) : .free
        }
        guard !progress.isFannedOut, isMember(own), own > progress.cursor else { return .free }
        // A later page contains the registration at its current channel. In a template send, the registration is the
        // same member in that later page, with the same bit in the progress map. So the later page sends the push, and
        // this retry ends. In a native send, the registration belongs to another member in the later page. So this
        // retry waits for the result of that other member.
        return delivery.isOfTemplates ? .reached : .awaited(own, until: time.now + Self.maximumPageWait)
    }
}
