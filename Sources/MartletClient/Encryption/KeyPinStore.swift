/// Stores, across launches, the keys that a sender trusts.
///
/// The pins are not secret. But a person who can change the pins can make the app encrypt the next message for that
/// person's key. If a store loses its pins, the next send counts as the first one: the client trusts all keys that the
/// server reports, and does not notice that a key has changed.
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
