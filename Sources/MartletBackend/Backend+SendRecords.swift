import MartletCore

extension Backend {
    /// Returns the record of an earlier attempt of a request; nil if there is none.
    /// - Throws: `.keyReused` if the key was used for another request, among other errors.
    func record(of request: RequestIdentity?) async throws(BackendError) -> SendRecord? {
        guard let request else { return nil }
        let record = try await stored { () throws(StorageError) in
            try await sends.sendRecord(request.key, at: time.now)
        }
        guard let record else { return nil }
        guard record.request.fingerprint == request.fingerprint else { throw .keyReused }
        return record
    }

    /// Records a request before its first push is sent.
    /// - Returns: The record, and whether it belongs to another attempt that recorded the request first.
    func begin(
        _ request: RequestIdentity, payloads: [PayloadID?]
    ) async throws(BackendError) -> (record: SendRecord, isOther: Bool) {
        let own = SendRecord(request, payloads: payloads, startedAt: time.now)
        let record = try await stored { () throws(StorageError) in try await sends.addSendRecord(own) }
        guard record.request.fingerprint == request.fingerprint else { throw .keyReused }
        return (record, record != own)
    }

    func complete(_ record: SendRecord?) async throws(BackendError) {
        guard let record else { return }
        try await stored { () throws(StorageError) in try await sends.completeSend(record.request.key) }
    }

    func remove(_ record: SendRecord?) async {
        guard let record else { return }
        // If the record cannot be removed, it remains. Then a repeated request resumes this send, and sends the pushes
        // that are still missing.
        try? await sends.removeSendRecord(record.request.key)
    }
}
