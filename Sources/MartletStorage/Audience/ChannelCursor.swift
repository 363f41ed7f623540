import MartletCore

/// Every registration of some channels, whether it is there or not: to be joined with a set of registrations.
final class ChannelCursor: AudienceCursor {
    private let channels: [ChannelID]
    private var next = 0

    /// - Parameter channels: In order.
    init(_ channels: [ChannelID]) {
        self.channels = channels
    }

    override func seek(_ position: AudiencePosition) throws(StorageError) -> AudiencePosition {
        while next < channels.count, channels[next].rawValue < position.channel { next += 1 }
        guard next < channels.count else { return .end }
        let channel = channels[next].rawValue
        return channel == position.channel ? position : AudiencePosition(channel: channel, registration: .min)
    }
}
