/// Keeps the keys that a sender trusts from launch to launch.
///
/// The pins are no secret, but who can change them can have the next message encrypted for a key of their own. A store
/// that forgets makes every key the first one again, so that a change is not noticed.
public protocol KeyPinStore: Sendable {
    /// The pins of a user; nil where nothing was sent to the user yet.
    /// - Throws: `StorageProblem` where it cannot be told: then nothing is sent.
    func pins(of owner: KeyOwner) async throws(StorageProblem) -> KeyPins?

    /// Replaces the pins of a user.
    func setPins(_ pins: KeyPins, of owner: KeyOwner) async throws(StorageProblem)
}

/// Keeps the pins as long as the process lives: a change between launches is not noticed.
public actor MemoryKeyPinStore: KeyPinStore {
    private var pins: [KeyOwner: KeyPins] = [:]

    /// Holds none.
    public init() {}

    public func pins(of owner: KeyOwner) -> KeyPins? { pins[owner] }
    public func setPins(_ pins: KeyPins, of owner: KeyOwner) { self.pins[owner] = pins }
}
