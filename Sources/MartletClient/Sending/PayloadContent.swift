/// The bytes of a rich notification, in memory or in a file.
public enum PayloadContent: Hashable, Sendable {
    /// The content as bytes in memory.
    case bytes([UInt8])
    /// The path of a file with the content. The whole content is never in memory.
    case file(String)
}
