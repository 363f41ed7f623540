public import MartletModel

/// The telemetry of a notification: the sum of its deliveries.
public struct NotificationReport: Sendable {
    public var notification: Notification
    public var state: NotificationState
    public var startedAt: Timestamp?
    public var endedAt: Timestamp?
    /// The platforms of the notification, each once, in the order of its deliveries.
    public var platforms: [PlatformID]
    public var counts: [PlatformID: [OutcomeName: Int]]

    /// Whether the notification was canceled before it began. Then its audience was never read.
    public var isWithdrawn: Bool { state == .canceled && startedAt == nil && platforms.isEmpty }

    /// Creates the report of a notification that is scheduled, or was canceled before it began.
    public init(_ notification: Notification, waiting state: NotificationState, endedAt: Timestamp? = nil) {
        self.notification = notification
        self.state = state
        self.endedAt = endedAt
        platforms = []
        counts = [:]
    }

    /// Creates the report of a notification that has begun.
    /// - Parameters:
    ///   - begunAt: When the deliveries of the notification were created.
    ///   - isCanceled: Whether the notification has been canceled since it began.
    ///   - hasWaitingParts: Whether a part of the notification has not begun.
    public init(
        _ notification: Notification, begunAt: Timestamp, isCanceled: Bool = false, hasWaitingParts: Bool = false,
        _ deliveries: [DeliveryReport]
    ) {
        self.notification = notification
        state = NotificationState(
            ofPlatforms: Dictionary(grouping: deliveries, by: \.platform).values.map { $0.map(\.state) },
            isCanceled: isCanceled, hasWaitingParts: hasWaitingParts)
        platforms = []
        counts = [:]
        for delivery in deliveries {
            if counts[delivery.platform] == nil { platforms.append(delivery.platform) }
            counts[delivery.platform, default: [:]].merge(delivery.counts, uniquingKeysWith: +)
        }
        startedAt = deliveries.isEmpty ? begunAt : deliveries.compactMap(\.startedAt).min()
        if state.isFinal { endedAt = deliveries.isEmpty ? begunAt : deliveries.compactMap(\.endedAt).max() }
    }
}

/// The telemetry of one delivery: its state, its start and end, and the number of pushes with each outcome.
public struct DeliveryReport: Sendable {
    public var platform: PlatformID
    public var state: NotificationState
    public var startedAt: Timestamp?
    public var endedAt: Timestamp?
    public var counts: [OutcomeName: Int]

    public init(
        platform: PlatformID, state: NotificationState, startedAt: Timestamp?, endedAt: Timestamp?,
        counts: [OutcomeName: Int]
    ) {
        self.platform = platform
        self.state = state
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.counts = counts
    }
}
