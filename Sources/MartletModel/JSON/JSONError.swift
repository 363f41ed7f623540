/// The reason why a text is not valid JSON, and where parsing stopped.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The offset at which parsing stopped, in bytes from 0. It can be after the error.
    public let offset: Int
    /// Says what is wrong; contains no part of the text.
    public let reason: String

    public var description: String { "Not valid JSON at byte \(offset): \(reason)." }
}
