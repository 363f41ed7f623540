/// From which of several batches a connection draws next: a pure decision.
///
/// Long ones take turns by their flow, and within a flow the oldest goes first. Those that a turn is enough for go before
/// them, the oldest first, but every other turn belongs to the long ones, so that short ones without end hold up nobody.
struct BatchScheduler: Equatable {
    /// Items that are drawn in a turn, where others wait.
    static let portion = 64

    struct Turn: Equatable {
        let index: Int
        /// How many items may be drawn.
        let items: Int
    }

    enum Standing {
        /// There is nothing to draw.
        case empty
        case long(flow: UInt64, since: ContinuousClock.Instant)
        /// It has no more items than are drawn in a turn.
        case short(since: ContinuousClock.Instant)
    }

    /// The oldest of what waits of a flow.
    private struct Head {
        var flow: UInt64
        var index: Int
        var since: ContinuousClock.Instant

        /// Takes another's place where that is of an earlier flow, or older.
        static func takeFirst(_ other: Head, _ head: inout Head?) {
            if let known = head, (other.flow, other.since) >= (known.flow, known.since) { return }
            head = other
        }
    }

    /// The flow whose turn came last; those of short ones do not count.
    private var last: UInt64?
    private var wasShort = false

    /// - Parameter standing: Of each place.
    /// - Returns: nil where all are empty.
    mutating func next(of count: Int, _ status: (Int) -> Standing) -> Turn? {
        // Of the flows after the last one, and of all.
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
