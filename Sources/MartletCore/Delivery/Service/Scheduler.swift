import MartletModel

/// Begins scheduled notifications when they are due. This service runs from start to shutdown.
///
/// The schedule is only in the store, so a restart loses nothing; notifications that became due during the restart
/// begin at once.
public final class Scheduler: Sendable {
    /// The maximum number of notifications that are begun in one transaction.
    private static let portion = 100

    private let store: any NotificationStore
    private let time: any TimeSource
    private let released: @Sendable ([Delivery]) -> Void
    private let log: @Sendable (String) -> Void
    private let wakes: AsyncStream<Void>
    private let alarm: AsyncStream<Void>.Continuation

    /// - Parameters:
    ///   - released: Receives the deliveries that have begun, after they were stored.
    ///   - log: Receives messages for the operator; they contain no secrets.
    public init(
        store: any NotificationStore, time: any TimeSource, released: @escaping @Sendable ([Delivery]) -> Void,
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.store = store
        self.time = time
        self.released = released
        self.log = log
        (wakes, alarm) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Checks the schedule again, because another notification was scheduled and may be due before all others. Never
    /// waits.
    public func wake() {
        alarm.yield()
    }

    /// Runs until cancelled.
    public func run() async {
        let timer = DeliveryTimer(time: time) { [alarm] in alarm.yield() }
        alarm.yield()
        for await _ in wakes {
            do throws(StorageError) {
                timer.set(try await release())
            } catch {
                log("What is scheduled could not be begun: \(error)")
                timer.set(time.now + .seconds(1))
            }
        }
        timer.cancel()
    }

    /// Begins the notifications that are due.
    /// - Returns: When the next one is due; nil if none is scheduled.
    private func release() async throws(StorageError) -> Timestamp? {
        while !Task.isCancelled {
            let now = time.now
            guard let next = try await store.nextDue(), next <= now else { break }
            let begun = try await store.release(due: now, limit: Self.portion)
            released(begun.deliveries)
            // If none of the due notifications could be begun, retrying at once would change nothing.
            guard begun.count > 0 else { return now + .seconds(1) }
        }
        return try await store.nextDue()
    }
}
