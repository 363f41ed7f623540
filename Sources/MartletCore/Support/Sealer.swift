/// Encrypts secrets that must not be readable in the database.
public protocol Sealer: Sendable {
    /// Encrypts a secret.
    /// - Parameter context: The table and row of the secret. It is authenticated, so that the encrypted text cannot be
    ///   decrypted in another place.
    func seal(_ secret: [UInt8], context: String) throws(StorageError) -> [UInt8]

    /// The prefix of everything that is encrypted with the current key. It is different for every key.
    var mark: [UInt8] { get }

    /// Decrypts the result of `seal`.
    /// - Returns: The secret; nil if the bytes were not encrypted for this context, or if their key is missing.
    func open(_ sealed: [UInt8], context: String) -> [UInt8]?
}
