import MartletCore
import MartletModel

extension RegistrationTable {
    /// Removes, moves or marks channels as the feedback of their push service says.
    /// - Returns: The number of removed channels.
    func apply(_ feedback: [ChannelFeedback], in hub: Hub.ID, at now: Timestamp) throws(StorageError) -> Int {
        var removed = 0
        var statements = BorrowedStatements(connection)
        defer { statements.giveBack() }
        let finding = try statements.take(ChannelTable.finding)
        try finding.bind(hub.rawValue, at: 2)
        for item in feedback {
            try finding.bind(item.channel.rawValue, at: 1)
            let found =
                try finding.step()
                ? (platform: PlatformID(rawValue: finding.text(0)), registeredAt: finding.timestamp(1)) : nil
            finding.reset()
            guard let found else { continue }
            switch item.kind {
            case .gone(let timestamp):
                if let timestamp, found.registeredAt > timestamp { continue }
                for stored in try registrations(of: item.channel) { try remove(stored, .unregistered, at: now) }
                removed += 1
            case .moved(let handle, let key):
                try move(item.channel, to: handle, key: key, hub: hub, platform: found.platform, at: now)
            case .suspected: try channels.setSuspected(true, item.channel)
            case .trusted: try channels.setSuspected(false, item.channel)
            }
        }
        return removed
    }

    /// Gives a channel its new handle, or merges it with the channel that already has that handle.
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
