/// Keeps a value as long as the process lives.
public actor MemoryStore: CredentialStore {
    private var value: [UInt8]?

    /// - Parameter value: What it holds at first.
    public init(_ value: [UInt8]? = nil) {
        self.value = value
    }

    public func load() -> [UInt8]? { value }
    public func save(_ value: [UInt8]?) { self.value = value }
}
