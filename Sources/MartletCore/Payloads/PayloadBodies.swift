/// Stores the bodies of payloads. A body is content that is stored as a file. Bodies have a separate container store
/// with a single container.
///
/// A body is written first, and the record of its payload is added afterwards. If the record is not added, the writer
/// removes the body. If the writer's process ends before that, the storage removes the body later: after a day, or at
/// the next start.
public struct PayloadBodies: Sendable {
    /// The name of the container, which must exist in the container store for bodies.
    public static let container = ContainerName(known: "payloads")

    private let store: any ContainerStore

    /// Creates access to the bodies of payloads in a container store.
    /// - Parameter store: A container store that contains `container`.
    public init(_ store: any ContainerStore) {
        self.store = store
    }

    /// Returns a new unique name for a body.
    public static func newName() -> String {
        var random = SystemRandomNumberGenerator()
        let words = (0..<2).map { _ in String(UInt64.random(in: .min ... .max, using: &random), radix: 16) }
        return words.map { String(repeating: "0", count: 16 - $0.count) + $0 }.joined()
    }

    /// Begins writing a body. The body becomes visible when it is committed.
    /// - Parameter name: A name returned by `newName`.
    public func upload(_ name: String) async throws(ContainerError) -> any BlobUpload {
        try await store.upload(try address(name), .fresh)
    }

    /// Opens a body for reading.
    /// - Throws: `.noBlob` if the body was removed.
    public func open(_ name: String) async throws(ContainerError) -> any BlobContent {
        try await store.openBlob(try address(name))
    }

    /// Removes a body if it exists.
    public func remove(_ name: String) async throws(ContainerError) {
        do throws(ContainerError) {
            try await store.deleteBlob(try address(name))
        } catch {
            if error != .noBlob { throw error }
        }
    }

    private func address(_ name: String) throws(ContainerError) -> BlobAddress {
        guard let name = BlobName(name) else { throw .noBlob }
        return BlobAddress(Self.container, name)
    }
}
