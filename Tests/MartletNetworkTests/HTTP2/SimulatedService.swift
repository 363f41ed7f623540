import MartletTesting

@testable import MartletNetwork

/// A push service on a clock of its own: it does one request after another, and each takes a while besides.
struct SimulatedService {
    /// Requests a second.
    var rate: Double
    /// How long each takes, in seconds, besides what it waits for others.
    var latency: Double
    /// How much longer some take, by chance.
    var spread = 0.0
    /// Answers leave only at multiples of this time.
    var interval = 0.0
    /// When no answers leave.
    var stall: Range<Double>?
}

/// One connection to a simulated service, with a limit for what is in flight.
struct SimulatedConnection {
    private struct Request {
        let sentAt: Double
        let answeredAt: Double
        let answersBefore: Int
    }

    private static let step = 0.001

    var limit: InFlightLimit
    var streams = 1000
    /// Whether the limit is kept to.
    var isLimited = true
    /// How many requests wait; what is sent at once where there are always more.
    var waiting = Int.max / 2
    private let start = ContinuousClock.now
    private(set) var time = 0.0
    private var requests: [Request] = []
    private var freeAt = 0.0
    private(set) var answers = 0
    /// Since `pass` began.
    private(set) var mostInFlight = 0
    private var chance = SeededGenerator(seed: 7)

    init(limit: InFlightLimit, isLimited: Bool = true) {
        self.limit = limit
        self.isLimited = isLimited
    }

    var inFlight: Int { requests.count }

    /// Lets time pass.
    /// - Returns: Answers a second.
    @discardableResult
    mutating func pass(_ seconds: Double, _ service: SimulatedService) -> Double {
        let (before, end) = (answers, time + seconds)
        mostInFlight = 0
        while time < end {
            time += Self.step
            receive(service)
            send(service)
            mostInFlight = max(mostInFlight, inFlight)
        }
        return Double(answers - before) / seconds
    }

    /// The service has nothing more to do with what it was sent.
    mutating func becomeFree() {
        freeAt = time
    }

    private var now: ContinuousClock.Instant { start + .seconds(1) * time }

    private mutating func receive(_ service: SimulatedService) {
        guard !(service.stall?.contains(time) ?? false) else { return }
        let before = inFlight
        let ready = requests.filter { $0.answeredAt <= time }
        guard let last = ready.max(by: { $0.answeredAt < $1.answeredAt }) else { return }
        requests.removeAll { $0.answeredAt <= time }
        answers += ready.count
        let sample = InFlightLimit.Sample(
            latency: .seconds(1) * (time - last.sentAt), answers: answers - last.answersBefore)
        limit.answered(ready.count, sample, inFlight: before, at: now)
    }

    private mutating func send(_ service: SimulatedService) {
        let most = isLimited ? min(streams, limit.current) : streams
        let count = max(0, min(most - inFlight, waiting))
        waiting -= count
        for _ in 0..<count {
            freeAt = max(freeAt, time) + 1 / service.rate
            var answeredAt = freeAt + service.latency + service.spread * Double(chance.below(1000)) / 1000
            if service.interval > 0 { answeredAt = (answeredAt / service.interval).rounded(.up) * service.interval }
            requests.append(Request(sentAt: time, answeredAt: answeredAt, answersBefore: answers))
        }
        let isBlocked = inFlight < streams && inFlight >= limit.current && waiting > 0
        limit.filled(inFlight: inFlight, isBlocked: isBlocked, at: now)
    }
}
