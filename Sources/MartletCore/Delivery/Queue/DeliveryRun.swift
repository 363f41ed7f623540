import MartletModel

/// A delivery between two of its pages: its progress, and what this process keeps about it in addition.
struct DeliveryRun: Sendable {
    var progress: DeliveryProgress
    /// The content, prepared by the first page.
    var content: DeliveryContent?
    /// The lane, with the service and the credential, of the last turn.
    var lane: SendContext?
    /// The number of pushes of the last turn, in its pages or its round of retries.
    var sent = 0
    /// Whether the last turn has recorded something, or had to wait for a page of another delivery that has ended
    /// since.
    var hasProgressed = false
    /// Whether the store has shown that the delivery was deleted with its hub.
    var isGone = false
    /// The average time of a page in the last turn; nil if it is not known.
    var pageTime: Duration?
    /// The newest unfinished delivery that supersedes this one for some devices of the last turn.
    var newer: Delivery.ID?
    /// What push services reported about handles in pages of this turn, and the store does not know yet.
    var feedback: [ChannelFeedback] = []
    /// Whether this process has sent all pages from the first one on.
    let knowsAll: Bool
    private var hasTargets = false
    private var hasRetries = false

    init(_ progress: DeliveryProgress) {
        self.progress = progress
        knowsAll = progress.cursor == .none && !progress.isFannedOut
    }

    var delivery: Delivery { progress.delivery }

    /// The approximate memory of a handle without its text, in bytes.
    private static let bytesOfHandle = 96

    /// The approximate memory of the delivery, in bytes.
    var weight: Int {
        let notification = delivery.notification
        var weight = notification.content.body.count
        if case .templates(let renderer) = content { weight += renderer.memoryBytes }
        if case .composed(let renderer) = content { weight += renderer.memoryBytes }
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

    /// The state after the last page, if it is known without asking the store.
    var final: NotificationState? {
        guard knowsAll, !hasRetries else { return nil }
        return hasTargets ? .completed : .noTargetFound
    }

    /// Records that another delivery supersedes this one for some devices.
    mutating func recordNewer(_ delivery: Delivery.ID?) {
        newer = [newer, delivery].compactMap(\.self).max()
    }

    mutating func record(_ page: AudiencePage, hasRetries: Bool) {
        sent += page.count
        hasTargets = hasTargets || page.count > 0
        self.hasRetries = self.hasRetries || hasRetries
    }

    /// Moves the content out, so that it is not copied when it changes.
    mutating func takeContent() -> DeliveryContent? {
        defer { content = nil }
        return content
    }
}
