public import MartletModel

/// The record of a request that sends in several steps. With it, a repeated request continues where the first request
/// stopped, and sends nothing twice.
public struct SendRecord: Hashable, Sendable {
    public let request: RequestIdentity
    /// The payload of each push, in the order of the pushes; nil for a push that contains its whole content. All
    /// payloads were stored before the first push.
    public let payloads: [PayloadID?]
    public let startedAt: Timestamp
    /// True if all pushes have been accepted.
    public var isComplete: Bool

    public init(_ request: RequestIdentity, payloads: [PayloadID?], startedAt: Timestamp, isComplete: Bool = false) {
        self.request = request
        self.payloads = payloads
        self.startedAt = startedAt
        self.isComplete = isComplete
    }
}

/// Stores records of sends for `RequestIdentity.lifetime`. Every change is durable when it returns.
public protocol SendRecordStore: Sendable {
    /// Returns the unexpired record of a key; nil if there is none.
    func sendRecord(_ key: [UInt8], at now: Timestamp) async throws(StorageError) -> SendRecord?

    /// Adds a record, unless the key already has a record that has not expired when the new one starts.
    /// - Returns: The record that is stored now: the new or the existing one.
    func addSendRecord(_ record: SendRecord) async throws(StorageError) -> SendRecord

    /// Records that all pushes of a send were accepted.
    func completeSend(_ key: [UInt8]) async throws(StorageError)

    /// Removes the record of a request that has sent nothing.
    func removeSendRecord(_ key: [UInt8]) async throws(StorageError)
}
