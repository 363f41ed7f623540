public import MartletModel

/// Keeps what stays here while pushes carry only its id, who may fetch it, and who did. Every verb is durable when it
/// returns. Users are given by their folded names.
///
/// A user may fetch a payload who is one of its addressees; where `UserStore` knows the user, one that was added after
/// the payload was sent is another person of the same name. Anyone who may not learns nothing: the answer, and the work
/// done for it, are the same for what is somebody else's, what has expired and what never was.
public protocol PayloadStore: Sendable {
    /// Takes a payload. Nobody can fetch it until it is published; one that never is goes after a day, and at the next
    /// start.
    /// - Parameter quota: The most bytes that the sender may have here, of payloads that have not expired, with this one.
    ///   Each counts with its content and `StoredPayload.recordSize`.
    func addPayload(_ draft: PayloadDraft, quota: Int64) async throws(StorageError) -> PayloadAddition

    /// What counts against a sender's quota now, in bytes.
    func payloadSize(sentBy user: String, at now: Timestamp) async throws(StorageError) -> Int64

    /// Adds to who may fetch a payload that is not published yet; addressees that are there already stay. To be called in
    /// portions of thousands at most.
    func addAddressees(_ users: [String], of id: PayloadID) async throws(StorageError)

    /// Lets the addressees fetch it.
    func publish(_ id: PayloadID) async throws(StorageError)

    /// Removes a payload, published or not, where sending it has failed. Its body, if it has one, is the caller's to
    /// remove.
    func withdraw(_ id: PayloadID) async throws(StorageError)

    /// A payload without reading it.
    /// - Returns: nil where the user may not fetch it (any more).
    func payload(
        _ id: PayloadID, for user: String, at now: Timestamp
    ) async throws(StorageError) -> AddressedPayload?

    /// The same, and notes in the same transaction that the user has read it, or was refused it. A text that is read
    /// once is then gone for this user, and for good when its last addressee has read it. A body stays until it
    /// expires.
    /// - Parameter address: Where the request came from.
    func readPayload(
        _ id: PayloadID, for user: String, at now: Timestamp, from address: String
    ) async throws(StorageError) -> AddressedPayload?

    /// The addressees of a published payload by name, a page at a time.
    /// - Parameter after: Where the page before ended; nil for the first.
    /// - Returns: nil where the user has sent no such payload.
    func readers(
        of id: PayloadID, sentBy user: String, after name: String?, limit: Int, at now: Timestamp
    ) async throws(StorageError) -> [PayloadReader]?

    /// Records an attempt to fetch a payload that `readPayload` does not see.
    func audit(_ access: PayloadAccess) async throws(StorageError)

    /// The latest entries of the audit that a query matches, newest last.
    func auditEntries(_ query: AuditQuery) async throws(StorageError) -> [AuditEntry]
}

/// What became of the wish to add a payload.
public enum PayloadAddition: Hashable, Sendable {
    case added(PayloadID)
    /// The sender would have more than the quota here. Nothing was stored; a body is the caller's to remove.
    case overQuota
}

/// An addressee, and whether it has read the payload.
public struct PayloadReader: Hashable, Sendable {
    /// The folded name.
    public var user: String
    /// The first time; nil: not yet.
    public var readAt: Timestamp?

    public init(user: String, readAt: Timestamp?) {
        self.user = user
        self.readAt = readAt
    }
}
