/// Keeps the id under which this device is registered from launch to launch.
///
/// The id is no secret that opens anything. Device tokens have no store: the system gives the present one at every
/// launch, and only that one is ever sent.
public protocol RegistrationIDStore: Sendable {
    /// The id; nil where there is none.
    func load() async -> String?

    /// Replaces the id; nil removes it.
    func save(_ id: String?) async
}

/// Keeps the id as long as the process lives.
public actor MemoryRegistrationIDStore: RegistrationIDStore {
    private var id: String?

    /// - Parameter id: The id to begin with; nil where the device is not registered.
    public init(_ id: String? = nil) {
        self.id = id
    }

    public func load() -> String? { id }
    public func save(_ id: String?) { self.id = id }
}
