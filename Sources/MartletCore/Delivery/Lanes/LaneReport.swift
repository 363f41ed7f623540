import MartletModel

/// What a page, or a round of retries, reports to its lane.
struct LaneReport {
    /// The results of the pushes that are in no merged part.
    var health = PageHealth()
    /// The results of merged parts, by application (`PushService.application`).
    var healths: [String: PageHealth] = [:]
    /// Pauses that origins have asked for.
    var holds: [LanePause] = []
    /// The longest pause that the service has asked for on behalf of the whole lane, or that a bad credential causes.
    var wantedPause: Duration?
    /// The last outcome that is a reason to pause the lane.
    var pauseCause: Outcome?
    /// The number of pushes that the service has answered.
    var answered = 0
    /// Whether the unanswered pushes show that the service fails.
    var isServiceFailing = false
    /// Whether the page was a probe that shows nothing, because its devices are known to fail.
    var leavesProbe = false
    /// Why no device of the platform can take the message.
    var refusesAll: Outcome?

    /// The shortest pause of the lane; nil if it need not pause.
    var pause: Duration? {
        wantedPause ?? (isServiceFailing && answered == 0 ? .zero : nil)
    }

    /// The devices that were called dead, whether that is believed or not.
    var calledDead: [ChannelID] {
        healths.values.flatMap { $0.dead + $0.doubtful }.map(\.channel)
    }

    /// - Parameter application: What the pushes of the other part have in common.
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
