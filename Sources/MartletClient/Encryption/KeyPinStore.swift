/// Stores the keys that a sender trusts across launches.
///
/// The pins are not secret, but a person who can change them can have the next message encrypted for a key of that
/// person. If a store loses its pins, the keys that the server reports at the next send are trusted as at a first send,
/// so a key that has changed is not noticed.
public protocol KeyPinStore: Sendable {
    /// Returns the pins of a user; nil if nothing has been sent to the user yet.
    /// - Throws: `StorageProblem` if the pins cannot be read. In this case nothing is sent.
    func pins(of owner: KeyOwner) async throws(StorageProblem) -> KeyPins?

    /// Replaces the pins of a user.
    func setPins(_ pins: KeyPins, of owner: KeyOwner) async throws(StorageProblem)
}

/// Keeps the pins in memory for the life of the process, so a key that changes between launches is not noticed.
public actor MemoryKeyPinStore: KeyPinStore {
    private var pins: [KeyOwner: KeyPins] = [:]

    /// Creates an empty store.
    public init() {}

    public func pins(of owner: KeyOwner) -> KeyPins? { pins[owner] }
    public func setPins(_ pins: KeyPins, of owner: KeyOwner) { self.pins[owner] = pins }
}
