import MartletCore

/// A cursor over every position whose channel is in a list, whether a registration exists at this position or not. It
/// is only useful when intersected with a set of registrations: the result is the registrations of the listed channels.
final class ChannelCursor: AudienceCursor {
    private let channels: [ChannelID]
    private var next = 0

    /// - Parameter channels: The channels in ascending order.
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
