public import MartletCore
import MartletModel
import Synchronization

/// Stores containers as directories and blobs as files. When a blob is committed, its file has been flushed to disk
/// under the name of the blob. Blocking calls run on threads of the store: some threads transfer contents, and one
/// thread changes which containers and blobs exist.
public final class FileContainerStore: ContainerStore {
    /// The number of threads for transfers. There are two, so that an upload that waits for a slow disk does not delay
    /// all other transfers.
    private static let transferThreads = 2

    private let directory: ContainerDirectory
    private let room: DiskRoom
    private let gate: WriteGate
    /// The thread for all operations that change which blobs exist; they run one after the other.
    private let names = FileThread()
    private let transfers: [FileThread]
    private let turn = Atomic<Int>(0)

    /// Opens the store.
    /// - Parameters:
    ///   - root: An existing private directory that no other process uses.
    ///   - room: Checks the free disk space. If less than the reserve is free, nothing is written.
    ///   - timestamp: Blocks and resumable uploads that have not changed since this time are removed.
    ///   - gate: Refuses all changes while it is closed.
    init(
        in root: String, room: DiskRoom, cleaningBefore timestamp: Timestamp, gate: WriteGate = WriteGate()
    ) throws(StorageError) {
        self.room = room
        self.gate = gate
        directory = try ContainerDirectory(root)
        transfers = (0..<Self.transferThreads).map { _ in FileThread() }
        do throws(ContainerError) {
            try directory.clean(before: timestamp)
        } catch {
            guard case .storage(let error) = error else { return }
            throw error
        }
    }

    /// Makes a container if it is missing, and removes the blobs in it for which `isWanted` returns false. Only blobs
    /// whose names have one segment are checked. This function must be called before any other function of the store,
    /// because it runs on the caller's thread.
    func keepBlobs(
        of name: ContainerName, where isWanted: (String) throws(StorageError) -> Bool
    ) throws(StorageError) {
        do throws(ContainerError) {
            _ = try directory.create(name)
        } catch {
            if case .storage(let error) = error { throw error }
        }
        try directory.keepFiles(of: name, where: isWanted)
    }

    // MARK: Containers

    public func createContainer(_ name: ContainerName) async throws(ContainerError) -> Bool {
        try await changing { [directory] () throws(ContainerError) in try directory.create(name) }
    }

    public func containers() async throws(ContainerError) -> [ContainerName] {
        try await names.run { [directory] () throws(ContainerError) in try directory.names() }
    }

    public func deleteContainer(_ name: ContainerName) async throws(ContainerError) {
        try await changing { [directory] () throws(ContainerError) in
            try directory.remove(name, as: UploadName.fresh())
        }
    }

    /// Changes which containers and blobs exist.
    private func changing<Value: Sendable>(
        _ work: @Sendable () throws(ContainerError) -> Value
    ) async throws(ContainerError) -> Value {
        try await names.run { [gate] () throws(ContainerError) in try gate.pass(work) }
    }

    public func blobs(_ query: BlobQuery) async throws(ContainerError) -> BlobPage {
        try await names.run { [directory] () throws(ContainerError) in try directory.page(query) }
    }

    // MARK: Blobs

    public func openBlob(_ address: BlobAddress) async throws(ContainerError) -> any BlobContent {
        let thread = nextThread
        return try await thread.run { [directory] () throws(ContainerError) in
            guard directory.exists(address.container) else { throw .noContainer }
            let file = try OpenFile(reading: directory.path(of: address))
            return FileBlob(blob: Blob(address.name, try file.status()), file: file, thread: thread)
        }
    }

    public func upload(_ address: BlobAddress, _ kind: BlobUploadKind) async throws(ContainerError) -> any BlobUpload {
        try await upload(kind, into: address.container) { [directory] file, condition throws(ContainerError) in
            try directory.index(file, at: address, condition)
        }
    }

    public func uploadBlock(_ id: [UInt8], of address: BlobAddress) async throws(ContainerError) -> any BlobUpload {
        guard (1...64).contains(id.count) else { throw .noBlock }
        return try await upload(.fresh, into: address.container) { [directory] file, _ throws(ContainerError) in
            try directory.index(file, asBlock: id, of: address)
        }
    }

    private func upload(
        _ kind: BlobUploadKind, into container: ContainerName, _ index: @escaping FileUpload.Place
    ) async throws(ContainerError) -> FileUpload {
        let thread = nextThread
        let file = try await thread.run { [directory, gate] () throws(ContainerError) in
            guard directory.exists(container) else { throw .noContainer }
            switch kind {
            case .fresh:
                return try OpenFile(writing: directory.path(ofUpload: UploadName.fresh()), at: nil, isTemporary: true)
            case .resumable(let key, let offset):
                guard let name = UploadName.resumable(key) else { throw .noBlob }
                // An upload that goes on may make its file shorter.
                return try gate.pass { () throws(ContainerError) in
                    try OpenFile(writing: directory.path(ofUpload: name), at: offset, isTemporary: false)
                }
            }
        }
        return FileUpload(file: file, room: room, gate: gate, thread: thread, names: names, index: index)
    }

    public func commitBlocks(
        _ ids: [[UInt8]], of address: BlobAddress, _ condition: BlobCondition
    ) async throws(ContainerError) -> Blob {
        let upload = try await upload(.fresh, into: address.container) {
            [directory] file, condition throws(ContainerError) in
            try directory.index(file, at: address, condition)
        }
        let size = try await nextThread.run { [directory] () throws(ContainerError) in
            try directory.size(ofBlocks: ids, of: address)
        }
        guard size <= Blob.sizeLimit else { throw .tooLarge }
        for id in ids { try await upload.append(directory.path(ofBlock: id, of: address)) }
        let blob = try await upload.commit(condition)
        try await names.run { [directory] () throws(ContainerError) in directory.removeBlocks(of: address) }
        return blob
    }

    public func deleteBlob(_ address: BlobAddress) async throws(ContainerError) {
        try await changing { [directory] () throws(ContainerError) in try directory.remove(address) }
    }

    private var nextThread: FileThread {
        transfers[turn.wrappingAdd(1, ordering: .relaxed).oldValue % transfers.count]
    }
}

/// A blob that is being read from a file.
private struct FileBlob: BlobContent {
    let blob: Blob
    let file: OpenFile
    let thread: FileThread

    func read(at offset: Int64, count: Int) async throws(ContainerError) -> [UInt8] {
        try await thread.run { [file] () throws(ContainerError) in try file.read(at: offset, count: count) }
    }
}
