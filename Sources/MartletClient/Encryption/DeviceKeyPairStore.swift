/// Stores this device's key pair across launches. Only this app and its extensions may be able to read it.
///
/// There is one pair per device. The pair stays the same when another user logs in. So a sender who has compared its
/// fingerprint need not compare it again. To create a new pair, save nil and register again. A sender then gets an
/// error of kind `keysChanged` at the next send.
public protocol DeviceKeyPairStore: Sendable {
    /// Returns the key pair; nil if none has been created yet.
    /// - Throws: `StorageProblem` if the store cannot be read, for example while the device is locked. In this case no
    ///   new pair is created.
    func load() async throws(StorageProblem) -> DeviceKeyPair?

    /// Replaces the key pair; nil removes it.
    func save(_ keyPair: DeviceKeyPair?) async throws(StorageProblem)
}

/// Keeps the key pair in memory for the life of the process. Intended for tests and for simulated devices.
public actor MemoryDeviceKeyPairStore: DeviceKeyPairStore {
    private var keyPair: DeviceKeyPair?

    /// Creates a store.
    /// - Parameter keyPair: The key pair that the store has at first; nil for none.
    public init(_ keyPair: DeviceKeyPair? = nil) {
        self.keyPair = keyPair
    }

    public func load() -> DeviceKeyPair? { keyPair }
    public func save(_ keyPair: DeviceKeyPair?) { self.keyPair = keyPair }
}
