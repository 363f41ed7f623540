/// Encrypts what must not lie readable in the database.
public protocol Sealer: Sendable {
    /// - Parameter context: Where the secret belongs (table and row). It is authenticated, so that a sealed text moved
    ///   elsewhere does not open.
    func seal(_ secret: [UInt8], context: String) throws(StorageError) -> [UInt8]

    /// - Returns: nil where the bytes were not sealed with this key for this context.
    func open(_ sealed: [UInt8], context: String) -> [UInt8]?
}
