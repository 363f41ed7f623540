/// The id of a stored payload: random, so that knowing one gives nothing and tells nothing, and of 31 bits, for clients
/// that keep it in a signed 32-bit integer.
public struct PayloadID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// From 1.
    public let rawValue: Int32

    /// - Returns: nil for a number below 1.
    public init?(rawValue: Int32) {
        guard rawValue > 0 else { return nil }
        self.rawValue = rawValue
    }

    /// Reads decimal digits.
    /// - Returns: nil for what `description` never writes.
    public init?(_ text: some StringProtocol) {
        guard let number = Int32(text), String(number) == text else { return nil }
        self.init(rawValue: number)
    }

    private init(random: inout SystemRandomNumberGenerator) {
        rawValue = Int32.random(in: 1...Int32.max, using: &random)
    }

    /// An id that nobody can foresee. Another payload may have it.
    public static func random() -> PayloadID {
        var random = SystemRandomNumberGenerator()
        return PayloadID(random: &random)
    }

    /// In decimal digits.
    public var description: String { String(rawValue) }
}
