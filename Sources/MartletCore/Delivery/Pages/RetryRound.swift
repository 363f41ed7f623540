import MartletModel

/// The members and handles that a round of retries is sent to.
struct RetryRound {
    /// Members that are still in the audience with the same channel. Some of them are nevertheless not sent to at that
    /// channel (`isElsewhere`).
    var page: AudiencePage
    /// Members whose registrations now have another handle, and are in the audience with that handle.
    private(set) var followed = AudiencePage()
    /// Members whose registrations now have a handle that was already reached as the handle of another member.
    private(set) var repeated: Set<AudienceMember> = []
    /// Members whose registrations now have a handle that may still be reached as the handle of another member.
    private(set) var waiting: [AudienceMember: Waiting] = [:]
    /// The last member of the round if not all members fit; nil if the round is for all of them.
    var through: AudienceMember?

    /// The wait of one member for another member.
    struct Waiting {
        /// The member that is waited for.
        var awaited: AudienceMember
        /// When the awaited member is tried; nil if it is in the same round.
        var until: Timestamp?
        /// The registration with its current channel.
        var registration: AudienceMember
        var handle: PushHandle
    }

    /// The decision whether the handle of a successor is also reached as the handle of another member.
    enum Claim {
        case free
        case reached
        case awaited(AudienceMember, until: Timestamp)
    }

    init(page: AudiencePage) {
        self.page = page
    }

    /// Returns whether a member of `page` is not sent to at its own channel, because its registrations have moved to
    /// another channel, or because another member was followed to its handle and reached there.
    func isElsewhere(_ member: AudienceMember) -> Bool {
        repeated.contains(member) || waiting[member] != nil || followedMembers.contains(member)
    }

    private(set) var followedMembers: Set<AudienceMember> = []

    /// The registrations and handles of the members of `page` and `followed`, and of the members that wait.
    var addressees: [AudienceMember: (registration: AudienceMember?, handle: PushHandle)] {
        var addressees: [AudienceMember: (registration: AudienceMember?, handle: PushHandle)] = [:]
        for index in page.members.indices { addressees[page.members[index]] = (nil, page.handle(index)) }
        for index in followed.members.indices {
            addressees[followed.members[index]] = (followed.followed[index], followed.handle(index))
        }
        for (member, wait) in waiting { addressees[member] = (wait.registration, wait.handle) }
        return addressees
    }

    /// Follows registrations to their current handles, and records which members are followed, repeated or wait.
    /// - Parameters:
    ///   - successors: The current channels of the registrations that the members had.
    ///   - found: The page of those successors that are in the audience.
    ///   - claim: Returns whether the handle of a successor is also reached as the handle of another member.
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
                // In a native send, two members now have the same handle: the second member waits for the outcome of
                // the first.
                if successor.member.registration == 0, let first = channels[channel] {
                    wait(successor, for: first, until: nil, index, of: found)
                } else {
                    channels[channel] = successor.member
                    followedMembers.insert(successor.member)
                    followed.append(successor.member, following: index, of: found)
                }
            }
        }
        // If a member has several registrations, it is enough to follow one of them to its handle.
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
