/// The id of a stored payload. The id is random. Knowing the id grants no access and reveals nothing. It has 31 bits,
/// because some clients store it in a signed 32-bit integer.
public struct PayloadID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The id as a number, at least 1.
    public let rawValue: Int32

    /// Creates an id from a number.
    /// - Returns: nil if the number is less than 1.
    public init?(rawValue: Int32) {
        guard rawValue > 0 else { return nil }
        self.rawValue = rawValue
    }

    /// Parses decimal digits.
    /// - Returns: nil if the text is not in the form that `description` returns.
    public init?(_ text: some StringProtocol) {
        guard let number = Int32(text), String(number) == text else { return nil }
        self.init(rawValue: number)
    }

    private init(random: inout SystemRandomNumberGenerator) {
        rawValue = Int32.random(in: 1...Int32.max, using: &random)
    }

    /// Returns an unpredictable id. Another payload may have the same id.
    public static func random() -> PayloadID {
        var random = SystemRandomNumberGenerator()
        return PayloadID(random: &random)
    }

    /// The id in decimal digits.
    public var description: String { String(rawValue) }
}
