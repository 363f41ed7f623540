/// The id of one push, the same for every attempt. It is a keyed hash of the notification and the member, so that it
/// does not have to be stored.
public struct MessageID: Hashable, Sendable, CustomStringConvertible {
    public let high: UInt64
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The id as a UUID of 36 characters, in lower case (version 8, RFC 9562).
    public var description: String {
        var bytes: [UInt8] = []
        appendUUID(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the 36 characters of the UUID without creating a string.
    public func appendUUID(to bytes: inout [UInt8]) {
        let versioned = high & ~0xF000 | 0x8000
        let varianted = low & ~(0b11 << 62) | (0b10 << 62)
        let parts = (
            Self.digits(versioned >> 32), Self.digits(versioned), Self.digits(varianted >> 32), Self.digits(varianted)
        )
        withUnsafeTemporaryAllocation(byteCount: 36, alignment: 1) { text in
            text.storeBytes(of: parts.0.bigEndian, toByteOffset: 0, as: UInt64.self)
            // The three inner groups have four digits each. Eight digits are written at once; then the last four of
            // them are written again one byte later, to leave room for the dash.
            text.storeBytes(of: parts.1.bigEndian, toByteOffset: 9, as: UInt64.self)
            text.storeBytes(of: UInt32(truncatingIfNeeded: parts.1).bigEndian, toByteOffset: 14, as: UInt32.self)
            text.storeBytes(of: parts.2.bigEndian, toByteOffset: 19, as: UInt64.self)
            text.storeBytes(of: UInt32(truncatingIfNeeded: parts.2).bigEndian, toByteOffset: 24, as: UInt32.self)
            text.storeBytes(of: parts.3.bigEndian, toByteOffset: 28, as: UInt64.self)
            let dash = UInt8(ascii: "-")
            (text[8], text[13], text[18], text[23]) = (dash, dash, dash, dash)
            bytes.append(contentsOf: text)
        }
    }

    /// Returns the eight hexadecimal digits of the low 32 bits of `word` as ASCII characters, each in one byte of the
    /// result. The first digit is in the highest byte. All digits are computed at once, because an id is written for
    /// every push.
    private static func digits(_ word: UInt64) -> UInt64 {
        var nibbles = (word & 0xFFFF_0000) << 16 | word & 0xFFFF
        nibbles = (nibbles << 8 | nibbles) & 0x00FF_00FF_00FF_00FF
        nibbles = (nibbles << 4 | nibbles) & 0x0F0F_0F0F_0F0F_0F0F
        let letters = (nibbles + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        let offset = UInt64(UInt8(ascii: "a") - 10 - UInt8(ascii: "0"))
        return nibbles + 0x3030_3030_3030_3030 + letters * offset
    }
}
