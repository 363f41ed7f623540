import MartletCore
import MartletCrypto

/// The body of a payload on its way to the disk. The caller that begins one ends it, with `finish` where a record names it now,
/// with `abandon` where none does.
struct PayloadUpload {
    let name: String
    private let backend: Backend
    /// A folded name.
    private let sender: String
    /// nil where the content is only compared.
    private let upload: (any BlobUpload)?
    /// nil where no digest of the content is needed.
    private var hasher: SHA256Hasher?
    /// The most bytes of all that the sender is uploading.
    private let room: Int64
    private(set) var size: Int64 = 0
    private var isCommitted = false

    /// - Throws: `.overQuota`, among others, where not even so many bytes have room.
    init(_ backend: Backend, sender: UserName, atLeast count: Int64 = 0) async throws(BackendError) {
        let used = try await Self.used(by: sender, backend)
        room = backend.settings.payloads.quota - used - StoredPayload.recordSize
        guard room >= 0, count <= room else { throw .overQuota }
        self.backend = backend
        self.sender = sender.folded
        let name = PayloadBodies.newName()
        self.name = name
        upload = try await Self.stored { () throws(ContainerError) in try await backend.bodies.upload(name) }
    }

    /// Takes a content in order to compare it: it is not stored, and does not count against the quota.
    init(comparedBy backend: Backend, sender: UserName) throws(BackendError) {
        room = .max
        self.backend = backend
        self.sender = sender.folded
        name = PayloadBodies.newName()
        upload = nil
        try hash()
    }

    var isStored: Bool { upload != nil }

    /// Computes a digest from here on.
    mutating func hash() throws(BackendError) {
        hasher = try Self.hashed { () throws(CryptoError) in try SHA256Hasher() }
    }

    /// Of the whole content; to be asked for once, where `hash` was called before the first byte.
    func digest() throws(BackendError) -> [UInt8] {
        try Self.hashed { () throws(CryptoError) in try hasher?.finish() ?? [] }
    }

    private static func hashed<Value>(_ work: () throws(CryptoError) -> Value) throws(BackendError) -> Value {
        do throws(CryptoError) {
            return try work()
        } catch {
            throw .busy
        }
    }

    /// - Throws: `.payloadTooLarge` or `.overQuota`, among others, as soon as that is so.
    mutating func write(_ bytes: [UInt8]) async throws(BackendError) {
        let count = Int64(bytes.count)
        let limit = backend.settings.payloads.sizeLimit
        guard count <= limit - size else { throw .payloadTooLarge(limit) }
        guard backend.uploads.add(count, of: sender, limit: room) else { throw .overQuota }
        size += count
        try Self.hashed { [hasher] () throws(CryptoError) in try hasher?.update(bytes) }
        guard let upload else { return }
        try await Self.stored { () throws(ContainerError) in try await upload.write(bytes) }
    }

    /// Puts the body in its place.
    mutating func commit() async throws(BackendError) {
        guard let upload else { return }
        _ = try await Self.stored { () throws(ContainerError) in try await upload.commit(.absent) }
        isCommitted = true
    }

    func finish() {
        backend.uploads.remove(size, of: sender)
    }

    /// Leaves nothing behind.
    func abandon() async {
        finish()
        if isCommitted {
            // What cannot be removed now goes at the next start.
            try? await backend.bodies.remove(name)
        } else {
            await upload?.abandon()
        }
    }

    private static func used(by sender: UserName, _ backend: Backend) async throws(BackendError) -> Int64 {
        do throws(StorageError) {
            return try await backend.payloads.payloadSize(sentBy: sender.folded, at: backend.time.now)
        } catch {
            throw BackendError(error)
        }
    }

    private static func stored<Value>(
        _ work: () async throws(ContainerError) -> Value
    ) async throws(BackendError) -> Value {
        do throws(ContainerError) {
            return try await work()
        } catch {
            throw BackendError(error)
        }
    }
}
