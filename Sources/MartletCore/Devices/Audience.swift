public import MartletModel

/// Which channels a page of fan-out is to hold.
public struct AudienceQuery: Sendable {
    public var hub: Hub.ID
    public var platform: PlatformID
    /// nil: every registration of the platform.
    public var expression: TagExpression?
    /// The page begins behind this channel.
    public var after: ChannelID
    /// And ends with this one at the latest: whoever registers after the send was accepted is not in its audience.
    public var through: ChannelID
    /// Only these channels, in order; nil: all.
    public var among: [ChannelID]?
    public var limit: Int
    public var now: Timestamp

    public init(
        hub: Hub.ID, platform: PlatformID, expression: TagExpression?, after: ChannelID, through: ChannelID,
        among: [ChannelID]? = nil, limit: Int, now: Timestamp
    ) {
        self.hub = hub
        self.platform = platform
        self.expression = expression
        self.after = after
        self.through = through
        self.among = among
        self.limit = limit
        self.now = now
    }
}

/// Channels with their handles, in one buffer: a page of thousands costs a handful of allocations.
public struct AudiencePage: Sendable {
    public private(set) var channels: [ChannelID] = []
    /// Registrations that matched besides the first of their channel: `Skipped` in telemetry.
    public var skipped = 0
    /// Whether no channel of the audience lies behind this page.
    public var isLast = true
    private var handleBytes: [UInt8] = []
    private var handleEnds: [UInt32] = []

    public init() {}

    public var count: Int { channels.count }

    /// - Parameter handle: The UTF-8 text of the handle (`PushHandle.text`).
    public mutating func append(_ channel: ChannelID, handle: UnsafeBufferPointer<UInt8>) {
        channels.append(channel)
        handleBytes.append(contentsOf: handle)
        handleEnds.append(UInt32(handleBytes.count))
    }

    /// Lends the UTF-8 text of the handle at a place.
    public func withHandle<Result>(_ place: Int, _ read: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        let start = place == 0 ? 0 : Int(handleEnds[place - 1])
        let end = Int(handleEnds[place])
        return handleBytes.withUnsafeBufferPointer { read(UnsafeBufferPointer(rebasing: $0[start..<end])) }
    }
}
