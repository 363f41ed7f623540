/// The two numbers of a registration id in the hub's own form, "N-N-1" with 19 digits per number. The numbers take 16
/// bytes, while the text takes 41 bytes.
public struct RegistrationIDNumbers: Hashable, Sendable {
    public var first: UInt64
    public var second: UInt64

    public init(first: UInt64, second: UInt64) {
        self.first = first
        self.second = second
    }

    /// Reads the numbers of an id. nil if the id has another form, or if a number begins with 0, because a leading 0
    /// would be lost.
    public init?(_ text: String) {
        let characters = text.utf8
        let dash = UInt8(ascii: "-")
        guard characters.count == 2 * Self.digitCount + 3, text.hasSuffix("-1"),
            characters.dropFirst(Self.digitCount).first == dash,
            let first = Self.number(characters.prefix(Self.digitCount)),
            let second = Self.number(characters.dropFirst(Self.digitCount + 1).prefix(Self.digitCount))
        else { return nil }
        self.init(first: first, second: second)
    }

    public var text: String { "\(first)-\(second)-1" }

    /// The number of bytes in the stored form. The stored form consists of both numbers in big-endian order.
    public static let byteCount = 16

    private static let digitCount = 19

    /// Reads a number from its digits.
    /// - Parameter digits: Nineteen digits. Such a number always fits in a 64-bit word.
    /// - Returns: The number; nil if a character is not a digit, or if the first digit is 0.
    private static func number(_ digits: some Sequence<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
            number = number * 10 + UInt64(digit - UInt8(ascii: "0"))
        }
        return number < 1_000_000_000_000_000_000 ? nil : number
    }
}

extension RegistrationIDNumbers {
    /// Reads the stored form. nil if the number of bytes is not 16.
    public init?(bytes: UnsafeBufferPointer<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        let raw = UnsafeRawBufferPointer(bytes)
        first = UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: 0, as: UInt64.self))
        second = UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    /// Appends the stored form.
    public func append(to bytes: inout [UInt8]) {
        for number in [first, second] { withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) } }
    }
}
