/// Keeps one small value of the client from launch to launch: the id of the registration, receipts that wait.
///
/// What is kept is the client's own affair and no secret. Device tokens are never kept: the system gives the present one
/// at every launch, and only that one is ever sent.
public protocol ClientStore: Sendable {
    /// The value; nil where there is none, or where it cannot be read now.
    func load() async -> [UInt8]?

    /// Replaces the value; nil removes it. What cannot be kept is gone with the process, which the client can live with.
    func save(_ value: [UInt8]?) async
}

/// Keeps a value that nobody else may read: the credentials of the user who is logged in, keys.
///
/// Where it is to outlive the process, use the system's keychain where there is one, `FileStore` elsewhere; never
/// defaults or preferences.
public protocol CredentialStore: ClientStore {}
