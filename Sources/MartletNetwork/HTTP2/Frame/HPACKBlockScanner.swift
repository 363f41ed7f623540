import MartletHTTP

/// Reads from a header block how each of its fields is represented (RFC 7541, section 6), which nghttp2 does not tell.
///
/// Names and values are skipped, so that no table is needed. A block that is cut off or wrong gives the fields before
/// the fault: to refuse it is nghttp2's business.
enum HPACKBlockScanner {
    /// One entry per field, in order: `.allowed` where the field is in a table or enters it, `.never` for a literal that
    /// stays one.
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

        /// An integer whose first octet holds `prefix` bits of it (section 5.1).
        mutating func integer(prefix: Int) -> Int? {
            guard let first = bytes.popFirst() else { return nil }
            let mask = (1 << prefix) - 1
            var value = Int(first) & mask
            guard value == mask else { return value }
            // Four octets reach 2^28, above any length that a block here can have.
            for shift in stride(from: 0, through: 21, by: 7) {
                guard let next = bytes.popFirst() else { return nil }
                value += Int(next & 0x7F) << shift
                if next < 0x80 { return value }
            }
            return nil
        }

        /// A literal field: the index of its name, or the name, and the value.
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
