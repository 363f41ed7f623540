public import MartletCore

/// A file of a snapshot, open for reading.
public struct SnapshotFile: Sendable {
    public let member: SnapshotMember
    /// The size in bytes. This many bytes can be read, even if the file changes meanwhile.
    public let size: Int64
    private let content: @Sendable (Int64, Int) async throws(ContainerError) -> [UInt8]

    init(
        _ member: SnapshotMember, size: Int64,
        content: @escaping @Sendable (Int64, Int) async throws(ContainerError) -> [UInt8]
    ) {
        self.member = member
        self.size = size
        self.content = content
    }

    /// Reads bytes starting at `offset`, on a separate thread so that a slow disk blocks no other task.
    /// - Parameter count: The maximum number of bytes to read; at least 1.
    /// - Throws: `StorageError`, also if the file has become shorter.
    public func read(at offset: Int64, count: Int) async throws(StorageError) -> [UInt8] {
        let wanted = Int(min(Int64(count), size - offset))
        let bytes: [UInt8]
        do throws(ContainerError) {
            bytes = try await content(offset, wanted)
        } catch {
            throw StorageError(error, reading: member)
        }
        guard bytes.count == wanted else {
            throw StorageError(.unavailable, "'\(member.name)' became shorter while it was read; try again.")
        }
        return bytes
    }
}

extension StorageError {
    init(_ error: ContainerError, reading member: SnapshotMember) {
        if case .storage(let error) = error {
            self = error
        } else {
            self.init(.unavailable, "'\(member.name)' could not be read: \(error).")
        }
    }
}
