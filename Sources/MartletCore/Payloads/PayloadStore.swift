public import MartletModel

/// Stores payloads: content that stays on the server while pushes carry only its id. Also stores the addressees of each
/// payload and an audit log. Every change is durable when it returns. Users are identified by their names in lower
/// case.
///
/// Only the addressees of a payload may fetch it. A user who has the name of an addressee, but was added to `UserStore`
/// after the payload was sent, counts as another person and may not fetch the payload. Users without access cannot
/// learn whether a payload exists: the answer, and the work for it, are the same for a payload with other addressees,
/// an expired payload and a payload that never existed.
public protocol PayloadStore: Sendable {
    /// Stores a payload. It cannot be fetched until it is published. A payload that is never published is deleted after
    /// a day, or at the next start.
    /// - Parameter quota: The maximum total size of the sender's unexpired payloads, including this one, in bytes. The
    ///   size of each payload is its content size plus `StoredPayload.recordSize`.
    func addPayload(_ draft: PayloadDraft, quota: Int64) async throws(StorageError) -> PayloadAddition

    /// Returns the total size of a sender's payloads that currently counts against the quota, in bytes.
    func payloadSize(sentBy user: String, at now: Timestamp) async throws(StorageError) -> Int64

    /// Adds addressees to an unpublished payload; earlier addressees are kept. Add at most a few thousand users per
    /// call.
    func addAddressees(_ users: [String], of id: PayloadID) async throws(StorageError)

    /// Allows the addressees to fetch the payload.
    func publish(_ id: PayloadID) async throws(StorageError)

    /// Removes a payload, published or not, after sending it has failed. If the payload has a body, the caller must
    /// remove the body.
    func withdraw(_ id: PayloadID) async throws(StorageError)

    /// Returns a payload without marking it as read.
    /// - Returns: The payload; nil if the user may not, or may no longer, fetch the payload.
    func payload(
        _ id: PayloadID, for user: String, at now: Timestamp
    ) async throws(StorageError) -> AddressedPayload?

    /// Returns a payload, and in the same transaction records that the user has read it or was refused. A text that can
    /// be read only once is then deleted for this user, and deleted completely when its last addressee has read it. A
    /// body is kept until the payload expires.
    /// - Parameter address: The network address of the client.
    func readPayload(
        _ id: PayloadID, for user: String, at now: Timestamp, from address: String
    ) async throws(StorageError) -> AddressedPayload?

    /// Returns one page of the addressees of a published payload, sorted by name.
    /// - Parameter after: The last name of the previous page; nil for the first page.
    /// - Returns: The addressees; nil if the user is not the sender of the payload, or if it is not published or has
    ///   expired.
    func readers(
        of id: PayloadID, sentBy user: String, after name: String?, limit: Int, at now: Timestamp
    ) async throws(StorageError) -> [PayloadReader]?

    /// Adds an entry to the audit log, for an attempt to fetch a payload without `readPayload`.
    func audit(_ access: PayloadAccess) async throws(StorageError)

    /// Returns the latest entries of the audit log that match a query, newest last.
    func auditEntries(_ query: AuditQuery) async throws(StorageError) -> [AuditEntry]
}

/// The result of adding a payload to the store.
public enum PayloadAddition: Hashable, Sendable {
    case added(PayloadID)
    /// The payload would exceed the sender's quota. Nothing was stored; the caller must remove the body.
    case overQuota
}

/// An addressee of a payload, with the time when the addressee has read it.
public struct PayloadReader: Hashable, Sendable {
    /// The name of the addressee in lower case.
    public var user: String
    /// The time when the addressee first read the payload; nil if the addressee has not read it yet.
    public var readAt: Timestamp?

    public init(user: String, readAt: Timestamp?) {
        self.user = user
        self.readAt = readAt
    }
}
