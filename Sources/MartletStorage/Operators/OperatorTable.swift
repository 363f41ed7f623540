import MartletCore
import MartletModel

/// Stores and reads the console's operators with their links and sessions, on one connection.
struct OperatorTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// The columns of an operator, which `entry(_:)` reads from a row.
    private static let columns = """
        o.name, o.password_hash, o.roles, o.is_disabled, o.created_at, o.signed_in_at, o.settings, o.issuer, o.subject,
        EXISTS (SELECT 1 FROM operator_factors f WHERE f.operator = o.folded_name AND f.confirmed_at IS NOT NULL)
        """
    private static let columnCount: Int32 = 10

    func any() throws(StorageError) -> Bool {
        try connection.first("SELECT 1 FROM operators LIMIT 1") { _ in true } ?? false
    }

    func all(at now: Timestamp) throws(StorageError) -> [OperatorSummary] {
        try connection.all(
            """
            SELECT \(Self.columns),
                (SELECT count(*) FROM operator_sessions WHERE operator = o.folded_name AND used_at > ?1
                    AND created_at > ?2),
                (SELECT max(expires_at) FROM operator_links WHERE operator = o.folded_name AND kind = ?3
                    AND expires_at > ?4)
            FROM operators o ORDER BY o.folded_name
            """, Timestamp(milliseconds: now.milliseconds - OperatorSession.idleLimit.wholeMilliseconds),
            Timestamp(milliseconds: now.milliseconds - OperatorSession.lifetime.wholeMilliseconds),
            OperatorLink.Kind.invitation.rawValue, now
        ) { row in
            OperatorSummary(
                entry: Self.entry(row), sessions: Int(row.integer(Self.columnCount)),
                invitedUntil: row.optionalTimestamp(Self.columnCount + 1))
        }
    }

    func entry(_ name: String) throws(StorageError) -> Operator? {
        try connection.first(
            "SELECT \(Self.columns) FROM operators o WHERE o.folded_name = ?", name.lowercased()
        ) { Self.entry($0) }
    }

    func put(_ entry: Operator) throws(StorageError) {
        try connection.run(
            """
            INSERT INTO operators
                (folded_name, name, password_hash, roles, is_disabled, created_at, settings, issuer, subject)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (folded_name) DO NOTHING
            """, entry.name.lowercased(), entry.name, entry.passwordHash, Self.text(of: entry.roles), entry.isDisabled,
            entry.createdAt, entry.settings, entry.identity?.issuer, entry.identity?.subject)
    }

    // MARK: Links

    func add(_ link: OperatorLink) throws(StorageError) -> Bool {
        let name = link.operatorName.lowercased()
        try connection.run("DELETE FROM operator_links WHERE operator = ? AND kind = ?", name, link.kind.rawValue)
        try connection.run(
            """
            INSERT INTO operator_links (token_hash, operator, kind, expires_at)
            SELECT ?, folded_name, ?, ? FROM operators WHERE folded_name = ?
            """, link.tokenHash, link.kind.rawValue, link.expiresAt, name)
        return connection.changes > 0
    }

    func link(_ tokenHash: [UInt8], at now: Timestamp) throws(StorageError) -> (OperatorLink, Operator)? {
        try connection.first(
            """
            SELECT \(Self.columns), l.kind, l.expires_at FROM operator_links l
                JOIN operators o ON o.folded_name = l.operator
            WHERE l.token_hash = ? AND l.expires_at > ? AND o.is_disabled = 0 AND o.subject IS NULL
            """, tokenHash, now
        ) { row throws(StorageError) in
            let entry = Self.entry(row)
            guard let kind = OperatorLink.Kind(rawValue: row.text(Self.columnCount)) else {
                throw StorageError(.corrupt, "A stored link of an operator has an unknown kind; restore a backup.")
            }
            let link = OperatorLink(
                tokenHash: tokenHash, kind: kind, operatorName: entry.name,
                expiresAt: row.timestamp(Self.columnCount + 1))
            return (link, entry)
        }
    }

    func use(
        _ tokenHash: [UInt8], _ passwordHash: String?, adding session: OperatorSession
    ) throws(StorageError) -> Operator? {
        guard let (_, entry) = try link(tokenHash, at: session.createdAt) else { return nil }
        let name = entry.name.lowercased()
        try connection.run("DELETE FROM operator_links WHERE token_hash = ?", tokenHash)
        if let passwordHash {
            try connection.run("UPDATE operators SET password_hash = ? WHERE folded_name = ?", passwordHash, name)
            try endSessions(of: name, except: nil)
        }
        var session = session
        session.operatorName = entry.name
        try insert(session)
        return try self.entry(name)
    }

    // MARK: Sessions

    func add(_ session: OperatorSession, ofPassword hash: String) throws(StorageError) -> Bool {
        let isCurrent = try connection.first(
            "SELECT 1 FROM operators WHERE folded_name = ? AND password_hash = ? AND is_disabled = 0",
            session.operatorName.lowercased(), hash
        ) { _ in true }
        guard isCurrent == true else { return false }
        try insert(session)
        return true
    }

    private func insert(_ session: OperatorSession) throws(StorageError) {
        let name = session.operatorName.lowercased()
        try connection.run(
            """
            INSERT INTO operator_sessions (token_hash, operator, created_at, used_at, confirmed_at, address, agent)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """, session.tokenHash, name, session.createdAt, session.usedAt, session.confirmedAt, session.address,
            session.agent)
        try connection.run(
            """
            DELETE FROM operator_sessions WHERE token_hash IN
                (SELECT token_hash FROM operator_sessions WHERE operator = ?1 AND token_hash <> ?2
                    ORDER BY used_at DESC LIMIT -1 OFFSET ?3)
            """, name, session.tokenHash, OperatorSession.countLimit - 1)
        try connection.run("UPDATE operators SET signed_in_at = ? WHERE folded_name = ?", session.createdAt, name)
    }

    func session(_ tokenHash: [UInt8]) throws(StorageError) -> (OperatorSession, Operator)? {
        try connection.first(
            """
            SELECT \(Self.columns), \(Self.sessionColumns) FROM operator_sessions s
                JOIN operators o ON o.folded_name = s.operator WHERE s.token_hash = ?
            """, tokenHash
        ) { row in
            let entry = Self.entry(row)
            return (Self.session(row, from: Self.columnCount, of: entry.name), entry)
        }
    }

    func touch(_ tokenHash: [UInt8], at now: Timestamp, isConfirmed: Bool) throws(StorageError) {
        try connection.run(
            "UPDATE operator_sessions SET used_at = max(used_at, ?) WHERE token_hash = ?", now, tokenHash)
        guard isConfirmed else { return }
        try connection.run("UPDATE operator_sessions SET confirmed_at = ? WHERE token_hash = ?", now, tokenHash)
    }

    func sessions(of name: String) throws(StorageError) -> [OperatorSession] {
        try connection.all(
            "SELECT \(Self.sessionColumns) FROM operator_sessions s WHERE s.operator = ? ORDER BY s.created_at DESC",
            name.lowercased()
        ) { Self.session($0, from: 0, of: name) }
    }

    func removeSession(_ tokenHash: [UInt8]) throws(StorageError) -> Bool {
        try connection.run("DELETE FROM operator_sessions WHERE token_hash = ?", tokenHash)
        return connection.changes > 0
    }

    func endSessions(of name: String, except kept: [UInt8]?) throws(StorageError) {
        try connection.run(
            "DELETE FROM operator_sessions WHERE operator = ? AND token_hash IS NOT ?", name.lowercased(), kept)
        try connection.run("DELETE FROM operator_links WHERE operator = ?", name.lowercased())
    }

    private static let sessionColumns = """
        s.token_hash, s.created_at, s.used_at, s.confirmed_at, s.address, s.agent
        """

    private static func session(_ row: Statement, from first: Int32, of name: String) -> OperatorSession {
        OperatorSession(
            tokenHash: row.bytes(first), operatorName: name, createdAt: row.timestamp(first + 1),
            usedAt: row.timestamp(first + 2), confirmedAt: row.timestamp(first + 3), address: row.text(first + 4),
            agent: row.text(first + 5))
    }

    // MARK: Identity providers

    func enter(
        _ visit: ProviderVisit, adding session: OperatorSession, orConfirming confirmed: [UInt8]?
    ) throws(StorageError) -> ProviderVisitResult {
        let known = try entry(visit.identity)
        if let known, known.isDisabled { return .disabled(known.name) }
        guard !visit.roles.isEmpty else {
            if let known {
                try connection.run(
                    "UPDATE operators SET roles = '' WHERE folded_name = ?", known.name.lowercased())
                try endSessions(of: known.name, except: nil)
            }
            return .noRole(known?.name)
        }
        let name = if let known { String?.some(known.name) } else { try add(visit, at: session.createdAt) }
        guard let name else { return .tooMany }
        // A session must not continue with other roles than it began with, so all sessions of the operator end.
        if let known, known.roles != visit.roles { try endSessions(of: name, except: nil) }
        try connection.run(
            "UPDATE operators SET roles = ? WHERE folded_name = ?", Self.text(of: visit.roles), name.lowercased())
        var opened = session
        opened.operatorName = name
        if let confirmed, let (old, owner) = try self.session(confirmed), owner.name == name {
            try connection.run(
                "UPDATE operator_sessions SET used_at = max(used_at, ?), confirmed_at = ? WHERE token_hash = ?",
                session.createdAt, session.confirmedAt, confirmed)
            opened = old
            opened.usedAt = max(old.usedAt, session.createdAt)
            opened.confirmedAt = session.confirmedAt
        } else {
            try insert(opened)
        }
        return try entry(name).map { .entered($0, opened) } ?? .tooMany
    }

    private func entry(_ identity: OperatorIdentity) throws(StorageError) -> Operator? {
        try connection.first(
            "SELECT \(Self.columns) FROM operators o WHERE o.issuer = ? AND o.subject = ?", identity.issuer,
            identity.subject
        ) { Self.entry($0) }
    }

    /// Adds an operator under the first name in `visit.names` that no operator has.
    /// - Returns: The name; nil if there are too many operators, or no name is free.
    private func add(_ visit: ProviderVisit, at now: Timestamp) throws(StorageError) -> String? {
        let count = try connection.first("SELECT count(*) FROM operators") { $0.integer(0) } ?? 0
        guard count < visit.countLimit else { return nil }
        for name in visit.names {
            guard try entry(name) == nil else { continue }
            try put(Operator(name: name, roles: visit.roles, createdAt: now, identity: visit.identity))
            return name
        }
        return nil
    }

    // MARK: Changes

    func change(_ name: String, _ change: OperatorChange) throws(StorageError) -> OperatorChangeResult {
        guard let before = try entry(name) else { return .notFound }
        let folded = name.lowercased()
        if before.isActiveAdmin, change.endsAdministration, try activeAdmins() < 2 { return .isLastAdmin }
        switch change {
        case .roles(let roles):
            try connection.run("UPDATE operators SET roles = ? WHERE folded_name = ?", Self.text(of: roles), folded)
            guard roles != before.roles else { break }
            try connection.run("DELETE FROM operator_sessions WHERE operator = ?", folded)
        case .isDisabled(let isDisabled):
            try connection.run("UPDATE operators SET is_disabled = ? WHERE folded_name = ?", isDisabled, folded)
            if isDisabled { try endSessions(of: folded, except: nil) }
        case .passwordHash(let hash):
            try connection.run("UPDATE operators SET password_hash = ? WHERE folded_name = ?", hash, folded)
        case .settings(let settings):
            try connection.run("UPDATE operators SET settings = ? WHERE folded_name = ?", settings, folded)
        }
        return try entry(name).map(OperatorChangeResult.changed) ?? .notFound
    }

    private func activeAdmins() throws(StorageError) -> Int {
        try connection.all("SELECT \(Self.columns) FROM operators o") { Self.entry($0) }.count(where: \.isActiveAdmin)
    }

    // MARK: Sweeping

    func sweep(at now: Timestamp, limit: Int) throws(StorageError) {
        func earlier(_ duration: Duration) -> Timestamp {
            Timestamp(milliseconds: now.milliseconds - duration.wholeMilliseconds)
        }
        try connection.run(
            """
            DELETE FROM operator_links WHERE token_hash IN
                (SELECT token_hash FROM operator_links WHERE expires_at <= ? LIMIT ?)
            """, now, limit)
        try connection.run(
            """
            DELETE FROM operator_sessions WHERE token_hash IN
                (SELECT token_hash FROM operator_sessions WHERE used_at <= ? OR created_at <= ? LIMIT ?)
            """, earlier(OperatorSession.idleLimit), earlier(OperatorSession.lifetime), limit)
        try OperatorActionTable(connection).remove(before: earlier(OperatorAction.retention), limit: limit)
    }

    // MARK: Rows

    private static func text(of roles: RoleGrants) -> String { roles.texts.joined(separator: " ") }

    private static func entry(_ row: Statement) -> Operator {
        let roles = row.text(2).split(separator: " ").compactMap { RoleGrant(String($0)) }
        return Operator(
            name: row.text(0), passwordHash: row.optionalText(1), roles: RoleGrants(roles), isDisabled: row.bool(3),
            createdAt: row.timestamp(4), signedInAt: row.optionalTimestamp(5), settings: row.text(6),
            hasFactor: row.bool(9), identity: identity(row))
    }

    private static func identity(_ row: Statement) -> OperatorIdentity? {
        guard let issuer = row.optionalText(7), let subject = row.optionalText(8) else { return nil }
        return OperatorIdentity(issuer: issuer, subject: subject)
    }
}
