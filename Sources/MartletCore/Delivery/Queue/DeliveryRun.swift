import MartletHTTP
import MartletModel

/// A delivery while it is in memory: its progress, and the data about it that only this process has. In a turn, the
/// delivery sends its next pages or a round of its retries (`DeliveryQueue`).
struct DeliveryRun: Sendable {
    var progress: DeliveryProgress
    /// The content, prepared for sending; nil before the first page, and while the current turn uses it.
    var content: DeliveryContent?
    /// The lane as it was in the last turn, with its push service and its credential.
    var lane: SendContext?
    /// The number of pushes of the last turn.
    var sent = 0
    /// Whether the last turn has recorded something, or has waited for a page of another delivery that had to end
    /// first. If false, the next turn is delayed.
    var hasProgressed = false
    /// Whether the store has shown that the delivery was deleted with its hub.
    var isGone = false
    /// The average time of a page in the last turn; nil if it is not known.
    var pageTime: Duration?
    /// The origins for whose probes retries of the last turn wait.
    var probedOrigins: Set<HTTPOrigin> = []
    /// The newest unfinished delivery that supersedes this delivery for some devices of the last turn.
    var newer: Delivery.ID?
    /// Whether this turn ends the retries of devices that have left the audience, before these retries are due.
    var looksForGone = false
    /// The feedback of push services about handles of this turn's pages, as far as it was not applied to the store yet.
    var feedback: [ChannelFeedback] = []
    /// Whether this process has sent the delivery from its first page on, so that it knows the outcomes of all pages.
    let knowsAll: Bool
    private var hasTargets = false
    private var hasRetries = false

    init(_ progress: DeliveryProgress) {
        self.progress = progress
        knowsAll = progress.cursor == .none && !progress.isFannedOut
    }

    var delivery: Delivery { progress.delivery }

    /// The approximate memory of a handle in bytes, not counting the characters of the handle.
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
        probedOrigins = []
        hasProgressed = false
    }

    /// Whether a page of the delivery was sent, by this process or an earlier one.
    var hasBegun: Bool { progress.cursor != .none || progress.isFannedOut }

    /// The final state of the delivery after its last page; nil if the delivery has retries, or if only the store knows
    /// the state.
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

    /// Returns the content and removes it from the run, so that it is not copied when the turn changes it.
    mutating func takeContent() -> DeliveryContent? {
        defer { content = nil }
        return content
    }
}
