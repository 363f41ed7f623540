import MartletCore
import MartletModel

/// Reads the handles of channels, in ascending order of the channel ids.
final class HandleCursor {
    static let sql = "SELECT id, ifnull(handle, key) FROM channels WHERE id >= ? ORDER BY id"

    private let statement: Statement
    private var current: Int64 = .min
    private var isStarted = false
    /// The buffer for a handle's hexadecimal digits. It grows to the length of the longest handle.
    private var digits = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 64)

    private static let stepLimit = 6

    /// Creates a cursor.
    /// - Parameter statement: A statement of `sql`, used only by this cursor.
    init(_ statement: Statement) {
        self.statement = statement
    }

    deinit {
        digits.deallocate()
    }

    /// Appends a member with its handle to a page. The member's channel must exist.
    func append(_ member: AudienceMember, to page: inout AudiencePage) throws(StorageError) {
        try seek(member.channel.rawValue)
        guard current == member.channel.rawValue else {
            throw StorageError(.corrupt, "A registration points at a channel that is missing; restore a backup.")
        }
        guard statement.isBlob(1) else { return statement.withBytes(1) { page.append(member, handle: $0) } }
        statement.withBytes(1) { bytes in
            let count = bytes.count * 2
            if digits.count < count {
                digits.deallocate()
                digits = .allocate(capacity: count)
            }
            HexDigits.write(bytes, into: digits)
            page.append(member, handle: UnsafeBufferPointer(rebasing: digits[..<count]))
        }
    }

    private func seek(_ channel: Int64) throws(StorageError) {
        var stepsLeft = isStarted ? Self.stepLimit : 0
        while current < channel {
            if stepsLeft == 0 {
                statement.reset()
                try statement.bind(channel, at: 1)
                isStarted = true
            }
            current = try statement.step() ? statement.integer(0) : .max
            stepsLeft -= 1
        }
    }
}
