import MartletCore

/// The members of one tag. Steps through neighbours, which is fastest in a dense tag, and jumps over the rest, to the first
/// of a channel: comparing pairs would be four of nine operations that SQLite does for each row.
final class MemberCursor: AudienceCursor {
    static let sql = """
        SELECT channel, registration FROM tag_members
        WHERE tag = ?1 AND channel >= ?2 ORDER BY channel, registration
        """

    private let statement: Statement
    private let tag: Int64
    private let horizon: ReadingHorizon?
    private var current = AudiencePosition.start
    private var isStarted = false

    /// How many rows are stepped over before a jump, which costs about as much as so many steps.
    private static let patience = 12

    /// - Parameters:
    ///   - statement: Of `sql`, for this cursor alone.
    ///   - horizon: Behind which no member is looked for; nil: none.
    init(_ statement: Statement, tag: Int64, horizon: ReadingHorizon? = nil) {
        self.statement = statement
        self.tag = tag
        self.horizon = horizon
    }

    override func seek(_ position: AudiencePosition) throws(StorageError) -> AudiencePosition {
        if current >= position { return current }
        if let horizon, !horizon.reaches(position) { return .end }
        if isStarted {
            for _ in 0..<Self.patience {
                try step()
                if current >= position { return current }
            }
        }
        try jump(to: position)
        return current
    }

    private func jump(to position: AudiencePosition) throws(StorageError) {
        statement.reset()
        try statement.bind(tag, at: 1)
        try statement.bind(position.channel, at: 2)
        isStarted = true
        repeat { try step() } while current < position
    }

    private func step() throws(StorageError) {
        current =
            try statement.step()
            ? AudiencePosition(channel: statement.integer(0), registration: statement.integer(1)) : .end
    }
}
