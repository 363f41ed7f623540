/// The in-flight limit of one connection: about the number of requests that its peer answers in 200 milliseconds.
///
/// The limit works like a congestion window that counts requests. While the latency is below the target, the limit
/// grows as answers arrive, up to fourfold per round trip, so that it does not slow down a peer that is fast or far
/// away. If requests wait longer than the target, the limit shrinks. It shrinks to the number of requests that the peer
/// was measured to answer within the target. A low send rate does not shrink the limit. See Docs/Decisions/0005.
struct InFlightLimit: Equatable {
    /// The smallest in-flight limit of a lane, for all of its connections together.
    static let leastOfLane = 100
    /// The smallest in-flight limit of a connection, regardless of the number of connections.
    static let leastOfConnection = 8
    /// The latency above which fewer requests are sent.
    static let targetTime = Duration.milliseconds(200)
    /// The longest latency that the limit aims at, for a peer that needs more than `targetTime` for each request.
    private static let longestTime = Duration.seconds(4)
    /// The maximum ratio of the limit to the number of requests in flight. A pool opens connections by the same factor.
    private static let headroom = 4
    /// The number of recent measurements that are kept. The limit shrinks to the largest of them.
    private static let remembered = 3

    /// The measurement of one answer.
    struct Sample: Equatable {
        /// The time from the sending of the request to its answer.
        let latency: Duration
        /// The number of answers that arrived during `latency`, including this answer.
        let answers: Int
    }

    /// A measurement in progress.
    private struct Round: Equatable {
        let start: ContinuousClock.Instant
        /// The number of requests in flight at the first time in the round when the connection had sent all the
        /// requests that it could.
        var inFlight: Int
        var answers = 0
        var latencies = MeanDuration()
        /// The number of times in the round at which the connection had sent all the requests that it could.
        ///
        /// `isBlocked` is true if, at each of these times, the in-flight limit was the only reason not to send more.
        var fills = 0
        var isBlocked = true
    }

    /// The smallest value that the limit can have.
    var least: Int
    /// The limit that applies while the probe sets no lower limit.
    private var open: Int
    private var round: Round?
    /// The most recent measurements: how many requests the peer answered in `time`.
    private var recent: [Int] = []
    /// The smoothed latency of answers.
    private var latency: Duration?
    /// The latency that the peer needs to reach its full throughput; nil before the first answer.
    private var neededTime: Duration?
    private var probe = InFlightProbe()
    /// The last time at which more requests were in flight than the limit allowed, which happens after the limit has
    /// shrunk.
    private var exceededAt: ContinuousClock.Instant?

    /// Creates a limit for one connection.
    /// - Parameter start: The initial limit, such as the limit of other connections to the same peer.
    init(least: Int = Self.leastOfLane, startingAt start: Int = 0) {
        self.least = max(1, least)
        open = max(1, least, min(start, 1 << 20))
    }

    var current: Int { max(1, min(open, probe.limit ?? open)) }

    /// The latency that the limit aims at: `targetTime`, or longer for a peer that needs more time for each request.
    var time: Duration { max(Self.targetTime, min(neededTime ?? .zero, Self.longestTime)) }

    /// Returns the number of requests that may be started now.
    /// - Parameter inFlight: The number of requests in flight.
    func capacity(inFlight: Int) -> Int { max(0, current - inFlight) }

    /// Records answers.
    /// - Parameters:
    ///   - sample: A measurement of one of the answers.
    ///   - inFlight: The number of requests in flight before the answers arrived.
    mutating func answered(_ count: Int, _ sample: Sample, inFlight: Int, at now: ContinuousClock.Instant) {
        measure(max(.microseconds(1), sample.latency), at: now)
        var current = round ?? Round(start: now, inFlight: inFlight)
        current.answers += count
        current.latencies.add(sample.latency)
        round = current
        if now - current.start >= time { end(current, at: now) }
        guard probe.limit == nil, sample.latency < time else { return }
        let ahead = inFlight * Self.headroom
        let answersInTime = Double(sample.answers) * (time / max(.microseconds(1), sample.latency))
        open = max(open, min(open + count * (Self.headroom - 1), ahead, Int(min(Double(ahead), answersInTime))))
    }

    /// Records that the connection has sent all the requests that it could.
    /// - Parameter isBlocked: Whether this in-flight limit was the only reason not to send more requests.
    mutating func filled(inFlight: Int, isBlocked: Bool, at now: ContinuousClock.Instant) {
        guard inFlight > 0 else {
            round = nil
            return
        }
        if inFlight > current { exceededAt = now }
        var filled = round ?? Round(start: now, inFlight: inFlight)
        if filled.fills == 0 { filled.inFlight = inFlight }
        filled.fills += 1
        filled.isBlocked = filled.isBlocked && isBlocked
        round = filled
    }

    /// Updates the smoothed latency and the needed time with the latency of one answer.
    ///
    /// The needed time is at most twice the smallest smoothed latency, so that one request can be on its way while the
    /// peer processes another. It is longer only if the probe has found that the peer needs more time.
    private mutating func measure(_ sample: Duration, at now: ContinuousClock.Instant) {
        let smoothed = latency.map { $0 + (sample - $0) / 8 } ?? sample
        latency = smoothed
        neededTime = min(neededTime ?? smoothed * 2, smoothed * 2)
        if let verdict = probe.answered(after: sample, at: now) {
            neededTime =
                switch verdict {
                case .peerIsSlow(let time): min(neededTime ?? time, time)
                case .peerNeeds(let time): time * 2
                }
        }
    }

    private mutating func end(_ ended: Round, at now: ContinuousClock.Instant) {
        round = Round(start: now, inFlight: 0)
        let answered = Int(Double(ended.answers) * (time / (now - ended.start)))
        recent = recent.suffix(Self.remembered - 1) + [answered]
        let isFull = ended.fills > 0 && ended.isBlocked && ended.inFlight * 4 >= answered * 3
        // A round is not passed to the probe if it may have answers to requests that were sent before the limit shrank.
        // The latencies of such answers say nothing about the new limit.
        if let latency = ended.latencies.mean, exceededAt.map({ ended.start - latency >= $0 }) ?? true {
            probe.ended(isFull: isFull, from: ended.start, limit: current, latency: latency, at: now)
        }
        // The limit shrinks if more requests were in flight than the peer answers in the target time, because some of
        // them then waited longer than the target time.
        if ended.inFlight > max(answered, least) { open = max(least, min(open, recent.max() ?? least)) }
        probe.limited(to: open)
    }
}

/// The running mean of durations.
struct MeanDuration: Equatable {
    private var sum = Duration.zero
    private(set) var count = 0

    mutating func add(_ duration: Duration) {
        sum += duration
        count += 1
    }

    var mean: Duration? { count > 0 ? sum / count : nil }
}
