/// Why something cannot be kept on this device, or read again.
public struct StorageProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// A sentence for a person; holds nothing of what was to be kept.
    public let description: String

    /// - Parameter description: What is wrong, and what to do.
    public init(_ description: String) {
        self.description = description
    }
}
