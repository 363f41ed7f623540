import MartletCore
import MartletModel

/// The handles of channels, asked for in the order of their ids.
final class HandleCursor {
    static let sql = "SELECT id, ifnull(handle, key) FROM channels WHERE id >= ? ORDER BY id"

    private let statement: Statement
    private var current: Int64 = .min
    private var isStarted = false
    /// Grows to the longest handle.
    private var digits = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 64)

    private static let patience = 6

    /// - Parameter statement: Of `sql`, for this cursor alone.
    init(_ statement: Statement) {
        self.statement = statement
    }

    deinit {
        digits.deallocate()
    }

    /// Appends a member, whose channel must exist, with its handle to a page.
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
            StoredHandle.unpack(bytes, into: digits)
            page.append(member, handle: UnsafeBufferPointer(rebasing: digits[..<count]))
        }
    }

    private func seek(_ channel: Int64) throws(StorageError) {
        var patience = isStarted ? Self.patience : 0
        while current < channel {
            if patience == 0 {
                statement.reset()
                try statement.bind(channel, at: 1)
                isStarted = true
            }
            current = try statement.step() ? statement.integer(0) : .max
            patience -= 1
        }
    }
}
