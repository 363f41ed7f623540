public import MartletModel

/// Decides when a certificate is ordered.
public struct ACMESchedule: Hashable, Sendable {
    /// The most orders within a day, so that a mistake does not exhaust the authority's limits.
    public static let ordersPerDay = 5
    private static let day: Duration = .seconds(86_400)
    private static let firstWait: Duration = .seconds(60)
    private static let longestWait: Duration = .seconds(12 * 3_600)
    private static let spread: Duration = .seconds(3_600)

    /// The times of the orders of the last day.
    public private(set) var orders: [Timestamp]
    /// Until when the authority asked to be left alone.
    public private(set) var askedWait: Timestamp?
    private var failures = 0
    private var failureWait: Timestamp?

    /// - Parameters:
    ///   - orders: Of an earlier process.
    ///   - askedWait: Of an earlier process. Waits after failures do not survive a restart, which is often the operator's
    ///     attempt to repair something.
    public init(orders: [Timestamp] = [], askedWait: Timestamp? = nil) {
        self.orders = Array(orders.sorted().suffix(Self.ordersPerDay))
        self.askedWait = askedWait
    }

    /// When a certificate is renewed: at two thirds of its life, and up to an hour (of a short life, a twelfth) later, so
    /// that not all servers come at the same time.
    /// - Parameter random: From 0 up to 1.
    public static func renewal(begins: Timestamp, ends: Timestamp, random: Double) -> Timestamp {
        let life = ends - begins
        let spread = min(spread, life / 12)
        return begins + life * 2 / 3 + .milliseconds(Int64(Double(max(0, spread.wholeMilliseconds)) * random))
    }

    /// When the next attempt is due.
    /// - Parameters:
    ///   - renewal: When the present certificate is to be renewed; nil if one is needed at once.
    ///   - isContinued: Whether the attempt continues an order, so that it makes no new one.
    public func next(renewal: Timestamp?, isContinued: Bool, now: Timestamp) -> Timestamp {
        let quota = isContinued ? nil : nextOrder(now: now)
        return [renewal, failureWait, askedWait, quota].compactMap(\.self).reduce(now, max)
    }

    /// Whether another order may be made now.
    public func mayOrder(at now: Timestamp) -> Bool { nextOrder(now: now) <= now }

    private func nextOrder(now: Timestamp) -> Timestamp {
        // An order in the future was noted by a clock that was wrong.
        let recent = orders.filter { $0 <= now && now - $0 < Self.day }
        guard recent.count >= Self.ordersPerDay, let first = recent.first else { return now }
        return first + Self.day
    }

    /// Records an order.
    public mutating func ordered(at now: Timestamp) {
        orders = orders.filter { $0 <= now && now - $0 < Self.day }.suffix(Self.ordersPerDay - 1) + [now]
    }

    /// Records that an attempt failed: the next one waits from a minute to half a day, or as long as the authority asks.
    public mutating func failed(at now: Timestamp, retryAfter: Duration?) {
        failureWait = now + min(Self.firstWait * (1 << min(failures, 16)), Self.longestWait)
        askedWait = retryAfter.map { now + $0 }
        failures += 1
    }

    /// Records that there is a new certificate.
    public mutating func succeeded() {
        failures = 0
        failureWait = nil
        askedWait = nil
    }
}
