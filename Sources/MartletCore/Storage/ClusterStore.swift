public import MartletModel

/// The storage of a server whose hubs can be on several database clusters. Each hub is on one of them as a whole.
public protocol ClusterStore: Sendable {
    /// Returns the clusters, the first one first.
    func clusters() async throws(StorageError) -> [ClusterDescription]

    /// Adds an empty database as a cluster. If the database is one already, only its address is stored, which the nodes
    /// use from then on.
    /// - Parameter address: A URL, which may contain a password.
    /// - Throws: `StorageError`, for example if the address is that of a cluster with hubs and the database is empty.
    func addCluster(_ address: String, at now: Timestamp) async throws(StorageError) -> ClusterAddition

    /// Removes a cluster. Its database stays as it is.
    /// - Throws: `StorageError` if hubs are on the cluster.
    func removeCluster(_ number: Int) async throws(StorageError)

    /// Moves a hub to another cluster while nodes serve it. Nothing is written to the hub for the last seconds.
    ///
    /// If the process ends at any point, the hub is on its old cluster or on the new one as a whole. What it has left on
    /// the other is removed later.
    /// - Parameter report: Called with the progress.
    /// - Throws: `StorageError`; then the hub is where it was, unless the error says that this is not known.
    func move(
        _ hub: Hub.ID, toCluster number: Int, report: @escaping @Sendable (HubMoveProgress) -> Void
    ) async throws(StorageError) -> HubMoveProgress
}

/// What became of the addition of a cluster.
public struct ClusterAddition: Hashable, Sendable {
    public var number: Int
    /// False if the cluster was there already, so that only its address was stored.
    public var isNew: Bool

    public init(number: Int, isNew: Bool) {
        self.number = number
        self.isNew = isNew
    }
}

/// One of the clusters of a server.
public struct ClusterDescription: Hashable, Sendable {
    /// The first cluster has the number 1.
    public var number: Int
    /// The database and its host, without a password.
    public var address: String
    /// The number of hubs on the cluster.
    public var hubs: Int
    /// Why this node does not reach the cluster; nil if it does.
    public var obstacle: String?

    public init(number: Int, address: String, hubs: Int, obstacle: String?) {
        self.number = number
        self.address = address
        self.hubs = hubs
        self.obstacle = obstacle
    }
}

/// How far the move of a hub is.
public struct HubMoveProgress: Hashable, Sendable {
    public enum Phase: String, Hashable, Sendable {
        /// Rows are copied while the hub is served.
        case copying
        /// No node sends for the hub any more. Requests are still answered.
        case quiet
        /// Writes of the hub are refused. What has changed is copied, and everything is compared.
        case comparing
        case done
    }

    public var phase = Phase.copying
    /// The number of rows that were copied. A row that was changed meanwhile was copied again.
    public var copied: Int64 = 0
    /// The number of rows of the hub, which were found equal in both clusters; 0 until then.
    public var compared: Int64 = 0
    /// How long writes were refused: from when the old cluster took no more until the new one did.
    public var refusal = Duration.zero

    public init() {}
}

extension ServerStorage {
    /// The clusters of the storage; nil if the storage is not in PostgreSQL.
    public var clusterStore: (any ClusterStore)? { nil }
}
