import Synchronization

/// Shows the progress of an operation on standard error. On a terminal the progress is one line, which is removed at
/// the end of the operation.
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

    /// Shows the progress. May be called as often as needed, because `Progress` limits how often a line is written.
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

    /// Removes the line with the progress from the terminal. Must be called before anything else is printed.
    func end() {
        state.withLock { state in
            if state.isDrawn { Terminal.draw("") }
            state.isDrawn = false
        }
    }
}
