/// Contents of payloads that are files: in the one container of a store of containers that serves nothing else.
///
/// A body is written first and its record added then; where there comes to be no record the body is removed by the one that
/// wrote it, or at the next start.
public struct PayloadBodies: Sendable {
    /// The container, which exists wherever storage has bodies.
    public static let container = ContainerName(known: "payloads")

    private let store: any ContainerStore

    /// - Parameter store: One that has `container`.
    public init(_ store: any ContainerStore) {
        self.store = store
    }

    /// A name that no other body has.
    public static func newName() -> String {
        var random = SystemRandomNumberGenerator()
        let words = (0..<2).map { _ in String(UInt64.random(in: .min ... .max, using: &random), radix: 16) }
        return words.map { String(repeating: "0", count: 16 - $0.count) + $0 }.joined()
    }

    /// Begins to write a body, which is there once it is committed.
    /// - Parameter name: From `newName`.
    public func upload(_ name: String) async throws(ContainerError) -> any BlobUpload {
        try await store.upload(try address(name), .fresh)
    }

    /// - Throws: `.noBlob` where it has been removed.
    public func open(_ name: String) async throws(ContainerError) -> any BlobContent {
        try await store.openBlob(try address(name))
    }

    /// Removes a body, where it is there.
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
