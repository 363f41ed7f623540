public import MartletCore
public import MartletModel

// Changes of operators are written even if less than the reserve of the disk is free. An operator must be able to stop
// a send on a full disk, and the entry in the audit log is written before the send is stopped.
extension SQLiteStorage: OperatorStore {
    public func hasOperators() async throws(StorageError) -> Bool {
        try await readers.read { connection throws(StorageError) in try OperatorTable(connection).any() }
    }

    public func operators(at now: Timestamp) async throws(StorageError) -> [OperatorSummary] {
        try await readers.read { connection throws(StorageError) in try OperatorTable(connection).all(at: now) }
    }

    public func `operator`(_ name: String) async throws(StorageError) -> Operator? {
        try await readers.read { connection throws(StorageError) in try OperatorTable(connection).entry(name) }
    }

    public func invite(_ entry: Operator, by link: OperatorLink) async throws(StorageError) {
        try await writer.write { connection throws(StorageError) in
            let table = OperatorTable(connection)
            try table.put(entry)
            _ = try table.add(link)
        }
    }

    public func addLink(_ link: OperatorLink) async throws(StorageError) -> Bool {
        try await writer.write { connection throws(StorageError) in try OperatorTable(connection).add(link) }
    }

    public func link(tokenHash: [UInt8], at now: Timestamp) async throws(StorageError) -> (OperatorLink, Operator)? {
        try await readers.read { connection throws(StorageError) in
            try OperatorTable(connection).link(tokenHash, at: now)
        }
    }

    public func useLink(
        tokenHash: [UInt8], passwordHash: String?, adding session: OperatorSession
    ) async throws(StorageError) -> Operator? {
        try await writer.write { connection throws(StorageError) in
            try OperatorTable(connection).use(tokenHash, passwordHash, adding: session)
        }
    }

    public func addSession(_ session: OperatorSession, ofPassword hash: String) async throws(StorageError) -> Bool {
        try await writer.write { connection throws(StorageError) in
            try OperatorTable(connection).add(session, ofPassword: hash)
        }
    }

    public func enter(
        _ visit: ProviderVisit, adding session: OperatorSession, orConfirming confirmed: [UInt8]?
    ) async throws(StorageError) -> ProviderVisitResult {
        try await writer.write { connection throws(StorageError) in
            try OperatorTable(connection).enter(visit, adding: session, orConfirming: confirmed)
        }
    }

    public func operatorSession(tokenHash: [UInt8]) async throws(StorageError) -> (OperatorSession, Operator)? {
        try await readers.read { connection throws(StorageError) in try OperatorTable(connection).session(tokenHash) }
    }

    public func touchSession(tokenHash: [UInt8], at now: Timestamp, isConfirmed: Bool) async throws(StorageError) {
        try await writer.write { connection throws(StorageError) in
            try OperatorTable(connection).touch(tokenHash, at: now, isConfirmed: isConfirmed)
        }
    }

    public func operatorSessions(of name: String) async throws(StorageError) -> [OperatorSession] {
        try await readers.read { connection throws(StorageError) in try OperatorTable(connection).sessions(of: name) }
    }

    public func removeOperatorSession(tokenHash: [UInt8]) async throws(StorageError) -> Bool {
        try await writer.write { connection throws(StorageError) in
            try OperatorTable(connection).removeSession(tokenHash)
        }
    }

    public func endSessions(of name: String, except kept: [UInt8]?) async throws(StorageError) -> Bool {
        try await writer.write { connection throws(StorageError) in
            let table = OperatorTable(connection)
            try table.endSessions(of: name, except: kept)
            return try table.entry(name) != nil
        }
    }

    public func change(_ name: String, _ change: OperatorChange) async throws(StorageError) -> OperatorChangeResult {
        try await writer.write { connection throws(StorageError) in
            try OperatorTable(connection).change(name, change)
        }
    }

    public func begin(_ action: OperatorAction) async throws(StorageError) -> OperatorAction.ID {
        try await writer.write { connection throws(StorageError) in try OperatorActionTable(connection).insert(action) }
    }

    public func end(_ id: OperatorAction.ID, answer: Int, subject: String?) async throws(StorageError) {
        try await writer.write { connection throws(StorageError) in
            try OperatorActionTable(connection).end(id, answer: answer, subject: subject)
        }
    }

    public func actions(
        _ query: OperatorActionQuery
    ) async throws(StorageError) -> [(OperatorAction.ID, OperatorAction)] {
        try await readers.read { connection throws(StorageError) in try OperatorActionTable(connection).entries(query) }
    }

    public func sweepOperators(at now: Timestamp, limit: Int) async throws(StorageError) {
        try await writer.write { connection throws(StorageError) in
            try OperatorTable(connection).sweep(at: now, limit: limit)
        }
    }
}
