import MartletModel
import Synchronization

/// One alarm: fires at the soonest moment that it was last set to.
final class DeliveryTimer: Sendable {
    private struct State {
        var moment: Timestamp?
        var task: Task<Void, Never>?
    }

    private let time: any TimeSource
    private let fire: @Sendable () -> Void
    private let state = Mutex(State())

    init(time: any TimeSource, fire: @escaping @Sendable () -> Void) {
        self.time = time
        self.fire = fire
    }

    /// - Parameter moment: nil for no alarm.
    func set(_ moment: Timestamp?) {
        state.withLock { state in
            guard moment != state.moment else { return }
            state.task?.cancel()
            state.moment = moment
            state.task = moment.map { moment in
                Task { [time, self] in
                    guard (try? await time.sleep(until: moment)) != nil else { return }
                    ring(moment)
                }
            }
        }
    }

    func cancel() {
        set(nil)
    }

    private func ring(_ moment: Timestamp) {
        state.withLock { state in
            if state.moment == moment { (state.moment, state.task) = (nil, nil) }
        }
        fire()
    }
}
