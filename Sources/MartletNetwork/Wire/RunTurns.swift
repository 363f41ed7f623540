/// From which of several batches a connection draws next: a pure decision.
///
/// Those that are under way take turns. One that nobody has drawn from goes before them, but every other turn is theirs,
/// so that new ones without end hold up nobody.
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
        case begun
        case new
    }

    /// The place whose turn came last; those of new ones do not count.
    private var last = -1
    private var wasNew = false

    /// - Parameter standing: Of each place.
    /// - Returns: nil where all are empty.
    mutating func next(of count: Int, _ standing: (Int) -> Standing) -> Turn? {
        var begun: Int?
        var new: Int?
        var waiting = 0
        for step in 0..<count {
            let place = (last + 1 + step) % count
            switch standing(place) {
            case .empty: break
            case .begun:
                begun = begun ?? place
                waiting += 1
            case .new:
                new = new ?? place
                waiting += 1
            }
        }
        guard let place = wasNew ? begun ?? new : new ?? begun else { return nil }
        wasNew = place == new
        if !wasNew { last = place }
        return Turn(place: place, items: waiting == 1 ? .max : Self.portion)
    }

    /// A place is no more; those behind it move up.
    mutating func removed(_ place: Int) {
        if place <= last { last -= 1 }
    }
}
