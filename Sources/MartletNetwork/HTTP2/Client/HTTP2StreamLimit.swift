/// The limit of concurrent requests on one HTTP/2 connection: the limit that the peer has announced, or a smaller limit
/// learned from the peer's refusals.
///
/// The limit is 1 until the peer's SETTINGS arrive. After the peer refuses a request (REFUSED_STREAM), the limit is the
/// number of requests that the peer had accepted. This limit increases by one with each answer. If the peer refuses a
/// request while no other request is open, nothing is sent for a pause. The duration of this pause doubles each time.
struct HTTP2StreamLimit: Equatable {
    private static let firstPause = Duration.milliseconds(100)
    private static let longestPause = Duration.seconds(5)

    /// The maximum value of the limit, whatever the peer allows.
    let ceiling: Int
    private var announced = 1
    /// The limit learned from refusals; nil if no learned limit applies.
    private var learned: Int?
    private var pause = Self.firstPause
    /// The end of the pause in which no request is sent; nil if there is no pause.
    private(set) var pausedUntil: ContinuousClock.Instant?

    init(ceiling: Int) {
        self.ceiling = ceiling
    }

    var current: Int { min(announced, learned ?? ceiling, ceiling) }

    /// Returns the number of requests that may be started now.
    func capacity(open: Int, at now: ContinuousClock.Instant) -> Int {
        if let pausedUntil, now < pausedUntil { return 0 }
        return max(0, current - open)
    }

    /// Applies the stream limit from the peer's SETTINGS.
    mutating func announce(_ limit: UInt32) {
        let limit = Int(clamping: limit)
        if limit != announced { learned = nil }
        announced = limit
    }

    /// Records that the peer refused a request without processing it.
    /// - Parameter open: The number of other requests that were open at that time.
    mutating func refused(open: Int, at now: ContinuousClock.Instant) {
        learned = max(1, min(learned ?? open, open))
        guard open == 0 else { return }
        pausedUntil = now + pause
        pause = min(pause * 2, Self.longestPause)
    }

    /// Records that the peer answered requests, which ends a pause.
    mutating func answered(_ count: Int = 1) {
        pausedUntil = nil
        guard let learned else { return }
        pause = Self.firstPause
        self.learned = learned + count <= min(announced, ceiling) ? learned + count : nil
    }

    /// Ends the pause in which no request is sent, if its time has passed.
    mutating func expire(at now: ContinuousClock.Instant) {
        if let pausedUntil, now >= pausedUntil { self.pausedUntil = nil }
    }
}
