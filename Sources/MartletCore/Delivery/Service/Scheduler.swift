import MartletModel

/// Begins scheduled notifications and parts of notifications when they are due, and decides about canaries whose wait
/// is over. This service runs from start to shutdown.
///
/// The schedule is only in the store, so a restart loses nothing; notifications that became due during the restart
/// begin at once.
public final class Scheduler: Sendable {
    /// The maximum number of notifications and parts that are begun in one transaction.
    private static let portion = 100

    private let store: any NotificationStore & ControlStore
    private let controls: SendControls
    private let time: any TimeSource
    private let released: @Sendable ([Delivery]) -> Void
    private let log: @Sendable (String) -> Void
    private let alarm: ScheduleAlarm

    /// - Parameters:
    ///   - controls: Releases and halts canaries.
    ///   - alarm: The alarm of the dispatcher whose deliveries this service begins.
    ///   - released: Receives the deliveries that have begun, after they were stored.
    ///   - log: Receives messages for the operator; they contain no secrets.
    public init(
        store: any NotificationStore & ControlStore, controls: SendControls, alarm: ScheduleAlarm,
        time: any TimeSource, released: @escaping @Sendable ([Delivery]) -> Void,
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.store = store
        self.controls = controls
        self.alarm = alarm
        self.time = time
        self.released = released
        self.log = log
    }

    /// Makes the scheduler read the schedule again. Called after a notification was scheduled, because the new
    /// notification may be due before all others. Never waits.
    public func wake() {
        alarm.ring()
    }

    /// Runs until the task is cancelled.
    public func run() async {
        let timer = DeliveryTimer(time: time) { [alarm] in alarm.ring() }
        var clock = ClockWatch()
        // The clock may have been set back while no server ran, so the holds of canaries are corrected at the start
        // too.
        var areHoldsDoubtful = true
        alarm.ring()
        for await _ in alarm.rings {
            let now = time.now
            do throws(StorageError) {
                if clock.setBack(at: now) != nil { areHoldsDoubtful = true }
                if areHoldsDoubtful { try await store.correctHolds(at: now) }
                areHoldsDoubtful = false
                timer.set(try await release(), asOf: now)
            } catch {
                log("Scheduled notifications could not be begun: \(error)")
                timer.set(time.now + .seconds(1), asOf: now)
            }
        }
        timer.cancel()
    }

    /// Begins the notifications and parts that are due, and decides about the canaries whose wait is over.
    /// - Returns: When the next notification, part or canary is due; nil if none is.
    private func release() async throws(StorageError) -> Timestamp? {
        while !Task.isCancelled {
            let now = time.now
            guard let next = try await store.nextDue(), next <= now else { break }
            let evaluated = try await evaluateCanaries(at: now)
            let begun = try await store.release(dueBy: time, limit: Self.portion)
            released(begun.deliveries)
            // If none of the due notifications could be begun, retrying at once would change nothing.
            guard begun.count + evaluated > 0 else { return now + .seconds(1) }
        }
        return try await store.nextDue()
    }

    /// Decides about the canaries whose wait is over. If a canary has too few answers, `RolloutPacer` decides about it
    /// again after each further answer.
    /// - Returns: The number of canaries for which a decision was made.
    private func evaluateCanaries(at now: Timestamp) async throws(StorageError) -> Int {
        let canaries = try await store.canariesDue(at: now, limit: Self.portion)
        var count = 0
        for canary in canaries {
            let verdict = try await controls.evaluateCanary(canary.id, in: canary.hub, at: now)
            if verdict == .halt {
                log(
                    "The canary of notification \(canary.id) is halted: more of its sample failed than its roll-out "
                        + "allows. 'martlet resume HUB \(canary.id)' continues it, 'martlet cancel' ends it.")
            }
            guard let verdict else { continue }
            count += 1
            // A canary with too few answers is recorded, so that this service does not select it again. `RolloutPacer`
            // decides about it after each further answer, even if the answer comes before the record is stored.
            guard verdict == .waitForAnswers else { continue }
            try await store.recordWaitingForAnswers(of: canary.notification, at: now)
        }
        return count
    }
}
