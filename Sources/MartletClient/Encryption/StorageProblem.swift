/// The reason why data cannot be stored on this device or read back.
public struct StorageProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// A message for a person. It contains none of the stored data.
    public let description: String

    /// - Parameter description: What went wrong, and what to do about it.
    public init(_ description: String) {
        self.description = description
    }
}
