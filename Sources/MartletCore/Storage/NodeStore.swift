public import MartletModel

/// The storage of several nodes that share one database, and divide the hubs among themselves.
///
/// A hub has one node at a time that sends for it, its *owner*. The owner alone sends the hub's notifications, begins
/// its scheduled notifications, and runs its jobs. Every node answers requests about every hub.
///
/// A node owns hubs as long as it renews its lease. When the lease has ended, other nodes take over the hubs. From then
/// on the storage refuses records by the former owner, so a node that was stopped or cut off from the database does no
/// harm.
public protocol NodeStore: Sendable {
    /// Identifies this process among all processes that ever used the database. A later process has a higher number.
    var incarnation: Int64 { get }

    /// How long other nodes wait after a renewal before they take over the hubs.
    var leaseDuration: Duration { get }

    /// The number of records that the storage has refused, because another node owned their hub.
    var refusedRecords: Int { get }

    /// Hints from the other nodes. They arrive fast, but may be lost or arrive in another order than the changes were
    /// made; `renew` returns the actual state. Each change has one hint with the number of the change. An owner that
    /// has the hint of change 6 but not the hint of change 5 does not know of change 5 yet.
    var hints: AsyncStream<NodeHint> { get }

    /// Renews the lease, takes over hubs that have no owner any more, and gives idle hubs to nodes that own fewer.
    /// - Throws: `StorageError`; `.locked` if the lease had ended and another node has taken over. The process must
    ///   then drop all data that it has in memory and begin with a new incarnation.
    func renew() async throws(StorageError) -> NodeRenewal

    /// Returns the time of the database's clock.
    func databaseTime() async throws(StorageError) -> Timestamp

    /// Ends the lease, so that other nodes take over at once. Call this when nothing is being sent any more.
    func leave() async throws(StorageError)

    /// Returns the nodes whose leases have not ended, or ended within the last day, the oldest first.
    func nodes() async throws(StorageError) -> [NodeDescription]
}

/// The data that a node gets when it renews its lease.
public struct NodeRenewal: Hashable, Sendable {
    /// The hubs that this node owns now. The value is the number of changes that other nodes have made to the hub's
    /// notifications, schedules, controls and jobs; changes by this node are not counted.
    public var hubs: [Hub.ID: Int64]
    /// The number of changes that all nodes have made to hubs, to the namespace's rules and to operators.
    public var directoryVersion: Int64
    /// The number of nodes whose leases have not ended, including this node.
    public var liveNodes: Int
    /// The time of the database's clock, when the lease was renewed.
    public var databaseTime: Timestamp
    /// How much earlier than this renewal the oldest lease was asked for on which the hubs depend. It is not zero if a
    /// hub's cluster did not answer this time.
    public var age = Duration.zero
    /// The clusters that hubs can be on, without those that were added only now; empty if there is only one.
    public var clusters: [ClusterState] = []

    public init(hubs: [Hub.ID: Int64], directoryVersion: Int64, liveNodes: Int, databaseTime: Timestamp) {
        self.hubs = hubs
        self.directoryVersion = directoryVersion
        self.liveNodes = liveNodes
        self.databaseTime = databaseTime
    }
}

/// Whether a node reaches a cluster.
public struct ClusterState: Hashable, Sendable {
    public var number: Int
    /// Why the node does not reach the cluster; nil if it does.
    public var obstacle: String?

    public init(number: Int, obstacle: String?) {
        self.number = number
        self.obstacle = obstacle
    }
}

/// A message that another node has changed data in the database, or that such messages may have been lost.
public enum NodeHint: Hashable, Sendable {
    /// Another node has stored deliveries of a hub that this node owns. `first` is the lowest id of these deliveries.
    /// `change` is the number of changes of the hub (`NodeRenewal.hubs`), including this one.
    case deliveries(first: Delivery.ID, in: Hub.ID, change: Int64)
    /// Another node has changed a control, a schedule or a job of a hub that this node owns.
    case hub(Hub.ID, change: Int64)
    /// A hub, a rule of the namespace or an operator has changed.
    case directory
    /// The connection for hints was broken, so hints may have been lost; or this node has stored something and has not
    /// got the answer.
    case lost
}

/// One of the nodes that share a database.
public struct NodeDescription: Hashable, Sendable {
    public var incarnation: Int64
    /// The name that the operator gave the node; the name of its machine otherwise.
    public var name: String
    /// The version of the program.
    public var version: String
    public var startedAt: Timestamp
    /// When the node last renewed its lease, by the clock of the database.
    public var renewedAt: Timestamp
    /// Whether the lease has not ended.
    public var isAlive: Bool
    /// The number of hubs that the node owns.
    public var hubs: Int

    public init(
        incarnation: Int64, name: String, version: String, startedAt: Timestamp, renewedAt: Timestamp, isAlive: Bool,
        hubs: Int
    ) {
        self.incarnation = incarnation
        self.name = name
        self.version = version
        self.startedAt = startedAt
        self.renewedAt = renewedAt
        self.isAlive = isAlive
        self.hubs = hubs
    }
}
