import MartletCore
import MartletModel
import MartletPostgres

/// The ports that are not built on PostgreSQL yet. Each of them fails in a way that the suite recognizes, so that the
/// requirements that need none of them are checked. A port that is built goes from here.
enum NotBuilt {
    static let error = StorageError(.unavailable, "This port is not built on PostgreSQL yet.")
}

extension StorageInProgress: JobStore {
    func createJob(_ job: Job) async throws(StorageError) { throw NotBuilt.error }
    func job(_ id: String, in hub: Hub.ID) async throws(StorageError) -> Job? { throw NotBuilt.error }
    func jobs(in hub: Hub.ID, limit: Int) async throws(StorageError) -> [Job] { throw NotBuilt.error }
    func unfinishedJobs() async throws(StorageError) -> [JobProgress] { throw NotBuilt.error }
    func record(_ progress: JobProgress) async throws(StorageError) -> Bool { throw NotBuilt.error }
    func apply(
        _ changes: [RegistrationChange], of job: String, in hub: Hub.ID, at now: Timestamp,
        _ progress: @escaping @Sendable ([Result<Registration, RegistrationRefusal>]) -> JobProgress
    ) async throws(StorageError) -> JobProgress? { throw NotBuilt.error }
    func registrationCount(in hub: Hub.ID) async throws(StorageError) -> Int64 { throw NotBuilt.error }
}

extension StorageInProgress: PayloadStore {
    func addPayload(_ draft: PayloadDraft, quota: Int64) async throws(StorageError) -> PayloadAddition {
        throw NotBuilt.error
    }
    func payloadSize(sentBy user: String, at now: Timestamp) async throws(StorageError) -> Int64 {
        throw NotBuilt.error
    }
    func addAddressees(_ users: [String], of id: PayloadID) async throws(StorageError) { throw NotBuilt.error }
    func publish(_ id: PayloadID) async throws(StorageError) { throw NotBuilt.error }
    func withdraw(_ id: PayloadID) async throws(StorageError) { throw NotBuilt.error }
    func payload(_ id: PayloadID, for user: String, at now: Timestamp) async throws(StorageError) -> AddressedPayload? {
        throw NotBuilt.error
    }
    func readPayload(
        _ id: PayloadID, for user: String, at now: Timestamp, from address: String
    ) async throws(StorageError) -> AddressedPayload? { throw NotBuilt.error }
    func readers(
        of id: PayloadID, sentBy user: String, after name: String?, limit: Int, at now: Timestamp
    ) async throws(StorageError) -> [PayloadReader]? { throw NotBuilt.error }
    func audit(_ access: PayloadAccess) async throws(StorageError) { throw NotBuilt.error }
    func auditEntries(_ query: AuditQuery) async throws(StorageError) -> [AuditEntry] { throw NotBuilt.error }
}
