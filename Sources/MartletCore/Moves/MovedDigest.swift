/// The number of rows, and a checksum over the rows that does not depend on their order. The checksum is the sum of the
/// SHA-256 digests of the rows; each digest is added as four separate 64-bit numbers.
public struct MovedDigest: Hashable, Sendable, CustomStringConvertible {
    public private(set) var count: Int64 = 0
    private var sums: [UInt64] = [0, 0, 0, 0]

    /// Adds a row.
    /// - Parameter hash: Returns the SHA-256 digest of bytes, which has 32 bytes.
    mutating func add(_ row: [MovedValue], hash: ([UInt8]) -> [UInt8]) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        for value in row { value.append(to: &bytes) }
        add(digest: hash(bytes))
    }

    /// Adds a row of a table. Only the columns that are compared are included (`MovedTable.Column.isCompared`).
    mutating func add(_ row: [MovedValue], of table: MovedTable, hash: ([UInt8]) -> [UInt8]) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        for (index, column) in table.columns.enumerated() where column.isCompared { row[index].append(to: &bytes) }
        add(digest: hash(bytes))
    }

    /// Takes away a row of a table that was added before.
    mutating func remove(_ row: [MovedValue], of table: MovedTable, hash: ([UInt8]) -> [UInt8]) {
        var other = MovedDigest()
        other.add(row, of: table, hash: hash)
        count -= other.count
        for index in sums.indices { sums[index] &-= other.sums[index] }
    }

    private mutating func add(digest: [UInt8]) {
        count += 1
        for index in sums.indices where digest.count >= 32 {
            let word = digest[index * 8..<index * 8 + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            sums[index] &+= word
        }
    }

    /// The first quarter of the checksum, as 16 hexadecimal digits.
    public var description: String {
        let digits = String(sums[0], radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
