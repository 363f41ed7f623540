import MartletModel

/// Decides whether to believe a push service's answer that a handle is dead.
///
/// A wrong bundle id, project or environment makes every handle of an application (`PushService.application(of:)`) look
/// dead. An answer that may have such a cause is believed only while pushes of the application are proven to work.
/// Pushes are proven to work if the answers of the last ten minutes contain a success, and contain no more fatal
/// answers than successes (PushServices.md, section 0.4). A fatal answer is one that calls a handle dead. An answer
/// that cannot have such a cause is believed at once, except during a quarantine.
///
/// A quarantine begins when most of a large number of answers are fatal. It ends when pushes are proven to work.
/// Answers that arrived during a quarantine are not believed afterwards either. If a device really is gone, the service
/// will report it again.
struct DeletionGuard: Sendable {
    private struct Slot {
        var start: Timestamp
        var successes = 0
        var fatal = 0
    }

    private struct Suspect {
        var feedback: ChannelFeedback
        var at: Timestamp
    }

    private static let slotLength: Duration = .seconds(60)
    private static let slotLimit = 10
    private static let windowLength: Duration = slotLength * slotLimit
    /// The number of answers that must be exceeded within the last ten minutes before a quarantine can begin.
    static let enoughAnswers = 20
    /// The maximum number of devices in memory that were reported as gone while the reports are not believed yet.
    static let suspectLimit = 1000

    /// Whether a quarantine is in force. During a quarantine, no answer that calls a handle dead is believed. The
    /// quarantine ends when pushes are proven to work.
    private(set) var isQuarantined: Bool
    private var slots: [Slot] = []
    private var suspectedStale: [Suspect] = []

    /// - Parameter isQuarantined: Whether an earlier process began a quarantine.
    init(isQuarantined: Bool = false) {
        self.isQuarantined = isQuarantined
    }

    /// Records the answers to the pushes of a page.
    /// - Returns: The devices that are now believed to be gone, including devices that earlier pages reported.
    mutating func record(_ health: PageHealth, at now: Timestamp) -> [ChannelFeedback] {
        // A new slot begins when the last slot has reached its full length. If the last slot seems to start in the
        // future, the clock was set back, and a new slot begins too.
        if slots.last.map({ now - $0.start >= Self.slotLength || $0.start - now >= Self.slotLength }) ?? true {
            slots.append(Slot(start: now))
            if slots.count > Self.slotLimit { slots.removeFirst() }
        }
        slots[slots.count - 1].successes += health.successes
        slots[slots.count - 1].fatal += health.fatal
        let recent = slots.filter { now - $0.start < Self.windowLength }
        let successes = recent.reduce(0) { $0 + $1.successes }
        let fatal = recent.reduce(0) { $0 + $1.fatal }
        guard successes == 0 || fatal > successes else {
            isQuarantined = false
            let believed = suspectedStale.filter { now - $0.at < Self.windowLength }.map(\.feedback)
            suspectedStale = []
            return believed + health.dead + health.doubtful
        }
        if successes + fatal > Self.enoughAnswers { isQuarantined = true }
        guard !isQuarantined else {
            suspectedStale = []
            return []
        }
        let room = Self.suspectLimit - suspectedStale.count
        suspectedStale += health.doubtful.prefix(max(0, room)).map { Suspect(feedback: $0.asOf(now), at: now) }
        return health.dead
    }

    /// Removes all recorded answers, because they say nothing about a new credential. A quarantine continues.
    mutating func reset() {
        slots = []
        suspectedStale = []
    }
}

/// The answers to a page's pushes to one application (`PushService.application(of:)`): the number of successes, and the
/// answers that call a handle dead.
struct PageHealth: Sendable, Equatable {
    var successes = 0
    /// The number of answers that call a handle dead.
    var fatal = 0
    /// Devices that were reported as gone by answers that a wrong configuration cannot cause.
    var dead: [ChannelFeedback] = []
    /// Devices that were reported as gone by answers that a wrong configuration can cause too.
    var doubtful: [ChannelFeedback] = []

    static func += (left: inout PageHealth, right: PageHealth) {
        left.successes += right.successes
        left.fatal += right.fatal
        left.dead += right.dead
        left.doubtful += right.doubtful
    }
}

extension ChannelFeedback {
    /// Adds a timestamp to the feedback that a device is gone, unless the feedback has a timestamp. The feedback can
    /// then be applied later: a device that has registered again after the timestamp is not gone.
    fileprivate func asOf(_ timestamp: Timestamp) -> ChannelFeedback {
        guard case .gone(asOf: nil) = kind else { return self }
        return ChannelFeedback(channel: channel, kind: .gone(asOf: timestamp))
    }
}
