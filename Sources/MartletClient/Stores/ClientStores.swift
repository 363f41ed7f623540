/// The stores for a client's data that persists across launches.
///
/// An app and its notification service extension share `credentials` and `registration`, through an access group and an
/// app group. Each needs its own `receipts`, because two processes that write the same value would overwrite each
/// other's changes.
public struct ClientStores: Sendable {
    /// The credentials of the user who is logged in, and the log-outs that the server must still be told about. Secret.
    public var credentials: any CredentialStore
    /// The id under which this device is registered, and whether a registration or its removal is due.
    public var registration: any ClientStore
    /// Receipts that the server has not accepted yet.
    public var receipts: any ClientStore

    /// Creates the set of stores. The default for each store keeps its value in memory for the life of the process.
    public init(
        credentials: any CredentialStore = MemoryStore(), registration: any ClientStore = MemoryStore(),
        receipts: any ClientStore = MemoryStore()
    ) {
        self.credentials = credentials
        self.registration = registration
        self.receipts = receipts
    }

    /// Creates stores that are files in one folder.
    /// - Parameter folder: The path of the folder. A missing folder is created, with access for this system user only.
    public init(folder: String) {
        self.init(
            credentials: FileStore(folder + "/credentials"), registration: FileStore(folder + "/registration"),
            receipts: FileStore(folder + "/receipts"))
    }
}
