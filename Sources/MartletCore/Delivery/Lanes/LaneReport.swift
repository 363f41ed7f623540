import MartletModel

/// What a page, or a round of retries, tells its lane.
struct LaneReport {
    /// What the pushes came to that are not of a part that was merged.
    var health = PageHealth()
    /// What the parts came to, by application (`PushService.application`).
    var healths: [String: PageHealth] = [:]
    /// Waits that origins have asked for.
    var holds: [LanePause] = []
    /// The longest wait that the service asked for on behalf of the whole lane, or of a bad credential.
    var wantedPause: Duration?
    /// The last outcome by which the lane is to pause.
    var pauseCause: Outcome?
    /// Pushes that the service has answered.
    var answered = 0
    /// Whether what was not answered shows that the service fails.
    var isServiceFailing = false
    /// Whether the page was a probe and has left that to others: its devices are known to fail.
    var leavesProbe = false
    /// Why the message can reach no device of the platform.
    var refusesAll: Outcome?

    /// How long the lane is to pause at least; nil where it need not.
    var pause: Duration? {
        wantedPause ?? (isServiceFailing && answered == 0 ? .zero : nil)
    }

    /// Devices that were called dead, whether that is believed or not.
    var calledDead: [ChannelID] {
        healths.values.flatMap { $0.dead + $0.doubtful }.map(\.channel)
    }

    /// - Parameter application: What the pushes of the other part had in common.
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
