/// Stores one small value of the client across launches: the id of the registration, or pending receipts.
///
/// The format of the value is internal to the client, and the value is not secret. Device tokens are never stored: the
/// system provides the current token at every launch, and the client sends no other.
public protocol ClientStore: Sendable {
    /// Returns the stored value; nil if there is none, or if it cannot be read now.
    func load() async -> [UInt8]?

    /// Replaces the stored value; nil removes it. A value that cannot be stored may be lost; the client tolerates the
    /// loss.
    func save(_ value: [UInt8]?) async
}

/// Stores a value that only the app may read: the credentials of the user who is logged in, or keys.
///
/// If the value is to outlive the process, use the system's keychain if there is one, and `FileStore` otherwise. Do not
/// use `UserDefaults` or other preferences.
public protocol CredentialStore: ClientStore {}
