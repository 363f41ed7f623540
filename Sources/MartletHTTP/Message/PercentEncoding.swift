/// Percent-encoding (RFC 3986, section 2.1).
public enum PercentEncoding {
    /// Decodes percent-encoded text.
    /// - Returns: Nil if an escape is invalid or the bytes are not UTF-8.
    public static func decode(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String? {
        decode(Array(text.utf8)[...], plusIsSpace: plusIsSpace)
    }

    /// Decodes percent-encoded text, given as bytes that are known to be UTF-8. Text without escapes takes a fast path.
    static func decode(_ text: ArraySlice<UInt8>, plusIsSpace: Bool = false) -> String? {
        let isPlain = !text.contains { $0 == UInt8(ascii: "%") || plusIsSpace && $0 == UInt8(ascii: "+") }
        if isPlain { return String(decoding: text, as: UTF8.self) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var iterator = text.makeIterator()
        while let byte = iterator.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = iterator.next().flatMap(nibble), let low = iterator.next().flatMap(nibble)
                else { return nil }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace:
                bytes.append(UInt8(ascii: " "))
            default:
                bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Encodes every byte except the unreserved characters: letters, digits, `-`, `.`, `_` and `~`.
    public static func encode(_ text: some StringProtocol) -> String {
        let text = Substring(text)
        guard !text.utf8.allSatisfy(isUnreserved) else { return String(text) }
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if isUnreserved(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends bytes to a text. Every byte except the unreserved characters is percent-encoded.
    public static func append(_ bytes: UnsafeBufferPointer<UInt8>, to text: inout [UInt8]) {
        guard !areUnreserved(bytes) else { return text.append(contentsOf: bytes) }
        text += encode(String(decoding: bytes, as: UTF8.self)).utf8
    }

    /// Returns the byte that the two hexadecimal digits of an escape stand for; nil if one of them is not a digit.
    static func byte(_ high: UInt8, _ low: UInt8) -> UInt8? {
        guard let high = nibble(high), let low = nibble(low) else { return nil }
        return high << 4 | low
    }

    private static func nibble(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// Returns whether all bytes are unreserved characters. Checks eight bytes at a time, because this function is called
    /// for every push of some platforms.
    private static func areUnreserved(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        let raw = UnsafeRawBufferPointer(bytes)
        var index = 0
        while index + 8 <= raw.count {
            let eight = raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let found =
                highBits(of: eight | 0x2020_2020_2020_2020, from: "a", through: "z")
                | highBits(of: eight, from: "0", through: "9") | highBits(of: eight, from: "-", through: ".")
                | highBits(of: eight, from: "_", through: "_") | highBits(of: eight, from: "~", through: "~")
            guard eight & 0x8080_8080_8080_8080 == 0, found & 0x8080_8080_8080_8080 == 0x8080_8080_8080_8080 else {
                return false
            }
            index += 8
        }
        return raw[index...].allSatisfy(isUnreserved)
    }

    /// Returns a word that tells which bytes of `eight` are in the range from `first` through `last`: for each such
    /// byte, the highest bit of the byte at the same place is set; for all other bytes it is not set. All bytes of
    /// `eight` must be ASCII. The other bits of the result have no meaning.
    @inline(__always)
    private static func highBits(of eight: UInt64, from first: Unicode.Scalar, through last: Unicode.Scalar) -> UInt64 {
        let each: UInt64 = 0x0101_0101_0101_0101
        return (eight &+ each &* UInt64(0x80 - first.value)) & ~(eight &+ each &* UInt64(0x7F - last.value))
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
