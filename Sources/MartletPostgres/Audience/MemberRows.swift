import MartletCore
import MartletModel

/// The members that `AudienceStatement` has read. Numbers and handles are decoded when they are requested.
struct MemberRows {
    private let row: Row
    let count: Int
    private let handleEnds: [Int]
    let hasHandles: Bool

    init(_ row: Row) {
        self.row = row
        count = row.isNull(3) ? 0 : row.withBytes(3) { $0.count / 8 }
        hasHandles = !row.isNull(7)
        var ends: [Int] = []
        if hasHandles {
            row.withBytes(7) { lengths in
                ends.reserveCapacity(lengths.count / 4)
                for offset in stride(from: 0, to: lengths.count, by: 4) {
                    ends.append((ends.last ?? 0) + Int(lengths.bigEndian(at: offset) as Int32))
                }
            }
        }
        handleEnds = ends
    }

    /// The snapshot that identifies the registrations that were read; nil if the hub no longer exists.
    var snapshot: AudienceSnapshot? {
        row.isNull(0) ? nil : AudienceSnapshot(change: row.integer(0), registration: row.integer(1))
    }

    /// The number of registrations that the sparse form found by their tags. The form stops counting at one more than
    /// `AudienceStatement.sparseLimit`.
    var found: Int64 { row.integer(2) }

    func member(_ index: Int) -> AudienceMember {
        AudienceMember(channel: ChannelID(rawValue: number(3, index)), registration: number(4, index))
    }

    func template(_ index: Int) -> Int64 { number(5, index) }
    func variables(_ index: Int) -> Int64 { number(6, index) }

    /// Calls `read` with the text of the handle of the member at an index.
    /// - Parameter digits: A buffer for the hexadecimal digits of a packed handle. It grows as needed.
    func withHandle(
        _ index: Int, _ digits: inout [UInt8], _ read: (UnsafeBufferPointer<UInt8>) -> Void
    ) {
        let start = index == 0 ? 0 : handleEnds[index - 1]
        row.withBytes(8) { all in
            let bytes = UnsafeRawBufferPointer(rebasing: all[start..<handleEnds[index]])
            let content = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
            guard StoredForm.isPacked(bytes) else { return content.withMemoryRebound(to: UInt8.self) { read($0) } }
            let count = 2 * content.count
            if digits.count < count { digits = [UInt8](repeating: 0, count: count) }
            digits.withUnsafeMutableBufferPointer { buffer in
                StoredForm.unpack(content, into: buffer)
                read(UnsafeBufferPointer(rebasing: UnsafeBufferPointer(buffer)[..<count]))
            }
        }
    }

    private func number(_ column: Int32, _ index: Int) -> Int64 {
        row.withBytes(column) { $0.bigEndian(at: index * 8) }
    }
}
