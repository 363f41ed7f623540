import Synchronization

/// When the connection was made on which a node renewed its lease last.
final class LeaseRenewals: Sendable {
    private let connectedAt = Mutex<ContinuousClock.Instant?>(nil)

    func record(on connection: Connection) {
        connectedAt.withLock { $0 = connection.madeAt }
    }

    /// Returns whether the last renewal was made on a connection that is newer than a moment.
    func haveSucceeded(onConnectionsSince moment: ContinuousClock.Instant) -> Bool {
        connectedAt.withLock { $0.map { $0 > moment } ?? false }
    }
}
