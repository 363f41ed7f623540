/// The position and reason of the first error in an invalid JSON text.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The offset of the error, in bytes.
    public let offset: Int
    /// Describes what was expected at the offset; contains no part of the text.
    public let reason: String

    public var description: String { "Not valid JSON at byte \(offset): \(reason)." }
}
