@testable import MartletClient

/// The id that a client has kept, seen from outside.
struct KeptID: Sendable {
    let store: MemoryStore

    init(_ id: String? = nil, due: RegistrationRecord.Due? = nil) {
        store = MemoryStore(RegistrationRecord(id: id, due: due).bytes)
    }

    func load() async -> String? { await record().id }
    func record() async -> RegistrationRecord { RegistrationRecord(await store.load()) }
}

/// The credentials that a client has kept, seen from outside.
struct KeptCredentials: Sendable {
    let store = MemoryStore()

    func load() async -> Credentials? { await record().credentials }
    func record() async -> LogInRecord { LogInRecord(await store.load()) }

    func save(_ credentials: Credentials) async {
        var record = await record()
        record.credentials = credentials
        await store.save(record.bytes)
    }
}

/// The receipts that a client has kept, seen from outside.
struct KeptReceipts: Sendable {
    let store = MemoryStore()

    func load() async -> [Receipt] { ReceiptQueue(await store.load()).receipts }
}
