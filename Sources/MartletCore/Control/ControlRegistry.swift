import MartletHTTP
import MartletModel
import Synchronization

/// The controls of notifications, and the notifications that are being sent. The registry is consulted before every
/// page.
///
/// From the start of the server on, the registry contains the control of every unfinished notification whose control is
/// not `running`. An unfinished notification that is not in the registry is running. So the store need not be read.
final class ControlRegistry: Sendable {
    private struct Kept {
        var hub: Hub.ID
        var control = NotificationControl.running
        /// Whether a control request for the notification was ever applied. The request may come from a caller, or from
        /// the notification's own roll-out.
        var wasControlled = false
        var meter: RolloutMeter?
    }

    /// A notification that is being sent.
    private struct UnderWay {
        var hub: Hub.ID
        var deliveries = 0
        var signal: StopSignal
    }

    private struct State {
        var kept: [Int64: Kept] = [:]
        var underWay: [Int64: UnderWay] = [:]

        mutating func removeUseless(_ notification: Int64) {
            guard let entry = kept[notification], !entry.wasControlled, entry.meter == nil else { return }
            kept[notification] = nil
        }
    }

    /// Runs the control changes of a notification one after another, so that they are applied in the same order in
    /// which they are stored.
    let order = KeyedWork<NotificationID>()
    private let lease: SendingLease?
    private let state = Mutex(State())

    /// - Parameter lease: The lease without which nothing may be sent; nil if there is none.
    init(lease: SendingLease? = nil) {
        self.lease = lease
    }

    // MARK: Controls

    func control(of notification: Int64) -> NotificationControl {
        state.withLock { $0.kept[notification]?.control ?? .running }
    }

    /// Returns whether a control request was ever applied to the notification. If so, its pushes may have waited.
    func wasControlled(_ notification: Int64) -> Bool {
        state.withLock { $0.kept[notification]?.wasControlled ?? false }
    }

    /// Applies a stored control to a notification. If the control is not `running`, stops the requests of the
    /// notification.
    func set(_ control: NotificationControl, of notification: Int64, in hub: Hub.ID) {
        let signal: StopSignal? = state.withLock { [lease] state in
            state.kept[notification, default: Kept(hub: hub)].control = control
            state.kept[notification]?.wasControlled = true
            let signal = state.underWay[notification]?.signal
            guard control == .running else { return signal }
            // A new signal is created, because pages that still use the old signal must remain stopped.
            if signal?.isStopped == true { state.underWay[notification]?.signal = StopSignal(lease: lease) }
            return nil
        }
        signal?.stop()
    }

    /// Removes the control of a notification that has ended.
    func forget(_ notification: Int64) {
        state.withLock { _ = $0.kept.removeValue(forKey: notification) }
    }

    /// Removes the controls of all notifications in the selected hubs. Called when a hub was deleted, or when another
    /// process sends for it now.
    func forget(where isGone: (Hub.ID) -> Bool) {
        state.withLock { state in state.kept = state.kept.filter { !isGone($0.value.hub) } }
    }

    /// Applies the stored controls of the given hubs, because another process may have changed these controls.
    /// - Parameter stored: The stored controls. They must include all unfinished notifications of these hubs whose
    ///   control is not `running`.
    /// - Returns: The notifications whose control has changed, with their hubs.
    func replace(_ stored: [ControlledNotification], of hubs: Set<Hub.ID>) -> [Int64: Hub.ID] {
        let known = state.withLock { $0.kept.filter { hubs.contains($0.value.hub) } }
        let controls = Dictionary(
            stored.filter { hubs.contains($0.hub) }.map { ($0.notification, $0) }, uniquingKeysWith: { $1 })
        var changed: [Int64: Hub.ID] = [:]
        for (notification, entry) in known where entry.control != .running && controls[notification] == nil {
            set(.running, of: notification, in: entry.hub)
            changed[notification] = entry.hub
        }
        for (notification, entry) in controls where known[notification]?.control != entry.control {
            set(entry.control, of: notification, in: entry.hub)
            changed[notification] = entry.hub
        }
        return changed
    }

    /// The number of paused and halted notifications, by control.
    var heldCounts: [NotificationControl: Int] {
        state.withLock { state in
            state.kept.values.reduce(into: [.paused: 0, .halted: 0]) { counts, entry in
                if entry.control.isHeld { counts[entry.control, default: 0] += 1 }
            }
        }
    }

    var count: Int { state.withLock { $0.kept.count } }

    /// The number of notifications that are being sent.
    var underWayCount: Int { state.withLock { $0.underWay.count } }

    // MARK: Notifications that are being sent

    /// Records that a delivery of the notification begins to send. Call `end` when the delivery stops sending, even if
    /// it will continue later.
    func begin(_ notification: Int64, in hub: Hub.ID) {
        state.withLock { [lease] state in
            var entry = state.underWay[notification] ?? UnderWay(hub: hub, signal: StopSignal(lease: lease))
            entry.deliveries += 1
            // Pages that were stopped when the lease ended stay stopped. Pages that begin after the renewal of the
            // lease are sent.
            if lease != nil, entry.signal.isStopped, state.kept[notification]?.control ?? .running == .running {
                entry.signal = StopSignal(lease: lease)
            }
            state.underWay[notification] = entry
        }
    }

    /// Stops the requests of all notifications, because the lease has ended.
    func stopAll() {
        let signals = state.withLock { $0.underWay.values.map(\.signal) }
        for signal in signals { signal.stop() }
    }

    /// Stops the requests of all notifications of a hub that is being deleted.
    func stop(_ hub: Hub.ID) {
        let signals = state.withLock { $0.underWay.values.filter { $0.hub == hub }.map(\.signal) }
        for signal in signals { signal.stop() }
    }

    func end(_ notification: Int64) {
        state.withLock { state in
            state.underWay[notification]?.deliveries -= 1
            if state.underWay[notification]?.deliveries == 0 { state.underWay[notification] = nil }
        }
    }

    /// Returns the signal that stops the requests of a notification; nil if the notification is not being sent.
    func signal(of notification: Int64) -> StopSignal? {
        state.withLock { $0.underWay[notification]?.signal }
    }

    // MARK: Roll-outs

    func hasMeter(_ notification: Int64) -> Bool {
        state.withLock { $0.kept[notification]?.meter != nil }
    }

    /// Starts the meter of a roll-out, unless the roll-out has one.
    /// - Parameters:
    ///   - rate: The rate in pushes per second.
    ///   - lastSentAt: When the last page of the roll-out began; nil if nothing has been sent yet.
    func startMeter(
        of notification: Int64, in hub: Hub.ID, rate: Double, lastSentAt: Timestamp? = nil, at now: Timestamp
    ) {
        state.withLock { state in
            guard state.kept[notification]?.meter == nil else { return }
            state.kept[notification, default: Kept(hub: hub)].meter = RolloutMeter(
                rate: rate, lastSentAt: lastSentAt, at: now)
        }
    }

    /// Takes as many pushes as the meter of a notification allows now. If another delivery of the notification has
    /// removed the meter, returns `.later(now)`. The caller must then start a new meter and ask again.
    func turn(of notification: Int64, for wanted: Int, at now: Timestamp) -> RolloutMeter.Turn {
        state.withLock { $0.kept[notification]?.meter?.turn(for: wanted, at: now) ?? .later(now) }
    }

    func giveBack(_ count: Int, of notification: Int64) {
        state.withLock { $0.kept[notification]?.meter?.giveBack(count) }
    }

    /// Removes the meter of a notification when one of its deliveries has ended. If another delivery of the
    /// notification is still being sent, that delivery starts a new meter.
    func stopMeter(of notification: Int64) {
        state.withLock { state in
            state.kept[notification]?.meter = nil
            state.removeUseless(notification)
        }
    }
}

extension ControlRegistry {
    /// Returns the next step of a delivery (`SendStep.next`). If the current task is cancelled, the server is shutting
    /// down, so the step is `.interrupt`.
    func step(of progress: DeliveryProgress, at now: Timestamp) -> SendStep {
        let notification = progress.delivery.notification
        let step = SendStep.next(
            isFannedOut: progress.isFannedOut, control: control(of: notification.sequence),
            hasExpired: progress.delivery.expiresAt <= now, isInterrupted: Task.isCancelled)
        guard let lease, step != .interrupt else { return step }
        return lease.hasEnded || step.sends && signal(of: notification.sequence)?.isStopped == true ? .awaitLease : step
    }
}
