/// The id of one push, the same for every attempt: a keyed hash of notification and channel, so that nothing has to be
/// stored to know it again.
public struct MessageID: Hashable, Sendable, CustomStringConvertible {
    public let high: UInt64
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A UUID's 36 characters, lower case (version 8, RFC 9562).
    public var description: String {
        var bytes: [UInt8] = []
        appendUUID(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the 36 characters without making a string of them.
    public func appendUUID(to bytes: inout [UInt8]) {
        let versioned = high & ~0xF000 | 0x8000
        let varianted = low & ~(0b11 << 62) | (0b10 << 62)
        for nibble in 0..<16 {
            if nibble == 8 || nibble == 12 { bytes.append(UInt8(ascii: "-")) }
            bytes.append(Self.digit(versioned >> UInt64(60 - 4 * nibble)))
        }
        bytes.append(UInt8(ascii: "-"))
        for nibble in 0..<16 {
            if nibble == 4 { bytes.append(UInt8(ascii: "-")) }
            bytes.append(Self.digit(varianted >> UInt64(60 - 4 * nibble)))
        }
    }

    private static func digit(_ word: UInt64) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: word & 15)
        return value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
