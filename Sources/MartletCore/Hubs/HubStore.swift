public import MartletModel

/// Stores hubs, and the access rules of the namespace, which apply to all hubs. Keys and credentials are encrypted at
/// rest. Every change is durable when it returns.
public protocol HubStore: Sendable {
    /// Returns all hubs, sorted by name.
    func hubs() async throws(StorageError) -> [Hub]

    /// Creates a hub. The first hub becomes the hub of the app backend. If no hub was chosen and exactly one hub
    /// existed before, that older hub is chosen, because the app backend has used it so far.
    /// - Returns: The new hub; nil if its name is already in use. Names are compared without case.
    func createHub(name: String, settings: HubSettings, at now: Timestamp) async throws(StorageError) -> Hub?

    /// Replaces the settings of a hub if they are still `old` in the store. Another node may have changed them.
    func updateHub(
        _ id: Hub.ID, settings: HubSettings, replacing old: HubSettings, at now: Timestamp
    ) async throws(StorageError) -> HubUpdate

    /// Deletes a hub with everything that belongs to it.
    /// - Returns: Whether the hub existed.
    func deleteHub(_ id: Hub.ID) async throws(StorageError) -> Bool

    /// Returns the hub of the app backend; nil if none was chosen. A hub that was deleted stays chosen until a hub is
    /// created while there is no other hub.
    func backendHub() async throws(StorageError) -> Hub.ID?

    func setBackendHub(_ id: Hub.ID) async throws(StorageError)

    /// Returns the rules that apply to every hub, in their stored order.
    func namespaceRules() async throws(StorageError) -> [AccessRule]

    /// Replaces the rules if they are still `old` in the store.
    /// - Returns: Whether the rules were replaced.
    func setNamespaceRules(
        _ rules: [AccessRule], replacing old: [AccessRule]
    ) async throws(StorageError) -> Bool
}

/// The result of storing new settings of a hub.
public enum HubUpdate: Hashable, Sendable {
    case stored
    /// Other settings have been stored since the old ones were read.
    case changed
    /// There is no such hub.
    case absent
}
