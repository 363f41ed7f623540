public import MartletModel

/// Decides when a certificate is ordered, renewed, and ordered again after a failure.
public struct ACMESchedule: Hashable, Sendable {
    /// The maximum number of orders in a day, so that a bug does not exhaust the authority's limits.
    public static let ordersPerDay = 5
    private static let day: Duration = .seconds(86_400)
    private static let firstWait: Duration = .seconds(60)
    private static let longestWait: Duration = .seconds(12 * 3_600)
    private static let spread: Duration = .seconds(3_600)
    /// The longest wait that is granted to an authority. A request for a longer wait is shortened to this time.
    private static let longestAskedWait = day

    /// The times of the orders of the last day, at most `ordersPerDay`, oldest first.
    public private(set) var orders: [Timestamp]
    /// The time until which the authority asked the client to wait.
    public private(set) var askedWait: Timestamp?
    private var failures = 0
    private var failureWait: Timestamp?

    /// Creates a schedule.
    /// - Parameters:
    ///   - orders: The times at which earlier processes created orders.
    ///   - askedWait: The time until which the authority asked an earlier process to wait. Waits after failures do not
    ///     survive a restart, because a restart is often the operator's attempt to fix the problem.
    public init(orders: [Timestamp] = [], askedWait: Timestamp? = nil) {
        self.orders = Array(orders.sorted().suffix(Self.ordersPerDay))
        self.askedWait = askedWait
    }

    /// Returns the time at which a certificate is renewed: after two thirds of its lifetime plus a random delay, so
    /// that not all servers renew at the same time.
    ///
    /// The delay is at most an hour; for a short lifetime, at most a twelfth of the lifetime.
    /// - Parameter random: A random number from 0 up to 1.
    public static func renewal(begins: Timestamp, ends: Timestamp, random: Double) -> Timestamp {
        let life = ends - begins
        let spread = min(spread, life / 12)
        return begins + life * 2 / 3 + .milliseconds(Int64(Double(max(0, spread.wholeMilliseconds)) * random))
    }

    /// Returns the time at which the next attempt is due; `now` if it is due already.
    /// - Parameters:
    ///   - renewal: The renewal time of the current certificate; nil if a certificate is needed at once.
    ///   - isContinued: Whether the attempt continues an order, so that it creates no new one.
    public func next(renewal: Timestamp?, isContinued: Bool, now: Timestamp) -> Timestamp {
        let quota = isContinued ? nil : nextOrder(now: now)
        return [renewal, failureWait, askedWait, quota].compactMap(\.self).reduce(now, max)
    }

    /// Returns true if the number of orders of the last day allows one more order now.
    public func mayOrder(at now: Timestamp) -> Bool { nextOrder(now: now) <= now }

    private func nextOrder(now: Timestamp) -> Timestamp {
        // Orders with a time in the future are not counted, because they were recorded while the clock was wrong.
        let recent = orders.filter { $0 <= now && now - $0 < Self.day }
        guard recent.count >= Self.ordersPerDay, let first = recent.first else { return now }
        return first + Self.day
    }

    /// Records that an order was created.
    public mutating func ordered(at now: Timestamp) {
        orders = orders.filter { $0 <= now && now - $0 < Self.day }.suffix(Self.ordersPerDay - 1) + [now]
    }

    /// Records that an attempt failed. The next attempt waits a minute after the first failure, and up to half a day
    /// after further failures. It waits longer if the authority asks for a longer wait.
    ///
    /// The wait that the authority asks for is limited to a day, and to a third of the time for which the certificate
    /// in use is still valid. Otherwise an unreasonable wait could let the certificate expire.
    /// - Parameter ends: The time at which the certificate in use expires; nil if there is none.
    public mutating func failed(at now: Timestamp, retryAfter: Duration?, ends: Timestamp? = nil) {
        let wait = min(Self.firstWait * (1 << min(failures, 16)), Self.longestWait)
        let limit = ends.map { min(Self.longestAskedWait, ($0 - now) / 3) } ?? Self.longestAskedWait
        failureWait = now + wait
        askedWait = retryAfter.map { now + min($0, max(limit, wait)) }
        failures += 1
    }

    /// Shortens the wait that the authority asked an earlier process for, so that the wait ends within a day from now.
    public mutating func resumed(at now: Timestamp) {
        askedWait = askedWait.map { min($0, now + Self.longestAskedWait) }
    }

    /// Records that a new certificate was issued.
    public mutating func succeeded() {
        failures = 0
        failureWait = nil
        askedWait = nil
    }
}
