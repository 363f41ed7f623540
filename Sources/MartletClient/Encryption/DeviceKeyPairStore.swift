/// Keeps this device's key pair from launch to launch, where nothing but this app and its extensions can read it.
///
/// There is one pair per device. It stays when users change: who has once compared its fingerprint need not do so again.
/// To have another made, save nil and register again; senders are then told of the change.
public protocol DeviceKeyPairStore: Sendable {
    /// The key pair; nil where none was made yet.
    /// - Throws: `StorageProblem` where it cannot be told, as while a device is locked: then no other is made.
    func load() async throws(StorageProblem) -> DeviceKeyPair?

    /// Replaces the key pair; nil removes it.
    func save(_ keyPair: DeviceKeyPair?) async throws(StorageProblem)
}

/// Keeps the key pair as long as the process lives: for tests, and for devices that are only tried out.
public actor MemoryDeviceKeyPairStore: DeviceKeyPairStore {
    private var keyPair: DeviceKeyPair?

    /// - Parameter keyPair: What it holds from the beginning.
    public init(_ keyPair: DeviceKeyPair? = nil) {
        self.keyPair = keyPair
    }

    public func load() -> DeviceKeyPair? { keyPair }
    public func save(_ keyPair: DeviceKeyPair?) { self.keyPair = keyPair }
}
