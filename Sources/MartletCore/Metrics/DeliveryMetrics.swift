public import MartletModel
import Synchronization

/// What the delivery engine counts since the start of the process, for monitoring.
///
/// It is told of batches, pages and tokens and never of single pushes, so that counting costs nothing that shows.
public final class DeliveryMetrics: Sendable {
    /// What has been counted so far. Counts only grow.
    public struct Figures: Sendable {
        /// Requests handed to the transport; those of test sends too.
        public var attempts: [PlatformID: Int] = [:]
        /// What devices have come to for good, as telemetry counts it.
        public var outcomes: [PlatformID: [OutcomeName: Int]] = [:]
        /// From acceptance, or the time that a notification was due, to handing a batch of first attempts to the
        /// transport.
        public var latency: [PlatformID: Histogram] = [:]
        public var renewals: [PlatformID: Renewals] = [:]
    }

    /// How often tokens were signed or fetched.
    public struct Renewals: Sendable {
        public var succeeded = 0
        public var failed = 0
    }

    /// From a millisecond to an hour: single sends are in the lower half, what waited for a sick service in the upper.
    public static let latencyBounds: [Duration] =
        [1, 2, 5, 10, 20, 50, 100, 200, 500].map { .milliseconds($0) }
        + [1, 2, 5, 10, 30, 60, 300, 1800, 3600].map { .seconds($0) }

    private let state = Mutex(Figures())

    public init() {}

    public var figures: Figures { state.withLock { $0 } }

    /// A batch is handed to the transport.
    /// - Parameter waited: Since the acceptance of what it brings; nil where that is no first attempt.
    func addBatch(of count: Int, on platform: PlatformID, waited: Duration?) {
        state.withLock { figures in
            figures.attempts[platform, default: 0] += count
            if let waited { figures.latency[platform, default: Histogram(bounds: Self.latencyBounds)].add(waited) }
        }
    }

    /// A step of a delivery was recorded.
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
