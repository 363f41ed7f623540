/// The part of a representation that a `Range` field requests (RFC 9110, section 14): at most one range of bytes. A
/// request for several ranges gets the whole representation, as the RFC permits.
enum ByteRange: Hashable {
    case whole
    case part(Range<Int64>)
    /// The range lies outside the representation.
    case unsatisfiable

    /// Determines the range that a request asks for.
    /// - Parameters:
    ///   - field: The field as received; an invalid field is treated as missing.
    ///   - length: The length of the representation, in bytes.
    init(_ field: String?, length: Int64) {
        self = Self.read(field, length: length) ?? .whole
    }

    private static func read(_ field: String?, length: Int64) -> ByteRange? {
        guard let field, field.utf8.prefix(6).elementsEqual("bytes=".utf8) else { return nil }
        let ends = field.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return nil }
        if ends[0].isEmpty {
            guard let count = number(ends[1]) else { return nil }
            return count == 0 || length == 0 ? .unsatisfiable : .part(max(0, length - count)..<length)
        }
        guard let first = number(ends[0]) else { return nil }
        let last: Int64
        if ends[1].isEmpty {
            last = .max - 1
        } else {
            guard let number = number(ends[1]), number >= first else { return nil }
            last = number
        }
        return first < length ? .part(first..<min(length, last + 1)) : .unsatisfiable
    }

    private static func number(_ text: Substring) -> Int64? {
        guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return Int64(text)
    }
}
