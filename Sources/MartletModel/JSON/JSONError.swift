/// The reason why a text is not valid JSON, and where parsing stopped.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The offset at which parsing stopped, in bytes from 0. The error itself may be before this offset.
    public let offset: Int
    /// The error in a few words, which contain no part of the parsed text.
    public let reason: String

    public var description: String { "Not valid JSON at byte \(offset): \(reason)." }
}
