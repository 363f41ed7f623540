public import MartletModel

/// The storage of a server: the stores for all kinds of data, and the operations on the storage as a whole.
public protocol ServerStorage: CampaignStore, ControlStore, DeadLetterStore, DeviceKeyStore, DeviceStore, FunnelStore,
    HubStore, JobStore, LaneStore, MetricHourStore, NotificationStore, OperatorFactorStore, OperatorStore, PayloadStore,
    ReceiptStore, SendListStore, SendRecordStore, TraceStore, UserStore
{
    /// The maps of the devices that the unfinished deliveries of this process have reached.
    var maps: any ProgressMaps { get }
    /// The containers of blobs for imports and exports.
    var containerStore: any ContainerStore { get }
    /// The contents of payloads that are too large for a row.
    var payloadBodies: PayloadBodies { get }
    /// The store through which nodes divide the hubs among themselves; nil if no other process can use the storage.
    var nodeStore: (any NodeStore)? { get }
    /// The clusters that the hubs are on; nil if there can be only one place for them.
    var clusterStore: (any ClusterStore)? { get }

    /// Reads a small value, to check that the storage answers.
    func probe() async throws(StorageError)

    /// Returns once the threads that write have responded. Used to check that none of them is blocked.
    func turn() async

    /// Finishes the waiting writes and closes the storage. Later calls fail with an error that says so.
    func close() async

    /// Removes expired data and the remaining data of deleted hubs, in portions, so that other writes can happen in
    /// between. Must be called periodically. Returns early if its task is cancelled.
    func sweep(at now: Timestamp, keeping retention: Retention) async throws(StorageError)

    /// Seals again those secrets that were sealed with a key other than the current one, in small transactions. If the
    /// call is interrupted, the next call continues.
    /// - Parameter deadline: When to stop, between two transactions. The call also stops if the task is cancelled.
    /// - Returns: Whether all secrets were processed.
    /// - Throws: `StorageError` if a secret cannot be opened with any key.
    func reseal(before deadline: ContinuousClock.Instant) async throws(StorageError) -> Bool

    /// Returns the number of secrets that are sealed with a key other than the current one.
    func sealedOtherwise() async throws(StorageError) -> Int64

    // MARK: Figures

    /// Counts unfinished deliveries, including deliveries that are not in the dispatcher's memory.
    func backlog() async throws(StorageError) -> Backlog

    /// Returns the size of a hub's backlog: the number and the bytes of its accepted, unfinished notifications.
    /// - Parameter hub: The hub; nil for all hubs together.
    func backlogSize(of hub: Hub.ID?) async throws(StorageError) -> BacklogSize

    /// Counts the pushes that are tried again later, by lane.
    /// - Parameter limit: The maximum number of pushes that are read, in the order of their deliveries.
    func waitingRetries(limit: Int) async throws(StorageError) -> [LaneID: WaitingRetries]

    /// Counts the waiting parts of notifications that have begun and not ended.
    func waitingParts() async throws(StorageError) -> WaitingParts

    /// The number of changes that wait to be written.
    var waitingWrites: Int { get }

    /// The time that writes have waited, and the time that they have taken, since the start of the process.
    var writeTimes: WriteTimes { get }
}
