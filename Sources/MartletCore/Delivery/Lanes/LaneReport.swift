import MartletModel

/// The report of a page, or of a round of retries, to its lane.
struct LaneReport {
    /// The answers to the pushes of this report itself. Answers of merged reports are in `healths`.
    var health = PageHealth()
    /// The answers of the reports that were merged into this report, by application (`PushService.application`).
    var healths: [String: PageHealth] = [:]
    /// The pauses that origins have requested.
    var holds: [LanePause] = []
    /// The longest pause that the service has requested for the whole lane, or that a bad credential causes.
    var wantedPause: Duration?
    /// The last outcome that is a reason to pause the lane.
    var pauseCause: Outcome?
    /// The number of pushes that the service has answered.
    var answered = 0
    /// Whether the unanswered pushes show that the service fails.
    var isServiceFailing = false
    /// Whether the page does not count as the probe of its lane. True if all devices that the page was sent to are
    /// known to fail.
    var leavesProbe = false
    /// The outcome that shows that no device of the platform can receive the message; nil if there is none.
    var refusesAll: Outcome?

    /// The minimum pause of the lane; nil if the lane need not pause.
    var pause: Duration? {
        wantedPause ?? (isServiceFailing && answered == 0 ? .zero : nil)
    }

    /// The devices that were reported as gone, whether the report is believed or not.
    var calledDead: [ChannelID] {
        healths.values.flatMap { $0.dead + $0.doubtful }.map(\.channel)
    }

    /// Merges the report of other pushes of the same page, or of the same round of retries, into this report.
    /// - Parameter application: The application (`PushService.application(of:)`) that the pushes of the other report
    ///   share.
    mutating func merge(_ other: LaneReport, of application: String) {
        healths[application, default: PageHealth()] += other.health
        for (application, health) in other.healths { healths[application, default: PageHealth()] += health }
        holds += other.holds
        wantedPause = [wantedPause, other.wantedPause].compactMap(\.self).max()
        pauseCause = other.pauseCause ?? pauseCause
        answered += other.answered
        isServiceFailing = isServiceFailing || other.isServiceFailing
        leavesProbe = leavesProbe || other.leavesProbe
        refusesAll = other.refusesAll ?? refusesAll
    }
}
