public import MartletModel

/// Keeps hubs, and the access rules of the namespace, which is all of them. Keys and credentials are sealed at rest.
/// Every verb is durable when it returns.
public protocol HubStore: Sendable {
    /// Every hub, by name.
    func hubs() async throws(StorageError) -> [Hub]

    /// Adds a hub.
    /// - Returns: nil where the name, compared without case, is taken.
    func createHub(name: String, settings: HubSettings, at now: Timestamp) async throws(StorageError) -> Hub?

    /// Replaces the settings of a hub.
    /// - Returns: Whether there is such a hub.
    func updateHub(_ id: Hub.ID, settings: HubSettings, at now: Timestamp) async throws(StorageError) -> Bool

    /// Removes a hub with all that belongs to it.
    /// - Returns: Whether there was such a hub.
    func deleteHub(_ id: Hub.ID) async throws(StorageError) -> Bool

    /// The rules that hold for every hub, in order.
    func namespaceRules() async throws(StorageError) -> [AccessRule]

    func setNamespaceRules(_ rules: [AccessRule]) async throws(StorageError)
}
