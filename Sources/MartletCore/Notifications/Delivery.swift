public import MartletModel

/// A part of a notification on one platform; most notifications have only one part. Each delivery is sent
/// independently, so that a failing push service does not delay other platforms.
public struct Delivery: Sendable {
    /// The id of a delivery. The store assigns ids in the order in which deliveries begin.
    public struct ID: RawRepresentable, Hashable, Comparable, Sendable {
        public let rawValue: Int64

        public init(rawValue: Int64) {
            self.rawValue = rawValue
        }

        /// An id that comes before the id of every delivery.
        public static let none = ID(rawValue: 0)

        public static func < (left: ID, right: ID) -> Bool { left.rawValue < right.rawValue }
    }

    public let id: ID
    public let notification: Notification
    public let platform: PlatformID
    public let bounds: AudienceBounds
    /// The part of the audience that the delivery is for; nil for the whole audience.
    public var part: DeliveryPart?

    public init(
        id: ID, notification: Notification, platform: PlatformID, bounds: AudienceBounds, part: DeliveryPart? = nil
    ) {
        self.id = id
        self.notification = notification
        self.platform = platform
        self.bounds = bounds
        self.part = part
    }

    /// When undelivered pushes are given up.
    var expiresAt: Timestamp { part?.expiresAt ?? notification.expiresAt }

    /// The position of the delivery in the order of all deliveries with the same collapse key. A part has the rank of
    /// the first part on its platform, so that no part supersedes another. A resend has the rank of its original.
    var rank: ID { notification.resend?.rank ?? part?.lead ?? id }

    var isOfTemplates: Bool {
        if case .template = notification.content { true } else { false }
    }

    /// Whether devices may get different messages.
    var hasSeveralMessages: Bool {
        switch notification.content {
        case .native: false
        case .template: true
        case .message(let content): content.hasVariants
        }
    }

    var lane: LaneID { LaneID(hub: notification.hub, platform: platform) }

    /// The highest number that a member of the delivery can have (`AudienceMember.number`).
    public var lastNumber: Int64 {
        switch (notification.target, notification.content) {
        case (.direct(let handles), _): Int64(handles.count)
        case (.audience, .native), (.audience, .message): bounds.channel.rawValue
        case (.audience, .template): bounds.registration
        }
    }
}

/// A delivery and the progress of its fan-out.
public struct DeliveryProgress: Sendable {
    public var delivery: Delivery
    public var state: NotificationState
    /// The last member of the last page that is done.
    public var cursor: AudienceMember
    /// Whether all pages are done, so that only retries are left.
    public var isFannedOut: Bool
    /// Whether `ReachedStore` has members that the delivery has reached. A process that begins with the delivery adds
    /// them to its progress map. Only `NotificationStore.unfinished` sets it.
    public var hasReached = false

    public init(delivery: Delivery, state: NotificationState, cursor: AudienceMember, isFannedOut: Bool) {
        self.delivery = delivery
        self.state = state
        self.cursor = cursor
        self.isFannedOut = isFannedOut
    }

    /// Creates the progress of a delivery that has not sent any page yet.
    public init(_ delivery: Delivery) {
        self.init(delivery: delivery, state: .enqueued, cursor: .none, isFannedOut: false)
    }
}
