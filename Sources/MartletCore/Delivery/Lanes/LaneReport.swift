/// What a page, or a round of retries, tells its lane.
struct LaneReport {
    /// What the pushes came to, by application (`PushService.application`).
    var healths: [String: PageHealth] = [:]
    /// How long the lane is to pause at least; nil where it need not.
    var pause: Duration?
    /// The last outcome by which the lane is to pause.
    var pauseCause: Outcome?
    /// Pushes that the service has answered.
    var answered = 0
    /// Whether the page was a probe and has left that to others: its devices are known to fail.
    var leavesProbe = false
}
