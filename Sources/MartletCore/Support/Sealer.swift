/// Encrypts what must not lie readable in the database.
public protocol Sealer: Sendable {
    /// - Parameter context: Where the secret belongs (table and row). It is authenticated, so that a sealed text moved
    ///   elsewhere does not open.
    func seal(_ secret: [UInt8], context: String) throws(StorageError) -> [UInt8]

    /// What everything begins with that is sealed now: another key has another mark.
    var mark: [UInt8] { get }

    /// - Returns: nil where the bytes were not sealed for this context, or with a key that is not there.
    func open(_ sealed: [UInt8], context: String) -> [UInt8]?
}
