/// A count of rows and a checksum over them that does not depend on their order: the sum of the SHA-256 digests of the
/// rows, as four numbers of 64 bits.
public struct MovedDigest: Hashable, Sendable, CustomStringConvertible {
    public private(set) var count: Int64 = 0
    private var sums: [UInt64] = [0, 0, 0, 0]

    /// Adds a row.
    /// - Parameter hash: Returns the 32 bytes of a SHA-256 digest.
    mutating func add(_ row: [MovedValue], hash: ([UInt8]) -> [UInt8]) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        for value in row { value.append(to: &bytes) }
        add(digest: hash(bytes))
    }

    /// Adds a row of a table: those of its columns that are compared.
    mutating func add(_ row: [MovedValue], of table: MovedTable, hash: ([UInt8]) -> [UInt8]) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        for (index, column) in table.columns.enumerated() where column.isCompared { row[index].append(to: &bytes) }
        add(digest: hash(bytes))
    }

    private mutating func add(digest: [UInt8]) {
        count += 1
        for index in sums.indices where digest.count >= 32 {
            let word = digest[index * 8..<index * 8 + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            sums[index] &+= word
        }
    }

    /// The checksum in 16 hexadecimal digits: the first quarter of it.
    public var description: String {
        let digits = String(sums[0], radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
