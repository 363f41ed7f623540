/// From which of several batches a connection draws next: a pure decision.
///
/// Long ones take turns. Those that a turn is enough for go before them, the oldest first, but every other turn belongs to
/// the long ones, so that short ones without end hold up nobody.
struct RunTurns: Equatable {
    /// Items that are drawn in a turn, where others wait.
    static let portion = 64

    struct Turn: Equatable {
        let place: Int
        /// How many items may be drawn.
        let items: Int
    }

    enum Standing {
        /// There is nothing to draw.
        case empty
        case long
        /// It has no more items than are drawn in a turn.
        case short(since: ContinuousClock.Instant)
    }

    /// The place whose turn came last; those of short ones do not count.
    private var last = -1
    private var wasShort = false

    /// - Parameter standing: Of each place.
    /// - Returns: nil where all are empty.
    mutating func next(of count: Int, _ standing: (Int) -> Standing) -> Turn? {
        var long: Int?
        var short: (place: Int, since: ContinuousClock.Instant)?
        var waiting = 0
        for step in 0..<count {
            let place = (last + 1 + step) % count
            switch standing(place) {
            case .empty: break
            case .long:
                long = long ?? place
                waiting += 1
            case .short(let since):
                if short.map({ since < $0.since }) ?? true { short = (place, since) }
                waiting += 1
            }
        }
        guard let place = wasShort ? long ?? short?.place : short?.place ?? long else { return nil }
        wasShort = place == short?.place
        if !wasShort { last = place }
        return Turn(place: place, items: waiting == 1 ? .max : Self.portion)
    }

    /// A place is no more; those behind it move up.
    mutating func removed(_ place: Int) {
        if place <= last { last -= 1 }
    }
}
