public import MartletModel

/// The id of a notification, with 128 bits. The first 48 bits are the time of its creation in milliseconds since 1970,
/// so that ids sort by age.
public struct NotificationID: Hashable, Sendable, Comparable, CustomStringConvertible {
    public let high: UInt64
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Creates a new id from the time, followed by 80 random bits.
    public init(at now: Timestamp) {
        var random = SystemRandomNumberGenerator()
        high = UInt64(truncatingIfNeeded: now.milliseconds) << 16 | UInt64.random(in: 0...0xFFFF, using: &random)
        low = UInt64.random(in: .min ... .max, using: &random)
    }

    /// Parses 32 hexadecimal digits in either case; nil for any other text.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 32, text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
            let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.dropFirst(16), radix: 16)
        else { return nil }
        self.init(high: high, low: low)
    }

    /// The id as 32 hexadecimal digits.
    public var description: String {
        String(unsafeUninitializedCapacity: 32) { buffer in
            for place in 0..<32 {
                let word = place < 16 ? high : low
                let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - place % 16 * 4)) & 15
                buffer[place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
            }
            return 32
        }
    }

    public static func < (left: NotificationID, right: NotificationID) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}
