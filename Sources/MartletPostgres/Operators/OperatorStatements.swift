import MartletCore

/// The statements on operators, their links and sessions.
///
/// A transaction that changes an operator's links, sessions or password locks the operator's row first. So changes of
/// one operator run one after another on all nodes, and cannot deadlock.
enum OperatorStatements {
    /// The columns of an operator `o`, in the order in which rows are read.
    static let columns = """
        o.name, o.password_hash, o.roles, o.is_disabled, o.created_at, o.signed_in_at, o.settings, o.issuer, o.subject,
        EXISTS (SELECT 1 FROM operator_factors f WHERE f.operator = o.folded_name AND f.confirmed_at IS NOT NULL)
        """
    static let columnCount: Int32 = 10
    private static let sessionColumns = "s.token_hash, s.created_at, s.used_at, s.confirmed_at, s.address, s.agent"

    static let any = Statement.rare([], "SELECT 1 FROM operators LIMIT 1")

    /// Lists the operators, each with a count of sessions and the expiry of an invitation. A session counts if it was
    /// last used after $1 and began after $2. An invitation is listed if it expires after $3.
    static let list = Statement.rare(
        [.int8, .int8, .int8],
        """
        SELECT \(columns),
            (SELECT count(*) FROM operator_sessions s WHERE s.operator = o.folded_name AND s.used_at > $1
                AND s.created_at > $2),
            (SELECT max(l.expires_at) FROM operator_links l WHERE l.operator = o.folded_name
                AND l.kind = '\(OperatorLink.Kind.invitation.rawValue)' AND l.expires_at > $3)
        FROM operators o ORDER BY o.folded_name
        """)
    static let find = Statement.rare([.bytes], "SELECT \(columns) FROM operators o WHERE o.folded_name = $1")
    static let lock = Statement.rare([.bytes], "\(find.sql) FOR UPDATE OF o")
    static let lockAll = Statement.rare([], "SELECT \(columns) FROM operators o ORDER BY o.folded_name FOR UPDATE OF o")

    static let put = Statement.rare(
        [.bytes, .bytes, .text, .texts, .bool, .int8, .bytes, .bytes, .bytes],
        """
        INSERT INTO operators
            (folded_name, name, password_hash, roles, is_disabled, created_at, settings, issuer, subject)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (folded_name) DO NOTHING
        """)

    // MARK: Links

    static let removeLinks = Statement.rare(
        [.bytes, .text], "DELETE FROM operator_links WHERE operator = $1 AND kind = $2")
    static let addLink = Statement.rare(
        [.bytes, .text, .int8, .bytes],
        """
        INSERT INTO operator_links (token_hash, operator, kind, expires_at)
        SELECT $1, folded_name, $2, $3 FROM operators WHERE folded_name = $4
        """)
    static let link = Statement.rare(
        [.bytes, .int8],
        """
        SELECT \(columns), l.kind, l.expires_at FROM operator_links l JOIN operators o ON o.folded_name = l.operator
        WHERE l.token_hash = $1 AND l.expires_at > $2 AND NOT o.is_disabled AND o.subject IS NULL
        """)
    /// If a link is used twice at the same time, the second use waits here for the first, and then finds no link.
    static let lockLink = Statement.rare([.bytes, .int8], "\(link.sql) FOR UPDATE OF o, l")
    static let removeLink = Statement.rare([.bytes], "DELETE FROM operator_links WHERE token_hash = $1")

    // MARK: Sessions

    static let addSession = Statement.rare(
        [.bytes, .bytes, .int8, .int8, .int8, .bytes, .bytes],
        """
        INSERT INTO operator_sessions (token_hash, operator, created_at, used_at, confirmed_at, address, agent)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """)
    /// Ends the least recently used sessions, if the operator has too many.
    static let limitSessions = Statement.rare(
        [.bytes, .bytes],
        """
        DELETE FROM operator_sessions WHERE token_hash IN
            (SELECT token_hash FROM operator_sessions WHERE operator = $1 AND token_hash <> $2
                ORDER BY used_at DESC OFFSET \(OperatorSession.countLimit - 1))
        """)
    static let signIn = Statement.rare(
        [.bytes, .int8], "UPDATE operators SET signed_in_at = $2 WHERE folded_name = $1")
    static let session = Statement.rare(
        [.bytes],
        """
        SELECT \(columns), \(sessionColumns)
        FROM operator_sessions s JOIN operators o ON o.folded_name = s.operator WHERE s.token_hash = $1
        """)
    static let sessions = Statement.rare(
        [.bytes],
        "SELECT \(sessionColumns) FROM operator_sessions s WHERE s.operator = $1 ORDER BY s.created_at DESC, s.token_hash"
    )
    /// The parameters are the session, the time of its use, and the time of its confirmation.
    static let confirmSession = Statement.rare(
        [.bytes, .int8, .int8],
        "UPDATE operator_sessions SET used_at = greatest(used_at, $2), confirmed_at = $3 WHERE token_hash = $1")
    static let touchSession = Statement.rare(
        [.bytes, .int8, .bool],
        """
        UPDATE operator_sessions SET used_at = greatest(used_at, $2),
            confirmed_at = CASE WHEN $3 THEN $2 ELSE confirmed_at END
        WHERE token_hash = $1
        """)
    static let removeSession = Statement.rare([.bytes], "DELETE FROM operator_sessions WHERE token_hash = $1")
    /// The second parameter is the session that is kept; NULL ends all sessions.
    static let endSessions = Statement.rare(
        [.bytes, .bytes], "DELETE FROM operator_sessions WHERE operator = $1 AND token_hash IS DISTINCT FROM $2")
    static let removeAllLinks = Statement.rare([.bytes], "DELETE FROM operator_links WHERE operator = $1")

    // MARK: Changes

    static let setRoles = Statement.rare(
        [.bytes, .texts], "UPDATE operators SET roles = $2 WHERE folded_name = $1")
    static let setDisabled = Statement.rare(
        [.bytes, .bool], "UPDATE operators SET is_disabled = $2 WHERE folded_name = $1")
    static let setPassword = Statement.rare(
        [.bytes, .text], "UPDATE operators SET password_hash = $2 WHERE folded_name = $1")
    static let setSettings = Statement.rare(
        [.bytes, .bytes], "UPDATE operators SET settings = $2 WHERE folded_name = $1")

    // MARK: Sweeping

    static let sweepLinks = Statement.rare(
        [.int8, .int8],
        """
        DELETE FROM operator_links WHERE token_hash = ANY(ARRAY(
            SELECT token_hash FROM operator_links WHERE expires_at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED))
        """)
    /// Removes sessions that were last used at or before $1, or began at or before $2.
    static let sweepSessions = Statement.rare(
        [.int8, .int8, .int8],
        """
        DELETE FROM operator_sessions WHERE token_hash = ANY(ARRAY(
            SELECT token_hash FROM operator_sessions WHERE used_at <= $1 OR created_at <= $2 LIMIT $3
            FOR UPDATE SKIP LOCKED))
        """)
}

/// The statements on the console's audit log.
enum OperatorActionStatements {
    private static let columns = "id, at, operator, address, role, action, hub, subject, answer"

    static let begin = Statement.rare(
        [.int8, .bytes, .bytes, .text, .bytes, .bytes, .bytes, .int8],
        """
        INSERT INTO operator_actions (at, operator, address, role, action, hub, subject, answer)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id
        """)
    static let end = Statement.rare(
        [.int8, .int8, .bytes],
        "UPDATE operator_actions SET answer = $2, subject = coalesce($3, subject) WHERE id = $1")
    static let all = Statement.rare(
        [.int8, .int8], "SELECT \(columns) FROM operator_actions WHERE id < $1 ORDER BY id DESC LIMIT $2")
    static let ofOperator = Statement.rare(
        [.int8, .int8, .bytes],
        "SELECT \(columns) FROM operator_actions WHERE id < $1 AND operator = $3 ORDER BY id DESC LIMIT $2")
    /// Examines only the entries with the lowest ids, because these entries are the oldest.
    static let sweep = Statement.rare(
        [.int8, .int8],
        """
        DELETE FROM operator_actions WHERE at <= $1 AND id = ANY(ARRAY(
            SELECT id FROM operator_actions ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED))
        """)
}
