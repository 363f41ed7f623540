import MartletHTTP

/// Determines how each field of a header block is represented (RFC 7541, section 6), which nghttp2 does not report.
///
/// Names and values are skipped, so no table is needed. For a truncated or invalid block, the scanner returns the
/// fields before the error; nghttp2 refuses such a block.
enum HPACKBlockScanner {
    /// Returns one element per field, in order: `.allowed` for a field that is indexed or is added to the table,
    /// `.never` for a literal that is not added.
    static func indexing(of block: [UInt8]) -> [HTTPField.Indexing] {
        var reader = Reader(bytes: block[...])
        var fields: [HTTPField.Indexing] = []
        while let first = reader.bytes.first {
            switch first {
            case 0x80...:
                guard reader.integer(prefix: 7) != nil else { return fields }
                fields.append(.allowed)
            case 0x40..<0x80:
                guard reader.skipLiteral(prefix: 6) else { return fields }
                fields.append(.allowed)
            case 0x20..<0x40:
                guard reader.integer(prefix: 5) != nil else { return fields }
            default:
                guard reader.skipLiteral(prefix: 4) else { return fields }
                fields.append(.never)
            }
        }
        return fields
    }

    private struct Reader {
        var bytes: ArraySlice<UInt8>

        /// Reads an integer that begins in the last `prefix` bits of the next octet (section 5.1); nil if it is
        /// incomplete or too large.
        mutating func integer(prefix: Int) -> Int? {
            guard let first = bytes.popFirst() else { return nil }
            let mask = (1 << prefix) - 1
            var value = Int(first) & mask
            guard value == mask else { return value }
            // Four further octets allow values up to about 2^28, more than any length in a header block of acceptable
            // size.
            for shift in stride(from: 0, through: 21, by: 7) {
                guard let next = bytes.popFirst() else { return nil }
                value += Int(next & 0x7F) << shift
                if next < 0x80 { return value }
            }
            return nil
        }

        /// Skips a literal field: its name, or the index of its name, followed by its value.
        mutating func skipLiteral(prefix: Int) -> Bool {
            guard let name = integer(prefix: prefix) else { return false }
            return (name > 0 || skipString()) && skipString()
        }

        private mutating func skipString() -> Bool {
            guard let length = integer(prefix: 7), length <= bytes.count else { return false }
            bytes.removeFirst(length)
            return true
        }
    }
}
