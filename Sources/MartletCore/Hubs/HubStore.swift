public import MartletModel

/// Keeps hubs. Keys and credentials are sealed at rest. Every verb is durable when it returns.
public protocol HubStore: Sendable {
    /// Every hub, by name.
    func hubs() async throws(StorageError) -> [Hub]

    /// Adds a hub.
    /// - Returns: nil where the name, compared without case, is taken.
    func createHub(name: String, accessRules: [AccessRule], at now: Timestamp) async throws(StorageError) -> Hub?

    /// Replaces the access rules and credentials of a hub.
    /// - Returns: Whether there is such a hub.
    func updateHub(_ hub: Hub) async throws(StorageError) -> Bool

    /// Removes a hub with all that belongs to it.
    /// - Returns: Whether there was such a hub.
    func deleteHub(_ id: Hub.ID) async throws(StorageError) -> Bool
}
