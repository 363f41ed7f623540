public import MartletModel
import Synchronization

/// The counters of all deliveries since the start of the process, for monitoring.
///
/// The counters are updated for each batch, page and token, never for each push, so that counting has no noticeable
/// cost.
public final class DeliveryMetrics: Sendable {
    /// A snapshot of the counters. The counters never decrease.
    public struct Figures: Sendable {
        /// The number of requests that were handed to the transport, including the requests of test sends, by platform.
        public var attempts: [PlatformID: Int] = [:]
        /// The number of requests after which the push is tried again because the push service failed or could not be
        /// reached, by platform. Such a request got no answer, or a status such as 503 or 429. Test sends are not
        /// counted.
        public var failures: [PlatformID: Int] = [:]
        /// The number of pushes by platform and final outcome, counted as in the telemetry of notifications
        /// (`NotificationReport`).
        public var outcomes: [PlatformID: [OutcomeName: Int]] = [:]
        /// The time from the acceptance of a notification, or from its due time, until a batch of first attempts is
        /// handed to the transport, by platform.
        public var latency: [PlatformID: Histogram] = [:]
        public var renewals: [PlatformID: Renewals] = [:]
    }

    /// The number of tokens that were signed or fetched, and the number of failures.
    public struct Renewals: Sendable {
        public var succeeded = 0
        public var failed = 0
    }

    /// The bucket bounds, from one millisecond to one hour. Single sends fall into the lower half; pushes that waited
    /// for a failing service fall into the upper half.
    public static let latencyBounds: [Duration] =
        [1, 2, 5, 10, 20, 50, 100, 200, 500].map { .milliseconds($0) }
        + [1, 2, 5, 10, 30, 60, 300, 1800, 3600].map { .seconds($0) }

    private let state = Mutex(Figures())

    public init() {}

    public var figures: Figures { state.withLock { $0 } }

    /// Counts a batch that is handed to the transport.
    /// - Parameter waited: The time since the acceptance or the due time of the batch's notification; nil if the batch
    ///   has no first attempts.
    func addBatch(of count: Int, on platform: PlatformID, waited: Duration?) {
        state.withLock { figures in
            figures.attempts[platform, default: 0] += count
            if let waited { figures.latency[platform, default: Histogram(bounds: Self.latencyBounds)].add(waited) }
        }
    }

    /// Counts the failed requests of a batch.
    func addFailures(_ count: Int, on platform: PlatformID) {
        guard count > 0 else { return }
        state.withLock { $0.failures[platform, default: 0] += count }
    }

    /// Adds the outcomes of a recorded step to the counters.
    func addOutcomes(_ counts: [OutcomeName: Int], on platform: PlatformID) {
        let counts = counts.filter { $0.value > 0 }
        guard !counts.isEmpty else { return }
        state.withLock { $0.outcomes[platform, default: [:]].merge(counts, uniquingKeysWith: +) }
    }

    func addRenewal(on platform: PlatformID, succeeded: Bool) {
        state.withLock { figures in
            if succeeded {
                figures.renewals[platform, default: Renewals()].succeeded += 1
            } else {
                figures.renewals[platform, default: Renewals()].failed += 1
            }
        }
    }
}
