/// Why storage could not do its work. What was not answered with success has not happened.
public struct StorageError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Kind: String, Hashable, Sendable {
        /// There is no room left; what is stored stays, new work is refused until there is.
        case full
        /// The file is damaged or is no database of this program.
        case corrupt
        /// Another process has the data directory.
        case locked
        /// The operating system refused: permissions, a missing directory, an I/O error.
        case unavailable
        /// The store has been closed.
        case closed
    }

    public var kind: Kind
    /// What happened and what to do, for a person; names no secret.
    public var detail: String

    public init(_ kind: Kind, _ detail: String) {
        self.kind = kind
        self.detail = detail
    }

    public var description: String { "\(kind.rawValue): \(detail)" }
}
