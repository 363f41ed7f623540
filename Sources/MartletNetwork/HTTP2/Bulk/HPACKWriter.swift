import MartletHTTP

/// Encodes header fields (RFC 7541, section 6). Strings are not Huffman-coded, because that would cost more time than
/// the saved bytes are worth.
enum HPACKWriter {
    /// Indices in the static table (RFC 7541, appendix A). They stand for a name with its value, or for the name only.
    enum Static {
        static let authority = 1
        static let methodGet = 2
        static let methodPost = 3
        static let path = 4
        static let schemeHTTP = 6
        static let schemeHTTPS = 7
        static let contentLength = 28
        /// The number of entries in the static table. The indices of dynamic entries follow.
        static let count = 61
    }

    /// The kind of a literal field, with the value of its first octet: with incremental indexing, without indexing, or
    /// never indexed.
    enum Literal: UInt8 {
        case inserted = 0x40
        case passing = 0x00
        case neverIndexed = 0x10

        var prefix: Int { self == .inserted ? 6 : 4 }
    }

    static func integer(_ value: Int, prefix: Int, first: UInt8, into block: inout [UInt8]) {
        let mask = (1 << prefix) - 1
        guard value >= mask else { return block.append(first | UInt8(value)) }
        block.append(first | UInt8(mask))
        var rest = value - mask
        while rest >= 0x80 {
            block.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        block.append(UInt8(rest))
    }

    /// Writes the index of a field that is in the static or dynamic table.
    static func indexed(_ index: Int, into block: inout [UInt8]) {
        integer(index, prefix: 7, first: 0x80, into: &block)
    }

    static func string(_ text: some Collection<UInt8>, into block: inout [UInt8]) {
        integer(text.count, prefix: 7, first: 0, into: &block)
        block.append(contentsOf: text)
    }

    static func literal(
        _ kind: Literal, _ name: some Collection<UInt8>, _ value: some Collection<UInt8>, into block: inout [UInt8]
    ) {
        block.append(kind.rawValue)
        string(name, into: &block)
        string(value, into: &block)
    }

    /// Writes a literal whose name is in the static or dynamic table.
    static func literal(
        _ kind: Literal, nameIndex: Int, _ value: some Collection<UInt8>, into block: inout [UInt8]
    ) {
        integer(nameIndex, prefix: kind.prefix, first: kind.rawValue, into: &block)
        string(value, into: &block)
    }

    static func tableSize(_ size: Int, into block: inout [UInt8]) {
        integer(size, prefix: 5, first: 0x20, into: &block)
    }
}
