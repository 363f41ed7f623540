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
        for (name, isOfPayloads) in Self.roots where StorageDirectory.exists(directory.file(name)) {
            let root = try ContainerDirectory(directory.file(name))
            try readContainers(root, isOfPayloads, each)
            if !isOfPayloads { try readUploads(root, each) }
        }
    }

    private func readContainers(
        _ root: ContainerDirectory, _ isOfPayloads: Bool,
        _ each: (MovedBlob, MoveSource.PieceReader) throws(StorageError) -> Void
    ) throws(StorageError) {
        for container in try Self.attempt({ () throws(ContainerError) in try root.names() }) {
            try each(MovedBlob(.container, isOfPayloads: isOfPayloads, container: container.text)) { _ in }
            var query = BlobQuery(container: container, limit: 500)
            while true {
                let page = try Self.attempt { () throws(ContainerError) in try root.page(query) }
                for blob in page.blobs {
                    let moved = MovedBlob(
                        .blob, isOfPayloads: isOfPayloads, container: container.text, name: blob.name.text,
                        size: blob.size, modifiedAt: blob.modifiedAt)
                    try read(moved, root.path(of: BlobAddress(container, blob.name)), each)
                }
                guard page.hasMore, let last = page.blobs.last else { break }
                query.after = last.name.text
            }
        }
    }

    private func readUploads(
        _ root: ContainerDirectory, _ each: (MovedBlob, MoveSource.PieceReader) throws(StorageError) -> Void
    ) throws(StorageError) {
        let path = root.path(ofUpload: "")
        for name in try StorageDirectory.entries(of: path).sorted()
        where name.hasPrefix(UploadName.resumablePrefix) {
            var status = stat()
            guard lstat(root.path(ofUpload: name), &status) == 0 else { continue }
            let key = String(name.dropFirst(UploadName.resumablePrefix.count))
            let moved = MovedBlob(.upload, name: key, size: Int64(status.st_size))
            try read(moved, root.path(ofUpload: name), each)
        }
    }

    private func read(
        _ blob: MovedBlob, _ path: String, _ each: (MovedBlob, MoveSource.PieceReader) throws(StorageError) -> Void
    ) throws(StorageError) {
        let file = try Self.attempt { () throws(ContainerError) in try OpenFile(reading: path) }
        try each(blob) { take throws(StorageError) in
            var offset: Int64 = 0
            while true {
                let piece = try Self.attempt { () throws(ContainerError) in
                    try file.read(at: offset, count: Self.pieceSize)
                }
                if piece.isEmpty { return }
                try take(piece)
                offset += Int64(piece.count)
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
