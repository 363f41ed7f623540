/// Encrypts secrets, so that they cannot be read in the database.
public protocol Sealer: Sendable {
    /// Encrypts a secret.
    /// - Parameter context: The table and row of the secret. The context is authenticated, so that the encrypted text
    ///   can be decrypted only with the same context.
    func seal(_ secret: [UInt8], context: String) throws(StorageError) -> [UInt8]

    /// The prefix of every result of `seal` with the current key. Each key has a different prefix.
    var mark: [UInt8] { get }

    /// Decrypts the result of `seal`.
    /// - Returns: The secret; nil if the bytes were not encrypted for this context, or if their key is missing.
    func open(_ sealed: [UInt8], context: String) -> [UInt8]?
}
