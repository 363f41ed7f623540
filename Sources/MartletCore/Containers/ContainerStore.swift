public import MartletModel

/// Stores containers of blobs. A blob is content with a name. It is written and read in pieces. A blob is durable once
/// it is committed.
public protocol ContainerStore: Sendable {
    /// Creates a container.
    /// - Returns: False if a container with this name already exists.
    func createContainer(_ name: ContainerName) async throws(ContainerError) -> Bool

    /// Returns all containers, sorted by name.
    func containers() async throws(ContainerError) -> [ContainerName]

    /// Deletes a container with all its blobs.
    /// - Throws: `.noContainer` if the container does not exist.
    func deleteContainer(_ name: ContainerName) async throws(ContainerError)

    /// Returns one page of the blobs of a container, sorted by name.
    func blobs(_ query: BlobQuery) async throws(ContainerError) -> BlobPage

    /// Opens a blob for reading.
    /// - Throws: `.noBlob` or `.noContainer` if the blob or its container does not exist.
    func openBlob(_ address: BlobAddress) async throws(ContainerError) -> any BlobContent

    /// Begins to write a blob. The blob becomes visible when it is committed, and then replaces an earlier blob of the
    /// same name.
    func upload(_ address: BlobAddress, _ kind: BlobUploadKind) async throws(ContainerError) -> any BlobUpload

    /// Begins to write a block, from which `commitBlocks` can later create the blob. The block replaces an earlier
    /// block with the same id.
    /// - Parameter id: The id of the block, 1 to 64 bytes.
    func uploadBlock(_ id: [UInt8], of address: BlobAddress) async throws(ContainerError) -> any BlobUpload

    /// Creates a blob from uploaded blocks, in the given order, and deletes all uploaded blocks of the blob.
    /// - Throws: `.noBlock` if a block was not uploaded; `.tooLarge` if the blob would be too large (nothing was
    ///   written then); `.conditionFailed` if the condition does not hold.
    func commitBlocks(
        _ ids: [[UInt8]], of address: BlobAddress, _ condition: BlobCondition
    ) async throws(ContainerError) -> Blob

    /// Deletes a blob.
    /// - Throws: `.noBlob` or `.noContainer` if the blob or its container does not exist.
    func deleteBlob(_ address: BlobAddress) async throws(ContainerError)
}

/// Selects the blobs of a listing.
public struct BlobQuery: Sendable {
    public var container: ContainerName
    /// The prefix with which the names of the selected blobs begin.
    public var prefix: String
    /// The name after which the listing begins; nil to begin with the first name.
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
    /// Whether there are further blobs after the last blob of the page.
    public var hasMore: Bool

    public init(blobs: [Blob], hasMore: Bool) {
        self.blobs = blobs
        self.hasMore = hasMore
    }
}

/// A committed blob, without its content.
public struct Blob: Hashable, Sendable {
    /// The maximum size of the content, in bytes.
    public static let sizeLimit: Int64 = 5 << 30

    public var name: BlobName
    /// The size of the content in bytes.
    public var size: Int64
    public var modifiedAt: Timestamp
    /// The entity tag, including its quotes. It changes with every commit.
    public var entityTag: String

    public init(name: BlobName, size: Int64, modifiedAt: Timestamp, entityTag: String) {
        self.name = name
        self.size = size
        self.modifiedAt = modifiedAt
        self.entityTag = entityTag
    }
}

/// A blob that is being read. It stays readable even if the blob in the container is replaced or deleted meanwhile.
public protocol BlobContent: Sendable {
    var blob: Blob { get }

    /// Reads up to `count` bytes, starting at `offset`. Returns fewer bytes only at the end of the blob.
    func read(at offset: Int64, count: Int) async throws(ContainerError) -> [UInt8]
}

/// Whether an upload starts from the beginning or is resumed.
public enum BlobUploadKind: Hashable, Sendable {
    case fresh
    /// Continues the upload with the given key at an offset in bytes. This process or an earlier one began that upload.
    /// If the upload object is released without a commit, the written bytes are kept until the upload is abandoned. A
    /// key is a letter or digit, followed by up to 127 letters, digits and hyphens.
    case resumable(key: String, at: Int64)
}

/// A blob or block that is being written. If the upload is `fresh` and is released without a commit, its bytes are
/// deleted.
public protocol BlobUpload: Sendable {
    func write(_ bytes: [UInt8]) async throws(ContainerError)

    /// Flushes the written bytes to disk.
    func synchronize() async throws(ContainerError)

    /// Flushes the blob to disk and makes it visible.
    /// - Throws: `.conditionFailed` if the condition does not hold, and other errors.
    func commit(_ condition: BlobCondition) async throws(ContainerError) -> Blob

    func abandon() async
}

/// The condition under which a commit succeeds.
public enum BlobCondition: Hashable, Sendable {
    case none
    /// The condition that no blob with this name exists.
    case absent
    /// The condition that a blob with this name and this entity tag exists.
    case entityTag(String)
}

/// The reasons why an operation of a container store was refused or failed.
public enum ContainerError: Error, Hashable, Sendable {
    case noContainer
    case noBlob
    /// A block was not uploaded before the commit of a blob that contains it.
    case noBlock
    /// The name conflicts with the name of an existing blob: one of the two names, followed by a slash, is the
    /// beginning of the other.
    case nameTaken
    /// The `BlobCondition` does not hold.
    case conditionFailed
    /// The blob would have more than `Blob.sizeLimit` bytes.
    case tooLarge
    case storage(StorageError)
}
