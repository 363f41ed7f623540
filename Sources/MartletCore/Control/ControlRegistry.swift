import MartletHTTP
import MartletModel
import Synchronization

/// What is requested of notifications, as the store has it, and what of them is under way: asked before every page.
///
/// It knows all that are not simply running from the start of the server on, so that nothing has to be read for those
/// that are.
final class ControlRegistry: Sendable {
    private struct Kept {
        var hub: Hub.ID
        var control = NotificationControl.running
        var meter: RolloutMeter?
    }

    /// A notification of which something is being sent.
    private struct UnderWay {
        var hub: Hub.ID
        var deliveries = 0
        var signal = StopSignal()
    }

    private struct State {
        var kept: [Int64: Kept] = [:]
        var underWay: [Int64: UnderWay] = [:]

        mutating func removeUseless(_ notification: Int64) {
            guard let entry = kept[notification], entry.control == .running, entry.meter == nil else { return }
            kept[notification] = nil
        }
    }

    /// Wishes are stored and told in the same order.
    let order = SerialWork()
    private let state = Mutex(State())

    // MARK: Wishes

    func control(of notification: Int64) -> NotificationControl {
        state.withLock { $0.kept[notification]?.control ?? .running }
    }

    /// Takes a wish that was stored; what is under way against it stops.
    func set(_ control: NotificationControl, of notification: Int64, in hub: Hub.ID) {
        let signal: StopSignal? = state.withLock { state in
            state.kept[notification, default: Kept(hub: hub)].control = control
            state.removeUseless(notification)
            let signal = state.underWay[notification]?.signal
            guard control == .running else { return signal }
            // What goes on by the old one must still be stopped by it.
            if signal?.isStopped == true { state.underWay[notification]?.signal = StopSignal() }
            return nil
        }
        signal?.stop()
    }

    /// The notification is over.
    func forget(_ notification: Int64) {
        state.withLock { _ = $0.kept.removeValue(forKey: notification) }
    }

    /// Hubs were deleted.
    func forget(where isGone: (Hub.ID) -> Bool) {
        state.withLock { state in state.kept = state.kept.filter { !isGone($0.value.hub) } }
    }

    /// How many notifications stand still, by why.
    var heldCounts: [NotificationControl: Int] {
        state.withLock { state in
            state.kept.values.reduce(into: [.paused: 0, .halted: 0]) { counts, entry in
                if entry.control.isHeld { counts[entry.control, default: 0] += 1 }
            }
        }
    }

    var count: Int { state.withLock { $0.kept.count } }

    /// How many notifications are under way.
    var underWayCount: Int { state.withLock { $0.underWay.count } }

    // MARK: What is under way

    /// A delivery of the notification begins to run.
    func begin(_ notification: Int64, in hub: Hub.ID) {
        state.withLock { $0.underWay[notification, default: UnderWay(hub: hub)].deliveries += 1 }
    }

    /// Stops what is sent now of a hub that is being deleted.
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

    /// What stops what is sent now.
    func signal(of notification: Int64) -> StopSignal? {
        state.withLock { $0.underWay[notification]?.signal }
    }

    // MARK: Roll-outs

    func hasMeter(_ notification: Int64) -> Bool {
        state.withLock { $0.kept[notification]?.meter != nil }
    }

    /// - Parameters:
    ///   - rate: Pushes a second.
    ///   - lastSentAt: When the last page of the roll-out began; nil where nothing has been sent yet.
    func startMeter(
        of notification: Int64, in hub: Hub.ID, rate: Double, lastSentAt: Timestamp? = nil, at now: Timestamp
    ) {
        state.withLock { state in
            guard state.kept[notification]?.meter == nil else { return }
            state.kept[notification, default: Kept(hub: hub)].meter = RolloutMeter(
                rate: rate, lastSentAt: lastSentAt, at: now)
        }
    }

    /// Takes a turn of a notification that has a meter. Where that is gone meanwhile, another one is to be begun.
    func turn(of notification: Int64, for wanted: Int, at now: Timestamp) -> RolloutMeter.Turn {
        state.withLock { $0.kept[notification]?.meter?.turn(for: wanted, at: now) ?? .later(now) }
    }

    func giveBack(_ count: Int, of notification: Int64) {
        state.withLock { $0.kept[notification]?.meter?.giveBack(count) }
    }

    /// A delivery is over. Another one of the notification begins a meter again.
    func stopMeter(of notification: Int64) {
        state.withLock { state in
            state.kept[notification]?.meter = nil
            state.removeUseless(notification)
        }
    }
}

extension ControlRegistry {
    /// What is next for a delivery.
    func step(of progress: DeliveryProgress, at now: Timestamp) -> SendStep {
        let notification = progress.delivery.notification
        return .next(
            isFannedOut: progress.isFannedOut, control: control(of: notification.sequence),
            hasExpired: notification.expiresAt <= now, isInterrupted: Task.isCancelled)
    }
}
