/// How far the move of a serving server is, and what may follow. A pure value, so that the order of a move and of its
/// end from outside can be tested.
struct ServingMoveState: Equatable {
    enum Stage: Equatable {
        /// No move, or the last one has failed.
        case none
        /// The server goes on while its data is copied.
        case copying
        /// The server changes and sends nothing, and what is left is copied.
        case stopped
        /// The move cannot be given up any more: the directory is marked, and the target is completed.
        case completing
        /// The data is elsewhere, or may be. The server never goes on.
        case moved
    }

    private(set) var stage = Stage.none
    /// Why the move is given up; nil if it is not.
    private(set) var refusal: String?
    /// Whether a move that was given up still has to end.
    private(set) var isRunning = false
    /// The number of the latest move.
    private(set) var number = 0
    /// How many moves have ended but have not let the server go on yet. No other move begins until this is zero.
    private var resuming = 0

    /// Begins a move.
    /// - Returns: The number of the move; nil if there is a move already.
    mutating func begin() -> Int? {
        guard stage == .none, !isRunning, resuming == 0 else { return nil }
        (stage, refusal, isRunning) = (.copying, nil, true)
        number += 1
        return number
    }

    /// Stops the server's changes.
    /// - Returns: False if the move was given up.
    mutating func stop() -> Bool { advance(from: .copying, to: .stopped) }

    /// Decides that the move is completed.
    /// - Returns: False if the move was given up.
    mutating func decide() -> Bool { advance(from: .stopped, to: .completing) }

    private mutating func advance(from: Stage, to: Stage) -> Bool {
        guard stage == from else { return false }
        stage = to
        return true
    }

    /// Gives up a move for which no decision has been made.
    /// - Parameter number: The number of the move; nil for any.
    /// - Returns: Whether the server was stopped, and must go on now; nil if the move cannot be given up. After true,
    ///   `resumed` is called when the server has gone on.
    mutating func giveUp(_ number: Int? = nil, because reason: String) -> Bool? {
        guard stage == .copying || stage == .stopped, number ?? self.number == self.number else { return nil }
        let wasStopped = stage == .stopped
        (stage, refusal) = (.none, reason)
        if wasStopped { resuming += 1 }
        return wasStopped
    }

    /// Ends a move that has failed, or that was given up.
    /// - Parameter isDoubtful: Whether it is not known if the target is complete.
    /// - Returns: Whether the server was stopped, and must go on now. After true, `resumed` is called when it has.
    mutating func fail(isDoubtful: Bool) -> Bool {
        isRunning = false
        guard !isDoubtful else {
            stage = .moved
            return false
        }
        let wasStopped = stage == .stopped || stage == .completing
        stage = .none
        if wasStopped { resuming += 1 }
        return wasStopped
    }

    /// Notes that the server has gone on after a move that was given up or has failed.
    mutating func resumed() { resuming -= 1 }

    /// Ends a move that has succeeded.
    mutating func succeed() { (stage, isRunning) = (.moved, false) }

    /// Whether the server takes no changes and sends nothing.
    var isStopped: Bool { [.stopped, .completing, .moved].contains(stage) }
}
