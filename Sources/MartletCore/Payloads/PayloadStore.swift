public import MartletModel

/// Keeps contents that stay on the server while pushes carry only their ids, with their addressees and an audit log.
/// Every change is durable when it returns. Users are identified by their folded names.
///
/// The addressees of a payload may fetch it. If `UserStore` has the user, and the user was added after the payload was
/// sent, this is another person of the same name, who may not. Others learn nothing: the answer, and the work for it,
/// are the same for a payload of others, an expired one and one that never existed.
public protocol PayloadStore: Sendable {
    /// Stores a payload. It cannot be fetched until it is published. A payload that is never published is deleted after
    /// a day, and at the next start.
    /// - Parameter quota: The most bytes of unexpired payloads of the sender, including this one. Each counts with its
    ///   content and `StoredPayload.recordSize`.
    func addPayload(_ draft: PayloadDraft, quota: Int64) async throws(StorageError) -> PayloadAddition

    /// The current size of a sender's payloads that counts against the quota, in bytes.
    func payloadSize(sentBy user: String, at now: Timestamp) async throws(StorageError) -> Int64

    /// Adds addressees to an unpublished payload; earlier addressees stay. Call it with a few thousand users at a time
    /// at most.
    func addAddressees(_ users: [String], of id: PayloadID) async throws(StorageError)

    /// Allows the addressees to fetch the payload.
    func publish(_ id: PayloadID) async throws(StorageError)

    /// Removes a payload, published or not, after sending it has failed. The caller must remove its body, if it has
    /// one.
    func withdraw(_ id: PayloadID) async throws(StorageError)

    /// Returns a payload without marking it as read.
    /// - Returns: nil if the user may not fetch it, or not any more.
    func payload(
        _ id: PayloadID, for user: String, at now: Timestamp
    ) async throws(StorageError) -> AddressedPayload?

    /// Returns a payload, and records in the same transaction that the user has read it or was refused. A text that can
    /// be read once is then deleted for this user, and completely when its last addressee has read it. A body stays
    /// until it expires.
    /// - Parameter address: The network address of the client.
    func readPayload(
        _ id: PayloadID, for user: String, at now: Timestamp, from address: String
    ) async throws(StorageError) -> AddressedPayload?

    /// One page of the addressees of a published payload, sorted by name.
    /// - Parameter after: Where the previous page ended; nil for the first page.
    /// - Returns: nil if the user has sent no such payload.
    func readers(
        of id: PayloadID, sentBy user: String, after name: String?, limit: Int, at now: Timestamp
    ) async throws(StorageError) -> [PayloadReader]?

    /// Adds an entry to the audit log, for an attempt to fetch a payload that did not use `readPayload`.
    func audit(_ access: PayloadAccess) async throws(StorageError)

    /// The latest entries of the audit log that match a query, newest last.
    func auditEntries(_ query: AuditQuery) async throws(StorageError) -> [AuditEntry]
}

/// The result of adding a payload.
public enum PayloadAddition: Hashable, Sendable {
    case added(PayloadID)
    /// The payload would exceed the sender's quota. Nothing was stored; the caller must remove the body.
    case overQuota
}

/// An addressee of a payload, and when it has read the payload.
public struct PayloadReader: Hashable, Sendable {
    /// The folded name of the addressee.
    public var user: String
    /// The first time; nil if not read yet.
    public var readAt: Timestamp?

    public init(user: String, readAt: Timestamp?) {
        self.user = user
        self.readAt = readAt
    }
}
