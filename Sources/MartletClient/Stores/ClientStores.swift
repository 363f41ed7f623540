/// Where a client keeps what shall outlive the launch.
///
/// An app and its notification service extension share `credentials` and `registration`, through an access group and an
/// app group; each needs `receipts` of its own, because two processes that write one value would overwrite each other.
public struct ClientStores: Sendable {
    /// Who is logged in, and whom the server still has to be told that have logged out. Secret.
    public var credentials: any CredentialStore
    /// The id under which this device is registered, and whether that is due again.
    public var registration: any ClientStore
    /// Receipts that the server has not taken yet.
    public var receipts: any ClientStore

    /// What is not given is kept as long as the process lives.
    public init(
        credentials: any CredentialStore = MemoryStore(), registration: any ClientStore = MemoryStore(),
        receipts: any ClientStore = MemoryStore()
    ) {
        self.credentials = credentials
        self.registration = registration
        self.receipts = receipts
    }

    /// Files in one folder.
    /// - Parameter folder: Made where it is missing, for this user of the system alone.
    public init(folder: String) {
        self.init(
            credentials: FileStore(folder + "/credentials"), registration: FileStore(folder + "/registration"),
            receipts: FileStore(folder + "/receipts"))
    }
}
