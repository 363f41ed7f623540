/// Encrypts secrets that must not be readable in the database.
public protocol Sealer: Sendable {
    /// - Parameter context: The table and row of the secret. It is authenticated, so that a sealed text cannot be
    ///   opened in another place.
    func seal(_ secret: [UInt8], context: String) throws(StorageError) -> [UInt8]

    /// The prefix of everything that is sealed with the current key; every key has a different one.
    var mark: [UInt8] { get }

    /// - Returns: nil if the bytes were not sealed for this context, or if their key is missing.
    func open(_ sealed: [UInt8], context: String) -> [UInt8]?
}
