import MartletCore
import MartletModel

/// The registrations that have expired. Only `probe` is supported: `seek` would have to read all registrations with an
/// expiry in the future to find the next expired one. If no registration has an expiry, a single look-up is enough.
final class ExpiredCursor: AudienceCursor {
    static let sql = """
        SELECT channel, sequence, expires_at FROM registrations
        WHERE expires_at IS NOT NULL AND (channel, sequence) >= (?1, ?2) ORDER BY channel, sequence
        """

    private let statement: Statement
    private let now: Timestamp
    /// The first registration that has an expiry and is not before the last probed position. `isExpired` tells whether
    /// this expiry has passed.
    private var current = AudiencePosition.start
    private var isExpired = false
    private var isStarted = false

    private static let stepLimit = 12

    /// Creates a cursor.
    /// - Parameter statement: A statement of `sql`, used only by this cursor.
    init(_ statement: Statement, now: Timestamp) {
        self.statement = statement
        self.now = now
    }

    override func probe(_ position: AudiencePosition) throws(StorageError) -> AudiencePosition {
        var stepsLeft = isStarted ? Self.stepLimit : 0
        while current < position {
            if stepsLeft == 0 { try jump(to: position) } else { try step() }
            stepsLeft -= 1
        }
        return current == position && !isExpired ? position.next : current
    }

    private func jump(to position: AudiencePosition) throws(StorageError) {
        statement.reset()
        try statement.bind(position.channel, at: 1)
        try statement.bind(position.registration, at: 2)
        isStarted = true
        try step()
    }

    private func step() throws(StorageError) {
        if try statement.step() {
            current = AudiencePosition(channel: statement.integer(0), registration: statement.integer(1))
            isExpired = statement.timestamp(2) <= now
        } else {
            current = .end
        }
    }
}
