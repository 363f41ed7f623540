public import MartletModel

/// Keeps containers of blobs: named pieces of content of any size, written and read piece by piece. What was committed
/// is on disk.
public protocol ContainerStore: Sendable {
    /// - Returns: Whether there was none of this name.
    func createContainer(_ name: ContainerName) async throws(ContainerError) -> Bool

    /// By name.
    func containers() async throws(ContainerError) -> [ContainerName]

    /// Removes a container with all its blobs.
    /// - Throws: `.noContainer`.
    func deleteContainer(_ name: ContainerName) async throws(ContainerError)

    /// One page of a container's blobs, by name.
    func blobs(_ query: BlobQuery) async throws(ContainerError) -> BlobPage

    /// - Throws: `.noBlob`, or `.noContainer`.
    func openBlob(_ address: BlobAddress) async throws(ContainerError) -> any BlobContent

    /// Begins to write a blob, which is seen, in place of an earlier one, once it is committed.
    func upload(_ address: BlobAddress, _ kind: BlobUploadKind) async throws(ContainerError) -> any BlobUpload

    /// Begins to write a block of a blob to be, in place of an earlier one of the same id.
    /// - Parameter id: 1 to 64 bytes.
    func uploadBlock(_ id: [UInt8], of address: BlobAddress) async throws(ContainerError) -> any BlobUpload

    /// Makes a blob of blocks, in this order, and forgets the blob's blocks.
    /// - Throws: `.noBlock` where one was not uploaded; `.conditionFailed`.
    func commitBlocks(
        _ ids: [[UInt8]], of address: BlobAddress, _ condition: BlobCondition
    ) async throws(ContainerError) -> Blob

    /// - Throws: `.noBlob`, or `.noContainer`.
    func deleteBlob(_ address: BlobAddress) async throws(ContainerError)
}

/// Which blobs a listing shows.
public struct BlobQuery: Sendable {
    public var container: ContainerName
    /// What names begin with.
    public var prefix: String
    /// Only names after this one.
    public var after: String?
    public var limit: Int

    public init(container: ContainerName, prefix: String = "", after: String? = nil, limit: Int) {
        self.container = container
        self.prefix = prefix
        self.after = after
        self.limit = limit
    }
}

public struct BlobPage: Sendable {
    public var blobs: [Blob]
    /// Whether there are more after the last.
    public var hasMore: Bool

    public init(blobs: [Blob], hasMore: Bool) {
        self.blobs = blobs
        self.hasMore = hasMore
    }
}

/// What is known of a committed blob.
public struct Blob: Hashable, Sendable {
    public var name: BlobName
    /// In bytes.
    public var size: Int64
    public var modifiedAt: Timestamp
    /// Another after every commit; with quotes.
    public var entityTag: String

    public init(name: BlobName, size: Int64, modifiedAt: Timestamp, entityTag: String) {
        self.name = name
        self.size = size
        self.modifiedAt = modifiedAt
        self.entityTag = entityTag
    }
}

/// A blob that is being read; it stays readable when it is replaced or removed meanwhile.
public protocol BlobContent: Sendable {
    var blob: Blob { get }

    /// Up to `count` bytes from `offset` on; fewer only at the end.
    func read(at offset: Int64, count: Int) async throws(ContainerError) -> [UInt8]
}

/// How a blob is written.
public enum BlobUploadKind: Hashable, Sendable {
    case fresh
    /// Goes on with what an upload of this key had written up to an offset, in this process or an earlier one. What was
    /// written is kept when the upload is let go of, until it is abandoned. A key is a letter or digit, then up to 127
    /// letters, digits and hyphens.
    case resumable(key: String, at: Int64)
}

/// A blob, or block, that is being written. One that is let go of without a commit has never been.
public protocol BlobUpload: Sendable {
    func write(_ bytes: [UInt8]) async throws(ContainerError)

    /// Puts what was written on disk.
    func synchronize() async throws(ContainerError)

    /// Puts the blob on disk and in its place.
    /// - Throws: `.conditionFailed`, among others.
    func commit(_ condition: BlobCondition) async throws(ContainerError) -> Blob

    func abandon() async
}

/// What must hold of the place that a blob is to take.
public enum BlobCondition: Hashable, Sendable {
    case none
    /// There is no such blob.
    case absent
    /// There is one, with this entity tag.
    case entityTag(String)
}

/// Why a store of containers did not do what it was asked.
public enum ContainerError: Error, Hashable, Sendable {
    case noContainer
    case noBlob
    /// A block of the list was not uploaded.
    case noBlock
    /// A blob's name and a slash would begin another blob's name.
    case nameTaken
    /// What was to hold of the blob's place does not.
    case conditionFailed
    case storage(StorageError)
}
