public import MartletModel

/// A request that sends in several steps, recorded so that a repeated one goes on where the first ended and sends nothing
/// twice.
public struct SendRecord: Hashable, Sendable {
    public let request: RequestIdentity
    /// What was stored for the request before its first push, in the request's order; nil for a push that carries all.
    public let payloads: [PayloadID?]
    public let startedAt: Timestamp
    /// Whether all pushes have been accepted.
    public var isComplete: Bool

    public init(_ request: RequestIdentity, payloads: [PayloadID?], startedAt: Timestamp, isComplete: Bool = false) {
        self.request = request
        self.payloads = payloads
        self.startedAt = startedAt
        self.isComplete = isComplete
    }
}

/// Keeps records of sends for `RequestIdentity.lifetime`. Every verb is durable when it returns.
public protocol SendRecordStore: Sendable {
    /// The record of a key that is still remembered.
    func sendRecord(_ key: [UInt8], at now: Timestamp) async throws(StorageError) -> SendRecord?

    /// Adds a record, unless one of its key is still remembered when it starts.
    /// - Returns: The one that is there now.
    func addSendRecord(_ record: SendRecord) async throws(StorageError) -> SendRecord

    /// Records that all pushes of a send have been accepted.
    func completeSend(_ key: [UInt8]) async throws(StorageError)

    /// Forgets a send of which nothing has gone out.
    func removeSendRecord(_ key: [UInt8]) async throws(StorageError)
}
