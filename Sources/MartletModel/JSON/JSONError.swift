/// Where and why a text is not valid JSON.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The offset of the error, in bytes.
    public let offset: Int
    /// What was expected there; contains no part of the text.
    public let reason: String

    public var description: String { "Not valid JSON at byte \(offset): \(reason)." }
}
