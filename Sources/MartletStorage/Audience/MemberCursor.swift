import MartletCore

/// The members of one tag. The cursor steps through adjacent rows, which is fastest if most registrations have the tag.
/// It jumps over larger gaps, to the first registration of a channel.
///
/// A jump compares channels only. If it compared pairs of channel and registration in SQL, this comparison would be
/// four of the nine operations that SQLite executes for each row.
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

    /// The maximum number of rows to step over before the cursor jumps. A jump costs about as much as this many steps.
    private static let stepLimit = 12

    /// Creates a cursor over the members of a tag.
    /// - Parameters:
    ///   - statement: A statement of `sql`, used only by this cursor.
    ///   - horizon: Limits the number of searches for members; nil for no limit.
    init(_ statement: Statement, tag: Int64, horizon: ReadingHorizon? = nil) {
        self.statement = statement
        self.tag = tag
        self.horizon = horizon
    }

    override func seek(_ position: AudiencePosition) throws(StorageError) -> AudiencePosition {
        if current >= position { return current }
        if let horizon, !horizon.reaches(position) { return .end }
        if isStarted {
            for _ in 0..<Self.stepLimit {
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
