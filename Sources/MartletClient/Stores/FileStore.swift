/// Keeps a value in a file that only this user of the system may read (mode 0600), and that holds the old value or the
/// new one whenever the process or the machine ends.
///
/// For secrets where there is no keychain, and for everything else. One process at a time may write it.
public actor FileStore: CredentialStore {
    /// The longest value that is read, in bytes.
    static let limit = 1 << 20

    private let path: String

    /// - Parameter path: The file. Folders that are missing are made, for this user alone (mode 0700).
    public init(_ path: String) {
        self.path = path
    }

    public func load() -> [UInt8]? { PrivateFile.read(path, limit: Self.limit) }

    public func save(_ value: [UInt8]?) {
        if let value { _ = PrivateFile.replace(path, with: value) } else { PrivateFile.remove(path) }
    }
}
