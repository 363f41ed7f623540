public import MartletCore
import MartletModel

extension PostgresStorage {
    public func enter(
        _ visit: ProviderVisit, adding session: OperatorSession, orConfirming confirmed: [UInt8]?
    ) async throws(StorageError) -> ProviderVisitResult {
        let (result, isChange) = try await transaction {
            connection, patience throws(DatabaseFailure) -> (ProviderVisitResult, Bool) in
            // Without this lock, two visits at the same time could add one person twice, take the same name, or exceed
            // the limit.
            var locking = Batch(ProviderVisitStatements.lock)
            locking.add(ProviderVisitStatements.lockKnown) {
                $0.add(visit.identity.issuer)
                $0.add(visit.identity.subject)
            }
            let found = try connection.run(locking, patience)[1]
            let person = found.count == 1 ? Operator(found[0]) : nil
            if let person, person.isDisabled { return (.disabled(person.name), false) }
            guard !visit.roles.isEmpty else {
                if let person { try connection.run(Batch.ending(person), patience) }
                return (.noRole(person?.name), person != nil)
            }
            guard let known = person else {
                guard let entry = try Self.add(visit, at: session.createdAt, connection, patience) else {
                    return (.tooMany, false)
                }
                return (try Self.open(session, of: entry, Batch(), connection, patience), true)
            }
            var batch = Batch()
            if known.roles != visit.roles { batch.append(.endingSessions(of: known.folded, except: nil)) }
            batch.add(OperatorStatements.setRoles) {
                $0.add(known.folded)
                $0.add(visit.roles.texts)
            }
            if let confirmed, known.roles == visit.roles {
                let result = try Self.confirm(confirmed, by: session, of: known, batch, connection, patience)
                if let result { return (result, false) }
            }
            return (try Self.open(session, of: known, batch, connection, patience), known.roles != visit.roles)
        }
        // This runs after the transaction, because inside the transaction two changes of operators could deadlock.
        if isChange { try await changeDirectory { _, _ throws(DatabaseFailure) in } }
        return result
    }

    /// Adds an operator for a person, under the first name that is not taken.
    /// - Returns: nil if there are too many operators, or if all names are taken.
    private static func add(
        _ visit: ProviderVisit, at now: Timestamp, _ connection: Connection, _ patience: Connection.Patience
    ) throws(DatabaseFailure) -> Operator? {
        let count = try connection.run(Batch(ProviderVisitStatements.count), patience)[0][0].integer(0)
        guard count < visit.countLimit else { return nil }
        for name in visit.names {
            let entry = Operator(name: name, roles: visit.roles, createdAt: now, identity: visit.identity)
            if try connection.run(Batch.putting(entry), patience)[0].changes == 1 { return entry }
        }
        return nil
    }

    /// Runs a batch and adds a session.
    private static func open(
        _ session: OperatorSession, of entry: Operator, _ batch: Batch, _ connection: Connection,
        _ patience: Connection.Patience
    ) throws(DatabaseFailure) -> ProviderVisitResult {
        var opened = session
        opened.operatorName = entry.name
        var batch = batch
        batch.append(.adding(opened, of: entry.folded))
        batch.add(OperatorStatements.find) { $0.add(entry.folded) }
        guard let rows = try connection.run(batch, patience).last, rows.count == 1 else { return .tooMany }
        return .entered(Operator(rows[0]), opened)
    }

    /// Runs a batch and confirms an existing session, if the session belongs to the operator.
    /// - Returns: nil if the session belongs to another operator or does not exist; then the batch was not run.
    private static func confirm(
        _ tokenHash: [UInt8], by session: OperatorSession, of known: Operator, _ batch: Batch,
        _ connection: Connection, _ patience: Connection.Patience
    ) throws(DatabaseFailure) -> ProviderVisitResult? {
        let rows = try connection.run(Batch(OperatorStatements.session) { $0.add(tokenHash) }, patience)[0]
        guard rows.count == 1, Operator(rows[0]).name == known.name else { return nil }
        var confirmed = OperatorSession(rows[0], from: OperatorStatements.columnCount, of: known.name)
        confirmed.usedAt = max(confirmed.usedAt, session.createdAt)
        confirmed.confirmedAt = session.confirmedAt
        var batch = batch
        batch.add(OperatorStatements.confirmSession) {
            $0.add(tokenHash)
            $0.add(session.createdAt)
            $0.add(session.confirmedAt)
        }
        try connection.run(batch, patience)
        return .entered(known, confirmed)
    }
}

extension Operator {
    fileprivate var folded: String { name.lowercased() }
}

extension Batch {
    /// Returns the statements that remove all roles of an operator and end the operator's sessions.
    fileprivate static func ending(_ entry: Operator) -> Batch {
        var batch = Batch(OperatorStatements.setRoles) {
            $0.add(entry.folded)
            $0.add([String]())
        }
        batch.append(.endingSessions(of: entry.folded, except: nil))
        return batch
    }
}

/// The statements on people whom an identity provider has authenticated.
private enum ProviderVisitStatements {
    /// Makes visits run one after another on all nodes. Other changes of operators do not wait for this lock.
    static let lock = Statement.rare(
        [], "SELECT pg_advisory_xact_lock('operators'::regclass::oid::int8)")
    static let lockKnown = Statement.rare(
        [.bytes, .bytes],
        "SELECT \(OperatorStatements.columns) FROM operators o WHERE o.issuer = $1 AND o.subject = $2 FOR UPDATE OF o")
    static let count = Statement.rare([], "SELECT count(*) FROM operators")
}
