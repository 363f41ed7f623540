/// Stores a value in a file that only this system user may read (mode 0600). If the process or the machine stops during
/// a write, the file contains either the old value or the new one.
///
/// Suitable for secrets if there is no keychain, and for all other values. Only one process at a time may write the
/// file.
public actor FileStore: CredentialStore {
    /// The maximum length of a value, in bytes. A longer file is not read, so that a damaged file does not fill the
    /// memory.
    static let limit = 1 << 20

    private let path: String

    /// - Parameter path: The path of the file. Missing folders are created, accessible to this user only (mode 0700).
    public init(_ path: String) {
        self.path = path
    }

    public func load() -> [UInt8]? { PrivateFile.read(path, limit: Self.limit) }

    public func save(_ value: [UInt8]?) {
        if let value { _ = PrivateFile.replace(path, with: value) } else { PrivateFile.remove(path) }
    }
}
