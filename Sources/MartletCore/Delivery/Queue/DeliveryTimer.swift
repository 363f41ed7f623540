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
    /// - Parameters:
    ///   - timestamp: When to fire; nil for no alarm.
    ///   - reading: The reading of the clock with which the owner has looked for a step back. If the clock was set back
    ///     since, the alarm fires at once: the sleep begins with a later reading, and cannot notice that step.
    func set(_ timestamp: Timestamp?, asOf reading: Timestamp) {
        state.withLock { state in
            guard timestamp != state.timestamp else { return }
            state.task?.cancel()
            state.timestamp = timestamp
            state.task = timestamp.map { timestamp in
                Task { [time, self] in
                    if time.now >= reading {
                        guard (try? await time.sleep(until: timestamp)) != nil else { return }
                    }
                    ring(timestamp)
                }
            }
        }
    }

    func cancel() {
        state.withLock { state in
            state.task?.cancel()
            (state.timestamp, state.task) = (nil, nil)
        }
    }

    private func ring(_ timestamp: Timestamp) {
        state.withLock { state in
            if state.timestamp == timestamp { (state.timestamp, state.task) = (nil, nil) }
        }
        fire()
    }
}
