import MartletCore
import MartletModel

extension MemoryState {
    func audience(_ query: AudienceQuery) -> AudiencePage {
        var page = AudiencePage()
        let reached = channels.filter {
            $0.hub == query.hub && $0.platform == query.platform && $0.id > query.after.channel
                && $0.id <= query.throughChannel
        }
        let among = query.among.map { Set($0.map(\.channel)) }
        for channel in reached.sorted(by: { $0.id < $1.id }) {
            let matching = registrations.filter { entry in
                entry.channel == channel.id && entry.isLive(at: query.now)
                    && (query.expression?.matches(Set(entry.registration.tags)) ?? true)
            }
            guard !matching.isEmpty, among?.contains(channel.id) ?? true else { continue }
            guard page.count < query.limit else {
                page.isLast = false
                break
            }
            var text = channel.handle.text
            text.withUTF8 { page.append(AudienceMember(channel: channel.id), handle: $0) }
            page.skipped += matching.count - 1
        }
        return page
    }

    /// - Returns: Whether a channel was removed.
    mutating func apply(_ feedback: ChannelFeedback, in hub: Hub.ID, at now: Timestamp) -> Bool {
        guard let found = channels.firstIndex(where: { $0.id == feedback.channel && $0.hub == hub }) else {
            return false
        }
        switch feedback.kind {
        case .gone(let moment):
            if let moment, channels[found].registeredAt > moment { return false }
            while let place = registrations.firstIndex(where: { $0.channel == feedback.channel }) { remove(place) }
            return true
        case .moved(let handle, let key):
            move(found, to: handle, key: key, at: now)
            return false
        }
    }

    private mutating func move(_ found: Int, to handle: PushHandle, key: String, at now: Timestamp) {
        let channel = channels[found]
        let target = channels.first { $0.hub == channel.hub && $0.platform == channel.platform && $0.key == key }
        if target == nil || target?.id == channel.id {
            channels[found].handle = handle
            channels[found].key = key
        }
        for place in registrations.indices where registrations[place].channel == channel.id {
            registrations[place].channel = target?.id ?? channel.id
            registrations[place].registration.version += 1
            registrations[place].registration.updatedAt = now
        }
        removeUnusedChannels()
    }
}
