/// The header, 512 bytes long, of a member of an archive in the POSIX ustar format. Only the name, the size and the
/// time of the member vary; all other fields of the header are constant.
struct ArchiveHeader: Hashable {
    static let byteCount = 512
    private static let nameLimit = 100

    /// The name of the archive member, 1 to 100 bytes of ASCII.
    var name: String
    /// The size of the member's content, in bytes.
    var size: Int64
    /// The modification time of the member, in seconds since 1970.
    var time: Int64

    var bytes: [UInt8] {
        var header = [UInt8](repeating: 0, count: Self.byteCount)
        func put(_ text: String, at index: Int) {
            header.replaceSubrange(index..<index + text.utf8.count, with: text.utf8)
        }
        put(name, at: 0)
        put("0000600", at: 100)
        put("0000000", at: 108)
        put("0000000", at: 116)
        header.replaceSubrange(124..<136, with: Self.number(size))
        put(Self.octal(time, digits: 11), at: 136)
        put("        ", at: 148)
        put("0", at: 156)
        put("ustar", at: 257)
        put("00", at: 263)
        let sum = header.reduce(Int64(0)) { $0 + Int64($1) }
        put(Self.octal(sum, digits: 6), at: 148)
        header[154] = 0
        return header
    }

    /// The number of padding bytes after the content.
    ///
    /// The padding makes the next header begin at a multiple of 512 bytes.
    var padding: Int { (Self.byteCount - Int(size % Int64(Self.byteCount))) % Self.byteCount }

    init(name: String, size: Int64, time: Int64) {
        self.name = name
        self.size = size
        self.time = time
    }

    /// Parses a header in exactly the form that `bytes` writes; fails for any other form.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        let text = bytes.prefix(Self.nameLimit).prefix { $0 != 0 }
        guard !text.isEmpty, text.allSatisfy({ (0x21...0x7E).contains($0) }),
            let size = Self.number(bytes[124..<136]), let time = Self.octal(bytes[136..<147])
        else { return nil }
        self.init(name: String(decoding: text, as: UTF8.self), size: size, time: time)
        guard self.bytes == bytes else { return nil }
    }

    // MARK: Numbers

    /// The lowest size that cannot be written with eleven octal digits: 8 GiB.
    ///
    /// This size and all larger sizes are written in GNU's form: a byte of value 128, followed by the size as a
    /// big-endian number of eleven bytes.
    private static let octalLimit: Int64 = 1 << 33

    private static func number(_ value: Int64) -> [UInt8] {
        guard value >= octalLimit else { return Array(octal(value, digits: 11).utf8) + [0] }
        return [0x80, 0, 0, 0] + (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * (7 - Int64($0)))) }
    }

    private static func number(_ field: ArraySlice<UInt8>) -> Int64? {
        guard field.first == 0x80 else { return octal(field.dropLast()) }
        let value = field.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int64(exactly: value)
    }

    private static func octal(_ value: Int64, digits: Int) -> String {
        let text = String(value, radix: 8)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }

    private static func octal(_ field: ArraySlice<UInt8>) -> Int64? {
        guard field.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) }) else { return nil }
        return field.reduce(Int64(0)) { $0 << 3 | Int64($1 - UInt8(ascii: "0")) }
    }
}
