import MartletModel

/// One round of retries: the members whose pushes are tried again together, and the handles that they are sent to.
struct RetryRound {
    /// Members whose channel is still in the audience. Some of these members are not sent to at this channel
    /// (`isElsewhere`).
    var page: AudiencePage
    /// Members whose registrations now have another handle, and are in the audience with that handle. The pushes to
    /// these members go to that handle.
    private(set) var followed = AudiencePage()
    /// Members whose registrations now have a handle that was already reached as the handle of another member. The
    /// retries of these members end.
    private(set) var repeated: Set<AudienceMember> = []
    /// Members whose registrations now have a handle that may still be reached as the handle of another member. The
    /// retries of these members are postponed.
    private(set) var waiting: [AudienceMember: Waiting] = [:]
    /// The last member of the round, if not all members fit in the round; nil if the round contains all of them.
    var through: AudienceMember?

    /// Which other member a waiting member waits for, and until when.
    struct Waiting {
        /// The other member, whose push may reach the handle first.
        var awaited: AudienceMember
        /// When the push to the other member is tried; nil if that member is in the same round.
        var until: Timestamp?
        /// The registration of the waiting member, with its current channel.
        var registration: AudienceMember
        var handle: PushHandle
    }

    /// Whether the current handle of a registration is free to be sent to, was already reached as the handle of another
    /// member, or may still be reached as the handle of another member.
    enum Claim {
        case free
        case reached
        case awaited(AudienceMember, until: Timestamp)
    }

    init(page: AudiencePage) {
        self.page = page
    }

    /// Returns whether a member of `page` is not sent to at its own channel. Either its registrations have moved to
    /// another channel, or its handle was or may be reached as the handle of another member.
    func isElsewhere(_ member: AudienceMember) -> Bool {
        repeated.contains(member) || waiting[member] != nil || followedMembers.contains(member)
    }

    private(set) var followedMembers: Set<AudienceMember> = []

    /// The addressee of each member of `page` and `followed`, and of each waiting member. An addressee has the handle
    /// to send to. It has the registration with its current channel only if that channel is not the channel of the
    /// member.
    var addressees: [AudienceMember: (registration: AudienceMember?, handle: PushHandle)] {
        var addressees: [AudienceMember: (registration: AudienceMember?, handle: PushHandle)] = [:]
        for index in page.members.indices { addressees[page.members[index]] = (nil, page.handle(index)) }
        for index in followed.members.indices {
            addressees[followed.members[index]] = (followed.followed[index], followed.handle(index))
        }
        for (member, wait) in waiting { addressees[member] = (wait.registration, wait.handle) }
        return addressees
    }

    /// Finds the members whose registrations have new handles, and adds each of these members to `followed`, `repeated`
    /// or `waiting`.
    /// - Parameters:
    ///   - successors: The current channels of the registrations that the members had.
    ///   - found: The page of those successors that are in the audience.
    ///   - claim: Returns whether the current handle of a successor is free, was already reached as the handle of
    ///     another member, or may still be reached as the handle of another member.
    mutating func follow(_ successors: Successors, in found: AudiencePage, claim: (Successor) -> Claim) {
        repeated = successors.reached
        let successors = Dictionary(successors.moved.map { ($0.registration, $0) }) { first, _ in first }
        var channels: [ChannelID: AudienceMember] = [:]
        for index in found.members.indices {
            guard let successor = successors[found.members[index]], !followedMembers.contains(successor.member) else {
                continue
            }
            let channel = found.members[index].channel
            switch claim(successor) {
            case .reached: repeated.insert(successor.member)
            case .awaited(let other, let until): wait(successor, for: other, until: until, index, of: found)
            case .free:
                // In a native send, two members of the round may have the same handle by now. Then only the first is
                // sent to, and the second waits for the outcome of that push.
                if successor.member.registration == 0, let first = channels[channel] {
                    wait(successor, for: first, until: nil, index, of: found)
                } else {
                    channels[channel] = successor.member
                    followedMembers.insert(successor.member)
                    followed.append(successor.member, following: index, of: found)
                }
            }
        }
        // A member with several registrations is sent to at the new handle of one of them. The member then neither
        // waits nor ends because of its other registrations.
        waiting = waiting.filter { !followedMembers.contains($0.key) }
        repeated = repeated.filter { !followedMembers.contains($0) && waiting[$0] == nil }
    }

    private mutating func wait(
        _ successor: Successor, for other: AudienceMember, until timestamp: Timestamp?, _ index: Int,
        of found: AudiencePage
    ) {
        waiting[successor.member] = Waiting(
            awaited: other, until: timestamp, registration: found.members[index], handle: found.handle(index))
    }
}
