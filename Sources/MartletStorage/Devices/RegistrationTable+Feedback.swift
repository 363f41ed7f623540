import MartletCore
import MartletModel

extension RegistrationTable {
    /// Removes, moves or marks channels as the feedback of their push service says, in the order of the feedback.
    /// Successive items of the kind `.gone` are applied together, which costs less.
    /// - Returns: The number of removed channels.
    func apply(_ feedback: [ChannelFeedback], in hub: Hub.ID, at now: Timestamp) throws(StorageError) -> Int {
        var removed = 0
        var rest = feedback[...]
        while let first = rest.first {
            let gone = rest.prefix(while: \.isGone)
            if gone.isEmpty {
                try apply(first, in: hub, at: now)
                rest = rest.dropFirst()
            } else {
                removed += try ChannelRemoval.remove(gone, connection, in: hub, at: now)
                rest = rest.dropFirst(gone.count)
            }
        }
        return removed
    }

    private func apply(_ item: ChannelFeedback, in hub: Hub.ID, at now: Timestamp) throws(StorageError) {
        let platform = try connection.first(ChannelTable.finding, item.channel.rawValue, hub.rawValue) { row in
            PlatformID(rawValue: row.text(0))
        }
        guard let platform else { return }
        switch item.kind {
        case .gone: break
        case .moved(let handle, let key):
            try move(item.channel, to: handle, key: key, hub: hub, platform: platform, at: now)
        case .suspected: try channels.setSuspected(true, item.channel)
        case .trusted: try channels.setSuspected(false, item.channel)
        }
    }

    /// Gives a channel its new handle. If another channel already has that handle, moves the registrations to that
    /// channel.
    private func move(
        _ channel: ChannelID, to handle: PushHandle, key: String, hub: Hub.ID, platform: PlatformID, at now: Timestamp
    ) throws(StorageError) {
        let target = try channels.id(ofKey: key, hub: hub, platform: platform) ?? channel
        let registrations = try registrations(of: channel)
        if target == channel { try channels.setHandle(handle, key: key, of: channel) }
        for stored in registrations {
            var moved = stored
            moved.registration.version += 1
            moved.registration.updatedAt = now
            moved.index.channel = target
            try update(moved, from: stored, .moved)
        }
    }
}

extension ChannelFeedback {
    fileprivate var isGone: Bool {
        if case .gone = kind { true } else { false }
    }
}
