public import MartletCore
public import MartletModel

extension PostgresStorage: OperatorStore {
    public func hasOperators() async throws(StorageError) -> Bool {
        try await read(Batch(OperatorStatements.any))[0].count > 0
    }

    public func operators(at now: Timestamp) async throws(StorageError) -> [OperatorSummary] {
        let batch = Batch(OperatorStatements.list) {
            $0.add(now + (.zero - OperatorSession.idleLimit))
            $0.add(now + (.zero - OperatorSession.lifetime))
            $0.add(now)
        }
        let rows = try await read(batch)[0]
        return (0..<rows.count).map { index in
            let (row, next) = (rows[index], OperatorStatements.columnCount)
            return OperatorSummary(
                entry: Operator(row), sessions: Int(row.integer(next)), invitedUntil: row.optionalTimestamp(next + 1))
        }
    }

    public func `operator`(_ name: String) async throws(StorageError) -> Operator? {
        let rows = try await read(Batch(OperatorStatements.find) { $0.add(name.lowercased()) })[0]
        return rows.count == 1 ? Operator(rows[0]) : nil
    }

    // MARK: Links

    public func invite(_ entry: Operator, by link: OperatorLink) async throws(StorageError) {
        try await changeDirectory { connection, patience throws(DatabaseFailure) in
            var batch = Batch.putting(entry)
            batch.append(.adding(link))
            try connection.run(batch, patience)
        }
    }

    public func addLink(_ link: OperatorLink) async throws(StorageError) -> Bool {
        try await transaction { connection, patience throws(DatabaseFailure) in
            try connection.run(Batch.adding(link), patience).last?.changes == 1
        }
    }

    public func link(tokenHash: [UInt8], at now: Timestamp) async throws(StorageError) -> (OperatorLink, Operator)? {
        let batch = Batch(OperatorStatements.link) {
            $0.add(tokenHash)
            $0.add(now)
        }
        let rows = try await read(batch)[0]
        guard rows.count == 1 else { return nil }
        let (entry, next) = (Operator(rows[0]), OperatorStatements.columnCount)
        guard let kind = OperatorLink.Kind(rawValue: rows[0].text(next)) else {
            throw StorageError(.corrupt, "A stored link of an operator has an unknown kind; restore a backup.")
        }
        let link = OperatorLink(
            tokenHash: tokenHash, kind: kind, operatorName: entry.name, expiresAt: rows[0].timestamp(next + 1))
        return (link, entry)
    }

    public func useLink(
        tokenHash: [UInt8], passwordHash: String?, adding session: OperatorSession
    ) async throws(StorageError) -> Operator? {
        try await transaction { connection, patience throws(DatabaseFailure) in
            let locking = Batch(OperatorStatements.lockLink) {
                $0.add(tokenHash)
                $0.add(session.createdAt)
            }
            let found = try connection.run(locking, patience)[0]
            guard found.count == 1 else { return nil }
            let name = Operator(found[0]).name.lowercased()
            var batch = Batch(OperatorStatements.removeLink) { $0.add(tokenHash) }
            if let passwordHash {
                batch.add(OperatorStatements.setPassword) {
                    $0.add(name)
                    $0.add(passwordHash)
                }
                batch.append(.endingSessions(of: name, except: nil))
            }
            batch.append(.adding(session, of: name))
            batch.add(OperatorStatements.find) { $0.add(name) }
            return try connection.run(batch, patience).last.flatMap { $0.count == 1 ? Operator($0[0]) : nil }
        }
    }

    // MARK: Sessions

    public func addSession(_ session: OperatorSession, ofPassword hash: String) async throws(StorageError) -> Bool {
        let name = session.operatorName.lowercased()
        return try await transaction { connection, patience throws(DatabaseFailure) in
            let found = try connection.run(Batch(OperatorStatements.lock) { $0.add(name) }, patience)[0]
            guard found.count == 1 else { return false }
            let entry = Operator(found[0])
            guard !entry.isDisabled, entry.passwordHash == hash else { return false }
            try connection.run(Batch.adding(session, of: name), patience)
            return true
        }
    }

    public func operatorSession(tokenHash: [UInt8]) async throws(StorageError) -> (OperatorSession, Operator)? {
        let rows = try await read(Batch(OperatorStatements.session) { $0.add(tokenHash) })[0]
        guard rows.count == 1 else { return nil }
        let entry = Operator(rows[0])
        return (OperatorSession(rows[0], from: OperatorStatements.columnCount, of: entry.name), entry)
    }

    public func touchSession(tokenHash: [UInt8], at now: Timestamp, isConfirmed: Bool) async throws(StorageError) {
        _ = try await change(OperatorStatements.touchSession) {
            $0.add(tokenHash)
            $0.add(now)
            $0.add(isConfirmed)
        }
    }

    public func operatorSessions(of name: String) async throws(StorageError) -> [OperatorSession] {
        let rows = try await read(Batch(OperatorStatements.sessions) { $0.add(name.lowercased()) })[0]
        return (0..<rows.count).map { OperatorSession(rows[$0], from: 0, of: name) }
    }

    public func removeOperatorSession(tokenHash: [UInt8]) async throws(StorageError) -> Bool {
        try await change(OperatorStatements.removeSession) { $0.add(tokenHash) }
    }

    public func endSessions(of name: String, except kept: [UInt8]?) async throws(StorageError) -> Bool {
        let name = name.lowercased()
        return try await changeDirectory { connection, patience throws(DatabaseFailure) in
            var batch = Batch(OperatorStatements.lock) { $0.add(name) }
            batch.append(.endingSessions(of: name, except: kept))
            return try connection.run(batch, patience)[0].count == 1
        }
    }

    // MARK: Changes

    public func change(_ name: String, _ change: OperatorChange) async throws(StorageError) -> OperatorChangeResult {
        let name = name.lowercased()
        return try await changeDirectory { connection, patience throws(DatabaseFailure) in
            // If the change may remove an administrator, all operators are locked. Otherwise two such changes at the
            // same time could remove the last two administrators.
            let locking =
                change.endsAdministration
                ? Batch(OperatorStatements.lockAll) : Batch(OperatorStatements.lock) { $0.add(name) }
            let rows = try connection.run(locking, patience)[0]
            let known = (0..<rows.count).map { Operator(rows[$0]) }
            guard let before = known.first(where: { $0.name.lowercased() == name }) else { return .notFound }
            if change.endsAdministration, before.isActiveAdmin, known.count(where: \.isActiveAdmin) < 2 {
                return .isLastAdmin
            }
            var batch = Batch.applying(change, to: name)
            if case .roles(let roles) = change, roles != before.roles {
                batch.add(OperatorStatements.endSessions) {
                    $0.add(name)
                    $0.add([UInt8]?.none)
                }
            }
            batch.add(OperatorStatements.find) { $0.add(name) }
            guard let after = try connection.run(batch, patience).last, after.count == 1 else { return .notFound }
            return .changed(Operator(after[0]))
        }
    }

    // MARK: The audit log

    public func begin(_ action: OperatorAction) async throws(StorageError) -> OperatorAction.ID {
        let rows = try await transaction { connection, patience throws(DatabaseFailure) in
            let batch = Batch(OperatorActionStatements.begin) {
                $0.add(action.at)
                $0.add(action.operatorName)
                $0.add(action.address)
                $0.add(action.role)
                $0.add(action.action)
                $0.add(action.hub)
                $0.add(action.subject)
                $0.add(action.answer.map { Int64($0) })
            }
            return try connection.run(batch, patience)[0]
        }
        return OperatorAction.ID(rawValue: rows[0].integer(0))
    }

    public func end(_ id: OperatorAction.ID, answer: Int, subject: String?) async throws(StorageError) {
        _ = try await change(OperatorActionStatements.end) {
            $0.add(id.rawValue)
            $0.add(Int64(answer))
            $0.add(subject)
        }
    }

    public func actions(
        _ query: OperatorActionQuery
    ) async throws(StorageError) -> [(OperatorAction.ID, OperatorAction)] {
        func addBounds(_ parameters: inout Parameters) {
            parameters.add(query.before?.rawValue ?? .max)
            parameters.add(Int64(query.limit))
        }
        let batch =
            query.operatorName.map { name in
                Batch(OperatorActionStatements.ofOperator) {
                    addBounds(&$0)
                    $0.add(name)
                }
            } ?? Batch(OperatorActionStatements.all, addBounds)
        let rows = try await read(batch)[0]
        return (0..<rows.count).map {
            (OperatorAction.ID(rawValue: rows[$0].integer(0)), OperatorAction(rows[$0]))
        }
    }

    public func sweepOperators(at now: Timestamp, limit: Int) async throws(StorageError) {
        try await transaction { connection, patience throws(DatabaseFailure) in
            var batch = Batch(OperatorStatements.sweepLinks) {
                $0.add(now)
                $0.add(Int64(limit))
            }
            batch.add(OperatorStatements.sweepSessions) {
                $0.add(now + (.zero - OperatorSession.idleLimit))
                $0.add(now + (.zero - OperatorSession.lifetime))
                $0.add(Int64(limit))
            }
            batch.add(OperatorActionStatements.sweep) {
                $0.add(now + (.zero - OperatorAction.retention))
                $0.add(Int64(limit))
            }
            try connection.run(batch, patience)
        }
    }
}

extension Batch {
    /// Returns the statement that adds an operator, unless the name is taken.
    static func putting(_ entry: Operator) -> Batch {
        Batch(OperatorStatements.put) {
            $0.add(entry.name.lowercased())
            $0.add(entry.name)
            $0.add(entry.passwordHash)
            $0.add(entry.roles.texts)
            $0.add(entry.isDisabled)
            $0.add(entry.createdAt)
            $0.add(entry.settings)
            $0.add(entry.identity?.issuer)
            $0.add(entry.identity?.subject)
        }
    }

    /// Returns the statements that store a link, and remove the operator's earlier links of the same kind. The last
    /// statement writes no row if there is no such operator.
    fileprivate static func adding(_ link: OperatorLink) -> Batch {
        let name = link.operatorName.lowercased()
        var batch = Batch(OperatorStatements.lock) { $0.add(name) }
        batch.add(OperatorStatements.removeLinks) {
            $0.add(name)
            $0.add(link.kind.rawValue)
        }
        batch.add(OperatorStatements.addLink) {
            $0.add(link.tokenHash)
            $0.add(link.kind.rawValue)
            $0.add(link.expiresAt)
            $0.add(name)
        }
        return batch
    }

    /// - Parameter name: The name, in lower case, of an operator whose row is locked.
    static func adding(_ session: OperatorSession, of name: String) -> Batch {
        var batch = Batch(OperatorStatements.addSession) {
            $0.add(session.tokenHash)
            $0.add(name)
            $0.add(session.createdAt)
            $0.add(session.usedAt)
            $0.add(session.confirmedAt)
            $0.add(session.address)
            $0.add(session.agent)
        }
        batch.add(OperatorStatements.limitSessions) {
            $0.add(name)
            $0.add(session.tokenHash)
        }
        batch.add(OperatorStatements.signIn) {
            $0.add(name)
            $0.add(session.createdAt)
        }
        return batch
    }

    static func endingSessions(of name: String, except kept: [UInt8]?) -> Batch {
        var batch = Batch(OperatorStatements.endSessions) {
            $0.add(name)
            $0.add(kept)
        }
        batch.add(OperatorStatements.removeAllLinks) { $0.add(name) }
        return batch
    }

    fileprivate static func applying(_ change: OperatorChange, to name: String) -> Batch {
        switch change {
        case .roles(let roles):
            return Batch(OperatorStatements.setRoles) {
                $0.add(name)
                $0.add(roles.texts)
            }
        case .isDisabled(let isDisabled):
            var batch = Batch(OperatorStatements.setDisabled) {
                $0.add(name)
                $0.add(isDisabled)
            }
            if isDisabled { batch.append(.endingSessions(of: name, except: nil)) }
            return batch
        case .passwordHash(let hash):
            return Batch(OperatorStatements.setPassword) {
                $0.add(name)
                $0.add(hash)
            }
        case .settings(let settings):
            return Batch(OperatorStatements.setSettings) {
                $0.add(name)
                $0.add(settings)
            }
        }
    }
}
