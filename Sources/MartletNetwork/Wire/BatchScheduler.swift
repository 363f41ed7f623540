/// Decides from which of several batches a connection draws next. A pure rule.
///
/// Long batches take turns by flow; within a flow, the oldest batch goes first. Batches that fit into one turn go
/// before long batches, the oldest first. However, every other turn goes to the long batches, so that an endless series
/// of short batches cannot block them.
struct BatchScheduler: Equatable {
    /// The maximum number of items that are drawn in one turn while other batches wait.
    static let portion = 64

    struct Turn: Equatable {
        let index: Int
        /// The number of items that may be drawn in the turn.
        let items: Int
    }

    enum BatchState {
        /// The batch has no items to draw.
        case empty
        case long(flow: UInt64, since: ContinuousClock.Instant)
        /// All items of the batch fit into one turn.
        case short(since: ContinuousClock.Instant)
    }

    /// The oldest waiting batch of a flow (`RequestBatch.flow`).
    private struct Head {
        var flow: UInt64
        var index: Int
        var since: ContinuousClock.Instant

        /// Replaces `head` by `other` if `other` has a lower flow, or the same flow and is older.
        static func takeFirst(_ other: Head, _ head: inout Head?) {
            if let known = head, (other.flow, other.since) >= (known.flow, known.since) { return }
            head = other
        }
    }

    /// The flow of the last long batch that had a turn.
    private var last: UInt64?
    private var wasShort = false

    /// Returns the batch whose turn is next.
    /// - Parameter status: Returns the status of the batch at an index.
    /// - Returns: The next turn; nil if no batch has items.
    mutating func next(of count: Int, _ status: (Int) -> BatchState) -> Turn? {
        // `first` is the oldest batch of the lowest flow. `after` is the oldest batch of the lowest flow above `last`.
        var after: Head?
        var first: Head?
        var short: Head?
        var isAlone = true
        for index in 0..<count {
            switch status(index) {
            case .empty: break
            case .long(let flow, let since):
                let head = Head(flow: flow, index: index, since: since)
                if let first, first.flow != flow { isAlone = false }
                Head.takeFirst(head, &first)
                if last.map({ flow > $0 }) ?? true { Head.takeFirst(head, &after) }
            case .short(let since):
                if short != nil { isAlone = false }
                Head.takeFirst(Head(flow: 0, index: index, since: since), &short)
            }
        }
        let long = after ?? first
        guard let head = wasShort ? long ?? short : short ?? long else { return nil }
        wasShort = head.index == short?.index
        if !wasShort { last = head.flow }
        return Turn(index: head.index, items: isAlone && (short == nil || long == nil) ? .max : Self.portion)
    }
}
