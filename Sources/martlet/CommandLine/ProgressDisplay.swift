import Synchronization

/// Shows on standard error how far something is. On a terminal the line is gone when this ends.
final class ProgressDisplay: Sendable {
    private struct State {
        var progress: Progress
        var isDrawn = false
    }

    private let begin = ContinuousClock.now
    private let state: Mutex<State>

    init(_ unit: Progress.Unit) {
        state = Mutex(State(progress: Progress(unit, isTerminal: Terminal.showsErrors)))
    }

    /// As often as one likes.
    func show(_ done: Int64, of total: Int64? = nil, notes: [String] = []) {
        state.withLock { state in
            guard let line = state.progress.line(done, of: total, notes: notes, after: .now - begin) else { return }
            if state.progress.isTerminal {
                Terminal.draw(line)
                state.isDrawn = true
            } else {
                Terminal.complain("martlet: \(line)")
            }
        }
    }

    /// Before anything else is printed.
    func end() {
        state.withLock { state in
            if state.isDrawn { Terminal.draw("") }
            state.isDrawn = false
        }
    }
}
