import MartletModel

/// A delivery between two of its pages: its progress, and what this process knows about it besides.
struct DeliveryRun: Sendable {
    var progress: DeliveryProgress
    /// What it brings, made ready by the first page.
    var content: DeliveryContent?
    /// What the last turn was sent with.
    var lane: SendContext?
    /// Pushes of the last turn: of its pages, or of a round of retries.
    var sent = 0
    /// Whether the last turn has recorded something, or was put off by a page of another delivery that has ended since.
    var hasProgressed = false
    /// Whether the store has shown that the delivery is gone with its hub.
    var isGone = false
    /// What a page of the last turn has taken, from one to the next; nil where it is not known.
    var pageTime: Duration?
    /// Of the last turn, the newest delivery that devices get instead of this one, where it is not over.
    var newer: Delivery.ID?
    /// Whether it was followed from the first page on.
    let knowsAll: Bool
    private var hasTargets = false
    private var hasRetries = false

    init(_ progress: DeliveryProgress) {
        self.progress = progress
        knowsAll = progress.cursor == .none && !progress.isFannedOut
    }

    var delivery: Delivery { progress.delivery }

    /// Of a handle, what is not its text.
    private static let bytesOfHandle = 96

    /// About how much memory it takes, in bytes.
    var weight: Int {
        let notification = delivery.notification
        var weight = notification.content.body.count
        if case .templates(let renderer) = content { weight += renderer.memoryBytes }
        guard case .direct(let handles) = notification.target else { return weight }
        return handles.reduce(weight) { $0 + Self.bytesOfHandle + $1.parts.reduce(0) { $0 + $1.utf8.count } }
    }

    mutating func beginTurn() {
        sent = 0
        newer = nil
        hasProgressed = false
    }

    /// Whether a page has been sent.
    var hasBegun: Bool { progress.cursor != .none || progress.isFannedOut }

    /// The state that the last page ends in, where that can be told without asking the store.
    var final: NotificationState? {
        guard knowsAll, !hasRetries else { return nil }
        return hasTargets ? .completed : .noTargetFound
    }

    /// Devices get another delivery instead of this one.
    mutating func recordNewer(_ delivery: Delivery.ID?) {
        newer = [newer, delivery].compactMap(\.self).max()
    }

    mutating func record(_ page: AudiencePage, hasRetries: Bool) {
        sent += page.count
        hasTargets = hasTargets || page.count > 0
        self.hasRetries = self.hasRetries || hasRetries
    }

    /// The content without keeping it, so that it is not copied where it changes.
    mutating func takeContent() -> DeliveryContent? {
        defer { content = nil }
        return content
    }
}
