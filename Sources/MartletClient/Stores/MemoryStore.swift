/// Keeps a value in memory for the life of the process.
public actor MemoryStore: CredentialStore {
    private var value: [UInt8]?

    /// Creates a store.
    /// - Parameter value: The value that the store has at first; nil for none.
    public init(_ value: [UInt8]? = nil) {
        self.value = value
    }

    public func load() -> [UInt8]? { value }
    public func save(_ value: [UInt8]?) { self.value = value }
}
