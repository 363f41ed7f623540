/// The bytes of a rich notification, in memory or in a file.
public enum PayloadContent: Hashable, Sendable {
    /// The bytes in memory.
    case bytes([UInt8])
    /// The path of a file. The whole content of the file is never in memory.
    case file(String)
}
