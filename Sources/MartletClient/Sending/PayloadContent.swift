/// Where the bytes of a rich notification are.
public enum PayloadContent: Hashable, Sendable {
    /// In memory.
    case bytes([UInt8])
    /// The path of a file, which is never in memory as a whole.
    case file(String)
}
