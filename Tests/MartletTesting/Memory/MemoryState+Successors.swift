import MartletCore
import MartletModel

extension MemoryState {
    func successors(
        of absent: [AudienceMember], present: [AudienceMember], in delivery: Delivery, at now: Timestamp
    ) -> Successors {
        guard let entry = index(of: delivery.id).map({ deliveries[$0] }) else { return Successors() }
        let search = SuccessorSearch(state: self, delivery: delivery, entry: entry, now: now)
        var found = Successors()
        found.reached = Set(present.filter { search.isReachedByFollowing([$0.channel], but: $0) })
        found.moved = absent.flatMap { $0.registration == 0 ? search.ofChannel($0) : search.ofRegistration($0) }
        for member in present where member.registration == 0 && !search.keepsOwn(member) {
            found.moved += search.ofChannel(member)
        }
        return found
    }
}

/// Finds the current channels of registrations that the members of a delivery had when their page was read.
private struct SuccessorSearch {
    let state: MemoryState
    let delivery: Delivery
    let entry: MemoryDelivery
    let now: Timestamp

    private var expression: TagExpression? {
        if case .audience(let expression) = delivery.notification.target { expression } else { nil }
    }

    // MARK: Template sends

    func ofRegistration(_ member: AudienceMember) -> [Successor] {
        let found = state.registrations.first {
            $0.sequence == member.registration && $0.channel != member.channel && $0.registration.template != nil
        }
        guard let found else { return [] }
        let places = places(of: found.channel)
        let others = places.filter { $0 != member.channel }.flatMap(registrations).filter {
            $0.registration != member.registration
        }
        let awaited = entry.retries.values.filter { retry in
            retry.member.channel == found.channel && retry.member.registration != member.registration
                && state.registrations.contains {
                    $0.sequence == retry.member.registration && $0.channel == found.channel
                }
        }.min { $0.dueAt < $1.dueAt }
        return [
            Successor(
                member: member, registration: AudienceMember(channel: found.channel, registration: found.sequence),
                others: others, isReached: isReachedByFollowing(places, but: member),
                awaited: awaited.map { AwaitedRetry(member: $0.member, dueAt: $0.dueAt) })
        ]
    }

    private func registrations(at channel: ChannelID) -> [AudienceMember] {
        guard let snapshot = snapshot(of: AudienceMember(channel: channel)) else { return [] }
        let past = state.history.map(\.version).filter { $0.channel == channel }.map(\.sequence)
        let present = state.registrations.filter { $0.channel == channel }.map(\.sequence)
        return Set(past + present).sorted().filter { sequence in
            sequence <= snapshot.registration
                && version(of: sequence, at: snapshot).map { $0.channel == channel && $0.template != nil } ?? false
        }.map { AudienceMember(channel: channel, registration: $0) }.filter { !isFollowed($0) }
    }

    // MARK: Native sends

    func ofChannel(_ member: AudienceMember) -> [Successor] {
        guard let snapshot = snapshot(of: member) else { return [] }
        return moved(from: member).map { registration in
            let places = places(of: registration.channel)
            let former = state.registrations.filter {
                $0.channel == registration.channel && $0.registration.template == nil
            }.compactMap { version(of: $0.sequence, at: snapshot)?.channel }.filter { $0 != registration.channel }
            let own = places.map { AudienceMember(channel: $0) }.filter { !isFollowed($0) }
            return Successor(
                member: member, registration: registration,
                others: Set(own + former.map { AudienceMember(channel: $0) }).subtracting([member]).sorted(),
                isReached: isReachedByFollowing(places, but: member), awaited: retry(at: registration.channel))
        }
    }

    /// Returns the registrations that the channel of a member had when its page was read, that then matched the tag
    /// expression, and that have another channel now. Each is returned with its current channel.
    private func moved(from member: AudienceMember) -> [AudienceMember] {
        state.registrations.filter { $0.channel != member.channel && wasMeant($0, as: member) }.map {
            AudienceMember(channel: $0.channel, registration: $0.sequence)
        }
    }

    /// Returns true if at least one registration that the channel of a member had when its page was read still has this
    /// channel and matches the tag expression.
    func keepsOwn(_ member: AudienceMember) -> Bool {
        guard let snapshot = snapshot(of: member) else { return true }
        return state.registrations.contains {
            $0.channel == member.channel && $0.sequence <= snapshot.registration && $0.registration.template == nil
                && $0.isLive(at: now) && expression?.matches(Set($0.registration.tags)) ?? true
                && version(of: $0.sequence, at: snapshot)?.channel == member.channel
        }
    }

    private func wasMeant(_ registration: MemoryRegistration, as member: AudienceMember) -> Bool {
        guard let snapshot = snapshot(of: member), let then = version(of: registration.sequence, at: snapshot) else {
            return false
        }
        return then.channel == member.channel && registration.sequence <= snapshot.registration
            && then.template == nil && registration.registration.template == nil
            && expression?.matches(Set(then.tags)) ?? true
    }

    private func retry(at channel: ChannelID) -> AwaitedRetry? {
        let member = AudienceMember(channel: channel)
        guard let retry = entry.retries[member], keepsOwn(member) || moved(from: member).isEmpty else { return nil }
        return AwaitedRetry(member: member, dueAt: retry.dueAt)
    }

    // MARK: What was

    /// Returns the state that a registration had in a snapshot; nil if the registration did not exist or its state is
    /// not kept.
    private func version(of sequence: Int64, at snapshot: AudienceSnapshot) -> RegistrationVersion? {
        let past = state.history.map(\.version).first { version in
            version.sequence == sequence && version.end.map { $0.change > snapshot.change } ?? false
        }
        if let past { return past }
        return state.registrations.first { $0.sequence == sequence }.map {
            RegistrationVersion(sequence: $0.sequence, channel: $0.channel, state.shown($0), end: nil)
        }
    }

    private func snapshot(of member: AudienceMember) -> AudienceSnapshot? {
        entry.ranges.filter { $0.last >= member }.min { $0.last < $1.last }?.snapshot
    }

    /// Returns a channel, and all removed channels that had the same handle.
    private func places(of channel: ChannelID) -> [ChannelID] {
        let current = state.channels.first { $0.id == channel }
        let former = state.formerChannels.filter {
            $0.hub == current?.hub && $0.platform == current?.platform && $0.key == current?.key
        }
        return [channel] + former.map(\.id)
    }

    private func isFollowed(_ member: AudienceMember) -> Bool {
        entry.attempts.contains { $0.member == member && $0.followed != nil }
    }

    func isReachedByFollowing(_ channels: [ChannelID], but member: AudienceMember) -> Bool {
        entry.attempts.contains { attempt in
            attempt.member.channel != member.channel && attempt.followed.map(channels.contains) ?? false
        }
    }
}
