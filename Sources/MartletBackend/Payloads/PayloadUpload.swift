import MartletCore
import MartletCrypto

/// The body of a payload while it is written to disk. The caller that begins an upload must end it: with `finish` if a
/// stored payload now refers to the body, otherwise with `abandon`.
struct PayloadUpload {
    let name: String
    private let backend: Backend
    /// The sender's name in lower case.
    private let sender: String
    /// The upload to disk; nil if the content is only compared with the content of an earlier attempt.
    private let upload: (any BlobUpload)?
    /// The hasher of the content; nil if no digest is needed.
    private var hasher: SHA256Hasher?
    /// The maximum size of all the sender's uploads in progress, in bytes.
    private let room: Int64
    private(set) var size: Int64 = 0
    private var isCommitted = false

    /// Begins an upload that is written to disk and counts against the sender's quota.
    /// - Throws: `.overQuota` if not even `count` bytes fit in the quota, among other errors.
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

    /// Receives content in order to compare it. The content is not stored and does not count against the quota.
    init(comparedBy backend: Backend, sender: UserName) throws(BackendError) {
        room = .max
        self.backend = backend
        self.sender = sender.folded
        name = PayloadBodies.newName()
        upload = nil
        try hash()
    }

    var isStored: Bool { upload != nil }

    /// Starts to compute a digest of the bytes that are written from now on.
    mutating func hash() throws(BackendError) {
        hasher = try Self.hashed { () throws(CryptoError) in try SHA256Hasher() }
    }

    /// Returns the digest of all bytes that were written. May be called once, and only if `hash` was called before the
    /// first byte.
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

    /// Writes the next bytes of the body.
    /// - Throws: `.payloadTooLarge` or `.overQuota` as soon as a limit is exceeded, among other errors.
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

    /// Completes the body on disk, so that it can be read by its name.
    mutating func commit() async throws(BackendError) {
        guard let upload else { return }
        _ = try await Self.stored { () throws(ContainerError) in try await upload.commit(.absent) }
        isCommitted = true
    }

    func finish() {
        backend.uploads.remove(size, of: sender)
    }

    /// Ends the upload and removes the body.
    func abandon() async {
        finish()
        if isCommitted {
            // A body that cannot be removed now is removed at the next start.
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
