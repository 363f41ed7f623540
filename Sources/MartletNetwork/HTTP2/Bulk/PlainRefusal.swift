import MartletHTTP

/// A complete answer of any final status in the form in which push services refuse pushes: one HEADERS frame with a
/// self-contained header block, followed by no body or by one DATA frame.
///
/// The session takes such an answer on its fast path only if the caller reads none of its header fields. The normal
/// path reads all other answers, and would read this answer with the same result.
struct PlainRefusal {
    private typealias Flag = HTTP2FrameHeader.Flag

    let stream: Int32
    let status: Int
    let body: UnsafeRawBufferPointer
    /// The offset in the input of the first byte after the answer.
    let end: Int

    /// The maximum length, in bytes, of a body and of a header block. Both are far below the limits of the normal path.
    private static let bodyLimit = 1024
    private static let blockLimit = 256

    /// Returns the stream of the HEADERS frame that begins at `start`; nil if no complete HEADERS frame begins there.
    static func stream(_ input: UnsafeRawBufferPointer, at start: Int) -> Int32? {
        guard let head = HTTP2FrameHeader(complete: input, at: start), head.kind == HTTP2FrameHeader.Kind.headers else {
            return nil
        }
        return head.stream
    }

    /// Reads the answer that begins at `start`; nil if no such answer begins there, or if it is incomplete.
    /// - Parameter ignored: The names of the fields that the caller does not read, in the forms of
    ///   `PlainHead.forms(of:)`.
    init?(_ input: UnsafeRawBufferPointer, at start: Int, ignoring ignored: [[UInt8]]) {
        guard let head = HTTP2FrameHeader(complete: input, at: start), head.kind == HTTP2FrameHeader.Kind.headers,
            head.flags & ~Flag.endStream == Flag.endHeaders, (1...Self.blockLimit).contains(head.length)
        else { return nil }
        let block = start + HTTP2FrameHeader.size
        let after = block + head.length
        guard
            let status = PlainHead.status(
                UnsafeRawBufferPointer(rebasing: input[block..<after]), ignoring: ignored)
        else { return nil }
        self.status = status
        stream = head.stream
        guard !head.has(Flag.endStream) else {
            body = UnsafeRawBufferPointer(start: nil, count: 0)
            end = after
            return
        }
        guard let data = HTTP2FrameHeader(complete: input, at: after), data.kind == HTTP2FrameHeader.Kind.data,
            data.flags == Flag.endStream, data.stream == stream, data.length <= Self.bodyLimit
        else { return nil }
        end = after + HTTP2FrameHeader.size + data.length
        body = UnsafeRawBufferPointer(rebasing: input[after + HTTP2FrameHeader.size..<end])
    }
}

/// Reads the status from a header block that does not depend on the dynamic table (RFC 7541, section 2.3.2), if all
/// other fields are ignored.
enum PlainHead {
    /// Returns the status from a header block of a simple form; nil for any other block. In this form, the first field
    /// is the status, as an index or as a literal. All further fields have literal names that are ignored.
    /// - Parameter ignored: The names of the ignored fields, in the forms of `forms(of:)`.
    static func status(_ block: UnsafeRawBufferPointer, ignoring ignored: [[UInt8]]) -> Int? {
        guard let first = block.first else { return nil }
        var index = 1
        let status: Int
        if let indexed = indexedStatus(first) {
            status = indexed
        } else {
            guard isLiteral(first), (8...14).contains(nameIndex(first)), let value = string(block, at: 1),
                let literal = block[1] & 0x80 == 0 ? number(value) : number(coded: value)
            else { return nil }
            status = literal
            index += 1 + value.count
        }
        while index < block.count {
            guard isLiteral(block[index]), nameIndex(block[index]) == 0,
                let name = string(block, at: index + 1, withLength: true), isIgnored(name, ignored),
                let value = string(block, at: index + 1 + name.count)
            else { return nil }
            // Skips the octet before the name, the name with its length, the octet of the value's length, and the
            // value.
            index += 2 + name.count + value.count
        }
        return status
    }

    /// Returns the possible encodings of a literal name in a header block: plain, and Huffman-coded if `codes` has all
    /// its characters. The first byte of an encoding is its length; the highest bit of this byte marks Huffman coding.
    /// The result is empty for a name of 127 bytes or more.
    static func forms(of name: String) -> [[UInt8]] {
        let plain = Array(name.utf8)
        guard plain.count < 0x7F else { return [] }
        let coded = huffman(plain).map { [[UInt8($0.count) | 0x80] + $0] } ?? []
        return [[UInt8(plain.count)] + plain] + coded
    }

    /// Returns the bytes of a string whose length is encoded in one byte; nil if the block ends too early or the length
    /// takes more than one byte.
    /// - Parameter withLength: Whether the result includes the byte with the length.
    private static func string(
        _ block: UnsafeRawBufferPointer, at index: Int, withLength: Bool = false
    ) -> UnsafeRawBufferPointer? {
        guard index < block.count, block[index] & 0x7F != 0x7F else { return nil }
        let end = index + 1 + Int(block[index] & 0x7F)
        guard end <= block.count else { return nil }
        return UnsafeRawBufferPointer(rebasing: block[(withLength ? index : index + 1)..<end])
    }

    private static func indexedStatus(_ byte: UInt8) -> Int? {
        switch byte {
        case 0x88: 200
        case 0x89: 204
        case 0x8A: 206
        case 0x8B: 304
        case 0x8C: 400
        case 0x8D: 404
        case 0x8E: 500
        default: nil
        }
    }

    private static func number(_ value: UnsafeRawBufferPointer) -> Int? {
        guard value.count == 3 else { return nil }
        var number = 0
        for digit in value {
            guard (0x30...0x39).contains(digit) else { return nil }
            number = number * 10 + Int(digit) - 0x30
        }
        return number >= 200 ? number : nil
    }

    /// Reads three digits from their Huffman codes. The codes of 0 to 2 have five bits, those of the other digits six
    /// bits. The padding after the codes consists of 1 bits.
    private static func number(coded value: UnsafeRawBufferPointer) -> Int? {
        guard (2...3).contains(value.count) else { return nil }
        var bits: UInt32 = 0
        for byte in value { bits = bits << 8 | UInt32(byte) }
        var left = value.count * 8
        var number = 0
        for _ in 0..<3 {
            guard left >= 5 else { return nil }
            let five = Int(bits >> UInt32(left - 5) & 31)
            if five <= 2 {
                number = number * 10 + five
                left -= 5
            } else {
                guard left >= 6 else { return nil }
                let six = Int(bits >> UInt32(left - 6) & 63)
                guard (0x19...0x1F).contains(six) else { return nil }
                number = number * 10 + six - 0x16
                left -= 6
            }
        }
        let padding = (UInt32(1) << UInt32(left)) - 1
        return left < 8 && bits & padding == padding && number >= 200 ? number : nil
    }

    /// Returns true if a field that begins with this byte is a literal. It may be a literal with indexing (which has no
    /// effect on a table of size 0), without indexing, or never indexed.
    private static func isLiteral(_ byte: UInt8) -> Bool {
        byte & 0xC0 == 0x40 || byte & 0xE0 == 0
    }

    /// Returns the table index of a literal's name from the first byte of the literal; 0 if the name is spelled out, 15
    /// or 63 if the index needs further bytes.
    private static func nameIndex(_ byte: UInt8) -> UInt8 {
        byte & 0xC0 == 0x40 ? byte & 0x3F : byte & 0x0F
    }

    private static func isIgnored(_ name: UnsafeRawBufferPointer, _ ignored: [[UInt8]]) -> Bool {
        for other in ignored where name.count == other.count && name.elementsEqual(other) { return true }
        return false
    }

    /// Returns the Huffman code of a name; nil if `codes` lacks one of its characters.
    private static func huffman(_ name: [UInt8]) -> [UInt8]? {
        var (bytes, bits, count) = ([UInt8](), UInt64(0), 0)
        for character in name {
            guard let (code, length) = codes[character] else { return nil }
            bits = bits << UInt64(length) | UInt64(code)
            count += length
            while count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt64(count)))
            }
        }
        // The unused bits of the last byte are set to 1 (RFC 7541, section 5.2).
        if count > 0 { bytes.append(UInt8(truncatingIfNeeded: bits << UInt64(8 - count)) | UInt8(0xFF >> count)) }
        return bytes
    }

    /// The Huffman codes of lower-case letters, digits and the hyphen (RFC 7541, appendix B).
    private static let codes: [UInt8: (code: Int, length: Int)] = {
        let five = Array("012aceiost".utf8)
        let six = Array("-".utf8) + Array("3456789".utf8)
        var codes: [UInt8: (code: Int, length: Int)] = [:]
        for (code, character) in five.enumerated() { codes[character] = (code, 5) }
        codes[six[0]] = (0x16, 6)
        for (index, character) in six.dropFirst().enumerated() { codes[character] = (0x19 + index, 6) }
        for (index, character) in "bdfghlmnpru".utf8.enumerated() { codes[character] = (0x23 + index, 6) }
        for (index, character) in "jkqvwxyz".utf8.enumerated() { codes[character] = (0x74 + index, 7) }
        return codes
    }()
}

extension HTTP2FrameHeader {
    /// Reads the header of a frame; nil if the frame is not completely in the input or is longer than
    /// `BulkSession.frameLimit`. Also nil for a frame without payload at the very end of the input.
    init?(complete input: UnsafeRawBufferPointer, at start: Int) {
        guard input.count - start > Self.size else { return nil }
        let head = HTTP2FrameHeader(UnsafeRawBufferPointer(rebasing: input[start...]))
        guard head.length <= BulkSession.frameLimit, start + Self.size + head.length <= input.count else { return nil }
        self = head
    }
}
