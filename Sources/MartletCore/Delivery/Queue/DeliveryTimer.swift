import MartletModel
import Synchronization

/// A single alarm of the dispatcher or the scheduler. It fires at the timestamp that was set last.
final class DeliveryTimer: Sendable {
    private struct State {
        var timestamp: Timestamp?
        var task: Task<Void, Never>?
    }

    private let time: any TimeSource
    private let fire: @Sendable () -> Void
    private let state = Mutex(State())

    init(time: any TimeSource, fire: @escaping @Sendable () -> Void) {
        self.time = time
        self.fire = fire
    }

    /// Sets the alarm, in place of an earlier one.
    /// - Parameter timestamp: When to fire; nil for no alarm.
    func set(_ timestamp: Timestamp?) {
        state.withLock { state in
            guard timestamp != state.timestamp else { return }
            state.task?.cancel()
            state.timestamp = timestamp
            state.task = timestamp.map { timestamp in
                Task { [time, self] in
                    guard (try? await time.sleep(until: timestamp)) != nil else { return }
                    ring(timestamp)
                }
            }
        }
    }

    func cancel() {
        set(nil)
    }

    private func ring(_ timestamp: Timestamp) {
        state.withLock { state in
            if state.timestamp == timestamp { (state.timestamp, state.task) = (nil, nil) }
        }
        fire()
    }
}
