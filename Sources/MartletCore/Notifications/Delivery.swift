public import MartletModel

/// One notification on one platform. Each delivery is sent on its own, so that a failing push service does not delay
/// other platforms.
public struct Delivery: Sendable {
    /// Assigned by the store, in the order in which deliveries begin.
    public struct ID: RawRepresentable, Hashable, Comparable, Sendable {
        public let rawValue: Int64

        public init(rawValue: Int64) {
            self.rawValue = rawValue
        }

        /// Before every delivery.
        public static let none = ID(rawValue: 0)

        public static func < (left: ID, right: ID) -> Bool { left.rawValue < right.rawValue }
    }

    public let id: ID
    public let notification: Notification
    public let platform: PlatformID
    public let bounds: AudienceBounds

    public init(id: ID, notification: Notification, platform: PlatformID, bounds: AudienceBounds) {
        self.id = id
        self.notification = notification
        self.platform = platform
        self.bounds = bounds
    }

    var isOfTemplates: Bool {
        if case .template = notification.content { true } else { false }
    }

    /// Whether devices get different messages.
    var hasSeveralMessages: Bool {
        switch notification.content {
        case .native: false
        case .template: true
        case .message(let content): content.hasVariants
        }
    }

    var lane: LaneID { LaneID(hub: notification.hub, platform: platform) }

    /// The highest member number of its audience.
    var lastNumber: Int64 {
        switch (notification.target, notification.content) {
        case (.direct(let handles), _): Int64(handles.count)
        case (.audience, .native), (.audience, .message): bounds.channel.rawValue
        case (.audience, .template): bounds.registration
        }
    }
}

/// An unfinished delivery and the progress of its fan-out.
public struct DeliveryProgress: Sendable {
    public var delivery: Delivery
    public var state: NotificationState
    /// The last member of the last page that is done.
    public var cursor: AudienceMember
    /// Whether all pages are done, so that only retries are left.
    public var isFannedOut: Bool

    public init(delivery: Delivery, state: NotificationState, cursor: AudienceMember, isFannedOut: Bool) {
        self.delivery = delivery
        self.state = state
        self.cursor = cursor
        self.isFannedOut = isFannedOut
    }

    /// The progress of a delivery that begins.
    public init(_ delivery: Delivery) {
        self.init(delivery: delivery, state: .enqueued, cursor: .none, isFannedOut: false)
    }
}
