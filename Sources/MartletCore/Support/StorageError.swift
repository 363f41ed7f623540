/// The reason why storage failed. An operation that throws this error has changed nothing.
public struct StorageError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Kind: String, Hashable, Sendable {
        /// The disk is full. Stored data is kept; new work is refused until enough space is free.
        case full
        /// The file is damaged, or is not a database of this program.
        case corrupt
        /// Another process uses the data directory, or another node has taken over the hub or all hubs of this node.
        case locked
        /// The operating system refused the operation, for example because of permissions, a missing directory or an
        /// I/O error.
        case unavailable
        /// The store has been closed.
        case closed
    }

    /// Why a hub cannot be used although others can.
    public enum Cause: String, Hashable, Sendable {
        /// The hub is being moved to another cluster.
        case hubMoves
        /// The cluster of the hub cannot be reached.
        case clusterAway
    }

    public var kind: Kind
    /// What callers of the hub may be told; nil if it is about no single hub.
    public var cause: Cause?
    /// A text for an operator that says what happened and what to do; it contains no secret.
    public var detail: String

    public init(_ kind: Kind, _ detail: String) {
        self.kind = kind
        self.detail = detail
    }

    public var description: String { detail }
}
