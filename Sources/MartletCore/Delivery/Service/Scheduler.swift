import MartletModel

/// Begins notifications when their time has come: the service that runs from start to shutdown.
///
/// The store alone knows what is due, so nothing is forgotten by a restart; what fell due meanwhile begins at once.
public final class Scheduler: Sendable {
    /// Notifications begun in one transaction.
    private static let portion = 100

    private let store: any NotificationStore
    private let time: any TimeSource
    private let released: @Sendable ([Delivery]) -> Void
    private let log: @Sendable (String) -> Void
    private let wakes: AsyncStream<Void>
    private let alarm: AsyncStream<Void>.Continuation

    /// - Parameters:
    ///   - released: Told of the deliveries of what has begun, after it was stored.
    ///   - log: Told what goes wrong, in a sentence without secrets.
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

    /// Another notification has been scheduled, perhaps for sooner than all others. Never waits.
    public func wake() {
        alarm.yield()
    }

    /// Works until cancelled.
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

    /// Begins what is due.
    /// - Returns: When there is more to begin.
    private func release() async throws(StorageError) -> Timestamp? {
        while !Task.isCancelled {
            let now = time.now
            guard let next = try await store.nextDue(), next <= now else { break }
            let begun = try await store.release(due: now, limit: Self.portion)
            released(begun.deliveries)
            // Where nothing could be begun of what is due, asking again at once would not change it.
            guard begun.count > 0 else { return now + .seconds(1) }
        }
        return try await store.nextDue()
    }
}
