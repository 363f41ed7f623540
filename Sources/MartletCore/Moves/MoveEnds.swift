public import MartletModel

/// The functions that a move needs and that the stores do not have.
public struct MoveRules: Sendable {
    /// Returns the SHA-256 digest of bytes, which has 32 bytes.
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

/// Reads the data of a store, as it is at one point in time. Used on one thread; calls block.
public protocol MoveSource: AnyObject {
    typealias RowReceiver = ([MovedValue]) throws(StorageError) -> Void
    typealias PieceReceiver = ([UInt8]) throws(StorageError) -> Void
    /// Reads the content of a blob piece by piece.
    typealias PieceReader = (@escaping PieceReceiver) throws(StorageError) -> Void

    func directory() throws(StorageError) -> MovedDirectory
    func numbers() throws(StorageError) -> MovedNumbers
    /// Calls `each` with all rows of a table, one after another.
    /// - Parameter isForComparison: True if the rows are read only to compare them. Columns that are not compared may
    ///   then be null.
    func readRows(of table: MovedTable, isForComparison: Bool, _ each: RowReceiver) throws(StorageError)
    /// Calls `each` with all containers, blobs and uploads, one after another. Containers without blobs are included.
    func readBlobs(_ each: (MovedBlob, PieceReader) throws(StorageError) -> Void) throws(StorageError)
    /// Throws an error if the store would certainly not take the last step of a move now: the mark of the source, or the
    /// completion of the target. Called before either of them is done.
    func checkLastStep() throws(StorageError)
}

extension MoveSource {
    /// A directory needs no check, because its last step waits for no other machine.
    public func checkLastStep() throws(StorageError) {}
}

/// A store from which data is moved.
public protocol RetiringMoveSource: MoveSource {
    /// Counts the rows of a table without looking at other tables. `readRows` leaves out rows that refer to a missing
    /// row, and the count shows that there are such rows.
    /// - Returns: The number of rows that `readRows` must find; nil if the table need not or cannot be counted.
    func count(of table: MovedTable) throws(StorageError) -> Int64?
    /// Marks the store as moved, on disk, so that no server can use it any more. Called right before the target is
    /// completed, so that there is no time at which servers can use both stores.
    /// - Parameter place: The store to which the data was moved, as named in a sentence (`MoveTarget.place`).
    /// - Throws: `StorageError`, also if the store may have changed during the move.
    func retire(to place: String) throws(StorageError)
}

/// A store to which data is moved. No server can use the store before `complete` was called. If `complete` is never
/// called, the copy is worthless.
public protocol MoveTarget: MoveSource {
    /// Writes the hubs, and prepares for rows. Called first.
    func begin(_ directory: MovedDirectory, _ numbers: MovedNumbers) throws(StorageError)
    /// Announces rows of a table. They follow as calls of `add(_:)`, until `endRows`.
    func beginRows(of table: MovedTable) throws(StorageError)
    func add(_ row: [MovedValue]) throws(StorageError)
    func endRows() throws(StorageError)
    func add(_ blob: MovedBlob, _ content: PieceReader) throws(StorageError)
    /// Creates the data that the store derives from the rows. Called after all rows and blobs have been added.
    func endCopying() throws(StorageError)
    /// The name of the store for use in a sentence.
    var place: String { get }
    /// Completes the store in one step, so that a server can use it.
    func complete() throws(StorageError)
}

/// A blob of a container, a container without its blobs, or a file that a job is writing.
public struct MovedBlob: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// A container; `container` is its name.
        case container
        case blob
        /// An unfinished file that a job is writing; `name` is the key by which the job finds it again.
        case upload
    }

    public let kind: Kind
    /// Whether the container holds the bodies of payloads (`StoredPayload`).
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

    /// Returns what distinguishes the blob from all others, whatever its content is.
    public func identity(_ rules: MoveRules) -> Identity {
        let number: UInt8 =
            switch kind {
            case .container: 0
            case .blob: 1
            case .upload: 2
            }
        let names = Array(container.utf8) + [UInt8(ascii: "/")] + Array(name.utf8)
        var words = SIMD2<UInt64>()
        for (index, byte) in rules.hash([number, isOfPayloads ? 1 : 0] + names).prefix(16).enumerated() {
            words[index / 8] = words[index / 8] << 8 | UInt64(byte)
        }
        return Identity(words: words)
    }

    /// The first half of the SHA-256 digest of a blob's kind and name, so that a million of them fits into memory.
    public struct Identity: Hashable, Sendable {
        fileprivate let words: SIMD2<UInt64>
    }

    /// The properties of the blob as a row, which is compared with the row of its copy.
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
