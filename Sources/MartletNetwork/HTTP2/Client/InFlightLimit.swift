/// How many requests one connection may have in flight: about as many as its peer answers in 200 milliseconds.
///
/// A congestion window that counts requests. It opens as answers come, up to four times in each round trip while they
/// come sooner than that, so it does not limit a peer that is fast or far away. It closes to what was measured once
/// requests wait for longer. Sending little closes nothing. Docs/Decisions/0005.
struct InFlightLimit: Equatable {
    /// How many a lane may have in flight in any case, over all of its connections.
    static let leastOfLane = 100
    /// How many a connection may have in any case, however many connections there are.
    static let leastOfConnection = 8
    /// How long a request may wait for its answer before fewer are sent.
    static let targetTime = Duration.milliseconds(200)
    /// How long at most, where the peer needs longer for each request.
    private static let longestTime = Duration.seconds(4)
    /// How many times as much as is in flight is allowed ahead: a pool makes as many connections at a time.
    private static let headroom = 4
    /// The limit closes to the best of so many measurements.
    private static let remembered = 3

    /// An answer, and what came while its request was in flight.
    struct Sample: Equatable {
        /// How long it took.
        let latency: Duration
        /// How many answers came in that time, with this one.
        let answers: Int
    }

    /// A measurement under way.
    private struct Round: Equatable {
        let start: ContinuousClock.Instant
        /// At its start, once the connection had sent what it may.
        var inFlight: Int
        var answers = 0
        var latencies = MeanDuration()
        /// How often the connection has sent what it may, and whether this limit alone kept requests back each time.
        var fills = 0
        var isBlocked = true
    }

    /// It never closes further.
    var least: Int
    /// The limit, but for a probe.
    private var open: Int
    private var round: Round?
    /// How many answers the last measurements would have had in the target time.
    private var recent: [Int] = []
    /// How long answers take, smoothed.
    private var latency: Duration?
    /// How long requests have to be in flight for as many answers as the peer can give; nil before the first.
    private var neededTime: Duration?
    private var probe = InFlightProbe()
    /// When more was last in flight than the limit allows, because it had closed.
    private var exceededAt: ContinuousClock.Instant?

    /// - Parameter start: The limit at first, such as that of other connections to the same peer.
    init(least: Int = Self.leastOfLane, startingAt start: Int = 0) {
        self.least = max(1, least)
        open = max(1, least, min(start, 1 << 20))
    }

    /// The limit.
    var current: Int { max(1, min(open, probe.limit ?? open)) }

    /// How long requests may be in flight.
    var time: Duration { max(Self.targetTime, min(neededTime ?? .zero, Self.longestTime)) }

    /// How many requests may be started.
    /// - Parameter inFlight: How many are in flight.
    func capacity(inFlight: Int) -> Int { max(0, current - inFlight) }

    /// Answers have come.
    /// - Parameters:
    ///   - sample: One of them.
    ///   - inFlight: How many requests were in flight before.
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

    /// The connection has sent what it may.
    /// - Parameter isBlocked: Whether more would have been sent without this limit.
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

    /// Twice the least that answers took is enough: one may be on its way while another is.
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
        // What was written before the limit closed tells nothing of it.
        if let latency = ended.latencies.mean, exceededAt.map({ ended.start - latency >= $0 }) ?? true {
            probe.ended(isFull: isFull, from: ended.start, limit: current, latency: latency, at: now)
        }
        // Some of what was in flight has waited for longer.
        if ended.inFlight > max(answered, least) { open = max(least, min(open, recent.max() ?? least)) }
        probe.limited(to: open)
    }
}

/// The mean of durations.
struct MeanDuration: Equatable {
    private var sum = Duration.zero
    private(set) var count = 0

    mutating func add(_ duration: Duration) {
        sum += duration
        count += 1
    }

    var mean: Duration? { count > 0 ? sum / count : nil }
}
