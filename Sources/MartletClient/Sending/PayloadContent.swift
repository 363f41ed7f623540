/// The bytes of a rich notification, in memory or in a file.
public enum PayloadContent: Hashable, Sendable {
    /// In memory.
    case bytes([UInt8])
    /// The path of a file. Its content is never in memory as a whole.
    case file(String)
}
