/// How many requests one HTTP/2 connection may carry at once: what the peer announced, and what it let pass.
///
/// It is 1 until the peer's SETTINGS have come. After a refusal it is what the peer did let pass, and rises by one with
/// each answer; a peer that refuses even a single request is left alone for a while that doubles.
struct HTTP2StreamLimit: Equatable {
    private static let firstPause = Duration.milliseconds(100)
    private static let longestPause = Duration.seconds(5)

    /// The most that we ever open, whatever the peer allows.
    let ceiling: Int
    private var announced = 1
    /// What refusals taught; nil without any.
    private var learned: Int?
    private var pause = Self.firstPause
    /// Until when nothing is sent.
    private(set) var pausedUntil: ContinuousClock.Instant?

    init(ceiling: Int) {
        self.ceiling = ceiling
    }

    /// The current limit.
    var current: Int { min(announced, learned ?? ceiling, ceiling) }

    /// How many requests may be started.
    func capacity(open: Int, at now: ContinuousClock.Instant) -> Int {
        if let pausedUntil, now < pausedUntil { return 0 }
        return max(0, current - open)
    }

    /// The peer's SETTINGS came.
    mutating func announce(_ limit: UInt32) {
        let limit = Int(clamping: limit)
        if limit != announced { learned = nil }
        announced = limit
    }

    /// The peer refused a request without processing it.
    /// - Parameter open: How many others were open then.
    mutating func refused(open: Int, at now: ContinuousClock.Instant) {
        learned = max(1, min(learned ?? open, open))
        guard open == 0 else { return }
        pausedUntil = now + pause
        pause = min(pause * 2, Self.longestPause)
    }

    /// The peer answered requests.
    mutating func answered(_ count: Int = 1) {
        pausedUntil = nil
        guard let learned else { return }
        pause = Self.firstPause
        self.learned = learned + count <= min(announced, ceiling) ? learned + count : nil
    }

    /// The pause is over.
    mutating func expire(at now: ContinuousClock.Instant) {
        if let pausedUntil, now >= pausedUntil { self.pausedUntil = nil }
    }
}
