import MartletCore

/// A blob that is being written to a file. The file gets its final path when it is complete.
struct FileUpload: BlobUpload {
    typealias Place = @Sendable (OpenFile, BlobCondition) throws(ContainerError) -> Blob

    let file: OpenFile
    let room: DiskRoom
    let gate: WriteGate
    let thread: FileThread
    let names: FileThread
    let index: Place

    func write(_ bytes: [UInt8]) async throws(ContainerError) {
        do throws(StorageError) {
            try room.check()
        } catch {
            throw .storage(error)
        }
        try await thread.run { [file, gate] () throws(ContainerError) in
            try gate.pass { () throws(ContainerError) in try file.write(bytes) }
        }
    }

    /// Appends the content of a block's file.
    /// - Throws: `ContainerError`; `.noBlock` if the file does not exist.
    func append(_ path: String) async throws(ContainerError) {
        try await thread.run { [file] () throws(ContainerError) in
            do throws(ContainerError) {
                try file.append(try OpenFile(reading: path))
            } catch {
                throw error == .noBlob ? .noBlock : error
            }
        }
    }

    func synchronize() async throws(ContainerError) {
        try await thread.run { [file] () throws(ContainerError) in try file.synchronize() }
    }

    func commit(_ condition: BlobCondition) async throws(ContainerError) -> Blob {
        try await synchronize()
        return try await names.run { [file, gate, index] () throws(ContainerError) in
            try gate.pass { () throws(ContainerError) in try index(file, condition) }
        }
    }

    func abandon() async {
        try? await thread.run { [file] () throws(ContainerError) in file.remove() }
    }
}
