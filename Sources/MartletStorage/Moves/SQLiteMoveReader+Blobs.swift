import Glibc
import MartletCore
import MartletModel

/// Reads blobs, which are files. The blobs of jobs are in the directory `storage`, and the bodies of payloads are in
/// `payloads`.
extension SQLiteMoveReader {
    static let roots = [(name: "storage", isOfPayloads: false), (name: "payloads", isOfPayloads: true)]
    private static let pieceSize = 1 << 18

    func readBlobs(
        _ each: (MovedBlob, MoveSource.PieceReader) throws(StorageError) -> Void
    ) throws(StorageError) {
        try readBlobs(withUploads: true) { blob, content throws(StorageError) in
            try each(blob) { take throws(StorageError) in try content.read(take) }
        }
    }

    /// The content of a blob; empty for a container.
    struct Content {
        /// The entity tag of the blob.
        var tag = ""
        var file: OpenFile?

        /// Reads the content piece by piece.
        func read(_ take: MoveSource.PieceReceiver) throws(StorageError) {
            guard let file else { return }
            var offset: Int64 = 0
            while true {
                let piece = try SQLiteMoveReader.attempt { () throws(ContainerError) in
                    try file.read(at: offset, count: SQLiteMoveReader.pieceSize)
                }
                if piece.isEmpty { return }
                try take(piece)
                offset += Int64(piece.count)
            }
        }
    }

    typealias BlobReceiver = (MovedBlob, Content) throws(StorageError) -> Void

    /// Reads blobs, also while a server adds, replaces and removes some. A blob that is removed meanwhile may be left
    /// out.
    func readBlobs(withUploads: Bool, _ each: BlobReceiver) throws(StorageError) {
        for (name, isOfPayloads) in Self.roots where StorageDirectory.exists(directory.file(name)) {
            let root = try ContainerDirectory(directory.file(name))
            try readContainers(root, isOfPayloads, each)
            if withUploads, !isOfPayloads { try readUploads(root, each) }
        }
    }

    private func readContainers(
        _ root: ContainerDirectory, _ isOfPayloads: Bool, _ each: BlobReceiver
    ) throws(StorageError) {
        for container in try Self.attempt({ () throws(ContainerError) in try root.names() }) {
            try each(MovedBlob(.container, isOfPayloads: isOfPayloads, container: container.text), Content())
            var query = BlobQuery(container: container, limit: 500)
            while true {
                let page = try Self.present { () throws(ContainerError) in try root.page(query) }
                guard let page else { break }
                for blob in page.blobs {
                    let path = root.path(of: BlobAddress(container, blob.name))
                    guard let file = try Self.present({ () throws(ContainerError) in try OpenFile(reading: path) })
                    else { continue }
                    // Another blob may have got the name since the page was made.
                    let now = try Self.attempt { () throws(ContainerError) in Blob(blob.name, try file.status()) }
                    let moved = MovedBlob(
                        .blob, isOfPayloads: isOfPayloads, container: container.text, name: blob.name.text,
                        size: now.size, modifiedAt: now.modifiedAt)
                    try each(moved, Content(tag: now.entityTag, file: file))
                }
                guard page.hasMore, let last = page.blobs.last else { break }
                query.after = last.name.text
            }
        }
    }

    private func readUploads(
        _ root: ContainerDirectory, _ each: BlobReceiver
    ) throws(StorageError) {
        let path = root.path(ofUpload: "")
        for name in try StorageDirectory.entries(of: path).sorted()
        where name.hasPrefix(UploadName.resumablePrefix) {
            var status = stat()
            guard lstat(root.path(ofUpload: name), &status) == 0 else { continue }
            let key = String(name.dropFirst(UploadName.resumablePrefix.count))
            let moved = MovedBlob(.upload, name: key, size: Int64(status.st_size))
            let file = try Self.attempt { () throws(ContainerError) in
                try OpenFile(reading: root.path(ofUpload: name))
            }
            try each(moved, Content(file: file))
        }
    }

    /// Returns nil if the container or the blob does not exist any more.
    private static func present<Value>(_ work: () throws(ContainerError) -> Value) throws(StorageError) -> Value? {
        try attempt { () throws(ContainerError) -> Value? in
            do throws(ContainerError) {
                return try work()
            } catch {
                guard error == .noBlob || error == .noContainer else { throw error }
                return nil
            }
        }
    }

    static func attempt<Value>(_ work: () throws(ContainerError) -> Value) throws(StorageError) -> Value {
        do throws(ContainerError) {
            return try work()
        } catch {
            if case .storage(let error) = error { throw error }
            throw StorageError(.unavailable, "A blob cannot be moved: \(error)")
        }
    }
}
