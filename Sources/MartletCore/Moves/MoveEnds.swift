public import MartletModel

/// What a move needs and a store does not know.
public struct MoveRules: Sendable {
    /// Returns the 32 bytes of a SHA-256 digest.
    public let hash: @Sendable ([UInt8]) -> [UInt8]
    /// Returns the key by which a platform compares a handle; nil if no device of the platform can have the handle.
    public let key: @Sendable (PlatformID, String) -> String?

    public init(
        hash: @escaping @Sendable ([UInt8]) -> [UInt8], key: @escaping @Sendable (PlatformID, String) -> String?
    ) {
        self.hash = hash
        self.key = key
    }
}

/// A store whose data is moved, as it is at one point in time. Used on one thread; calls block.
public protocol MoveSource: AnyObject {
    typealias RowReceiver = ([MovedValue]) throws(StorageError) -> Void
    typealias PieceReceiver = ([UInt8]) throws(StorageError) -> Void
    /// Reads the content of a blob piece by piece.
    typealias PieceReader = (@escaping PieceReceiver) throws(StorageError) -> Void

    func directory() throws(StorageError) -> MovedDirectory
    func numbers() throws(StorageError) -> MovedNumbers
    /// Passes all rows of a table, one after another.
    /// - Parameter isForComparison: Whether columns that are not compared may be null.
    func readRows(of table: MovedTable, isForComparison: Bool, _ each: RowReceiver) throws(StorageError)
    /// Passes all blobs, one after another, containers without blobs among them.
    func readBlobs(_ each: (MovedBlob, PieceReader) throws(StorageError) -> Void) throws(StorageError)
}

/// A store from which data is moved.
public protocol RetiringMoveSource: MoveSource {
    /// Marks the store as moved, on its disk: nobody can serve it any more. Called right before the target is completed, so
    /// that never both can be served.
    /// - Parameter place: What the data was moved to, as a sentence names it.
    /// - Throws: `StorageError`, also if the store may have changed during the move.
    func retire(to place: String) throws(StorageError)
}

/// A store to which data is moved. Nobody can use it before `complete`, and if that is never called, what was written
/// counts for nothing.
public protocol MoveTarget: MoveSource {
    /// Takes the hubs, and prepares for rows.
    func begin(_ directory: MovedDirectory, _ numbers: MovedNumbers) throws(StorageError)
    /// Takes rows of a table, until `endRows`.
    func beginRows(of table: MovedTable) throws(StorageError)
    func add(_ row: [MovedValue]) throws(StorageError)
    func endRows() throws(StorageError)
    func add(_ blob: MovedBlob, _ content: PieceReader) throws(StorageError)
    /// Makes what follows from the rows, after all of them have been taken.
    func endCopying() throws(StorageError)
    /// What the store is called in a sentence.
    var place: String { get }
    /// Makes the store one that can be served, in one step.
    func complete() throws(StorageError)
}

/// A blob of a container, a container without its blobs, or a file that a job is writing.
public struct MovedBlob: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// A container; `container` is its name.
        case container
        case blob
        /// What a job has written so far; `name` is the key by which it finds that again.
        case upload
    }

    public let kind: Kind
    /// Whether the container is that of the bodies of payloads.
    public let isOfPayloads: Bool
    public let container: String
    public let name: String
    public let size: Int64
    public let modifiedAt: Timestamp

    public init(
        _ kind: Kind, isOfPayloads: Bool = false, container: String = "", name: String = "", size: Int64 = 0,
        modifiedAt: Timestamp = Timestamp(milliseconds: 0)
    ) {
        self.kind = kind
        self.isOfPayloads = isOfPayloads
        self.container = container
        self.name = name
        self.size = size
        self.modifiedAt = modifiedAt
    }

    /// The row by which blobs are compared.
    var row: [MovedValue] {
        let number: Int64 =
            switch kind {
            case .container: 0
            case .blob: 1
            case .upload: 2
            }
        return [
            .integer(number), .integer(isOfPayloads ? 1 : 0), MovedValue(container), MovedValue(name), .integer(size),
            .integer(modifiedAt.milliseconds),
        ]
    }
}
