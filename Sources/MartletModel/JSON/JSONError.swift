/// Where and why a text is not JSON.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Bytes from the beginning of the text.
    public let offset: Int
    /// What was expected there; shows nothing of the text.
    public let reason: String

    public var description: String { "Not valid JSON at byte \(offset): \(reason)." }
}
