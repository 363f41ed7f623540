import MartletCore
import MartletModel

/// The settings and the state of a database, besides the properties that `ServerCheck` reads.
struct DatabaseFacts: Equatable {
    /// The settings that apply to the database user, by name.
    var settings: [String: String]
    /// The names of the standbys that are connected and receive changes.
    var standbys: [String]
    /// Whether the database user may see the standbys and sessions of other users.
    var seesOthers: Bool
    /// The number of nodes whose lease has not ended.
    var nodes: Int
    var schema: Migrator.State
    /// The reason why no node starts on the database although the schema is right; nil if there is none.
    var refusal: StorageError?
    /// Whether the secret key that a node here would have is that of the database; nil if this is not known.
    var key: KeyState?
    /// The tables with many dead rows, at most five.
    var deadRows: [DeadRows]
    /// The sessions whose open transaction has been idle for more than a minute, at most five.
    var idleSessions: [IdleSession]
    /// The time by which the database's clock is ahead of this machine's clock; negative if it is behind.
    var clockDifference: Duration

    struct DeadRows: Equatable {
        var table: String
        var dead: Int64
        var live: Int64
    }

    struct IdleSession: Equatable {
        var process: Int32
        var seconds: Int64
        /// Whether the session moves data. Such a session keeps its transaction open until the move has ended.
        var isMove = false
    }

    enum KeyState: Equatable {
        /// Nothing has been sealed yet.
        case unsealed
        /// The key opens what is sealed.
        case fits
        /// Something is sealed, and there is no key.
        case missing
        /// Something is sealed with another key.
        case differs
    }

    /// The names of the settings to read. `ConnectionSettings` overrides none of them.
    static let settingNames = [
        "fsync", "full_page_writes", "synchronous_commit", "synchronous_standby_names", "wal_level", "autovacuum",
        "track_counts", "data_checksums", "idle_session_timeout", "transaction_timeout",
        "default_transaction_isolation", "client_min_messages",
    ]
}

extension DatabaseFacts {
    /// Reads the facts from a server.
    init(
        _ connection: Connection, _ settings: ConnectionSettings, _ time: any TimeSource,
        _ patience: Connection.Patience, key nodeKey: NodeKey = .unreadable
    ) throws(DatabaseFailure) {
        let migrator = Migrator(migrations: Migration.all, schema: settings.schema)
        schema = try migrator.state(connection, patience)
        if schema == .current, let place = try connection.run(Batch(MovedAway.stored), patience)[0][0].optionalText(0) {
            refusal = MovedAway.refusal(place, settings.schema)
        }
        key = try Self.state(of: nodeKey, schema, connection, patience)
        nodes = schema.isUsable ? try Self.nodes(connection, patience) : 0
        let before = time.now
        let clock = try connection.run(Batch(Self.clock), patience)[0][0].timestamp(0)
        // The server read its clock between `before` and the present. So the difference lies between `early` and
        // `late`, and the value closest to zero is taken.
        let (early, late) = (clock - time.now, clock - before)
        clockDifference = early > .zero ? early : late < .zero ? late : .zero
        var batch = Batch(Self.values) { $0.add(Self.settingNames) }
        batch.add(Self.followers)
        batch.add(Self.deadTuples) { $0.add(settings.schema) }
        batch.add(Self.idle)
        let rows = try connection.run(batch, patience)
        self.settings = Dictionary(
            (0..<rows[0].count).map { (rows[0][$0].text(0), rows[0][$0].text(1)) }, uniquingKeysWith: { $1 })
        seesOthers = (0..<rows[1].count).allSatisfy { rows[1][$0].bool(1) }
        standbys = (0..<rows[1].count).compactMap { rows[1][$0].optionalText(0) }
        deadRows = (0..<rows[2].count).map {
            DeadRows(table: rows[2][$0].text(0), dead: rows[2][$0].integer(1), live: rows[2][$0].integer(2))
        }
        idleSessions = (0..<rows[3].count).map {
            IdleSession(
                process: rows[3][$0].integer32(0), seconds: rows[3][$0].integer(1),
                isMove: rows[3][$0].optionalText(2) == BulkConnection.applicationName)
        }
    }

    private static func state(
        of key: NodeKey, _ schema: Migrator.State, _ connection: Connection, _ patience: Connection.Patience
    ) throws(DatabaseFailure) -> KeyState? {
        switch schema {
        case .none: return .unsealed
        case .unusable: return nil
        case .current, .older: break
        }
        guard let sealed = try KeyCheck.storedText(connection, patience) else { return .unsealed }
        switch key {
        case .given(let sealer): return KeyCheck.isOf(sealer, sealed) ? .fits : .differs
        case .absent: return .missing
        case .unreadable: return nil
        }
    }

    private static func nodes(
        _ connection: Connection, _ patience: Connection.Patience
    ) throws(DatabaseFailure) -> Int {
        Int(try connection.run(Batch(liveNodes), patience)[0][0].integer(0))
    }

    private static let clock = Statement.rare([], "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8")
    private static let liveNodes = Statement.rare(
        [], "SELECT count(*) FROM nodes n WHERE NOT n.is_dead AND n.until > clock_timestamp()")
    /// Reads settings. A setting that this version of PostgreSQL does not have is left out.
    private static let values = Statement.rare(
        [.texts], "SELECT name::text, setting::text FROM pg_settings WHERE name = ANY($1)")
    /// Returns at least one row, because each row also says whether the user may see the standbys of other users.
    private static let followers = Statement.rare(
        [],
        """
        SELECT r.application_name::text, p.sees FROM (
            SELECT pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') AS sees) p
        LEFT JOIN pg_stat_replication r ON r.state = 'streaming' ORDER BY 1
        """)
    /// Finds tables in which autovacuum falls behind. It normally begins when a fifth of a table's rows are dead. Small
    /// tables are left out: if their rows change often, most rows are dead for short times.
    private static let deadTuples = Statement.rare(
        [.text],
        """
        SELECT relname::text, n_dead_tup, n_live_tup FROM pg_stat_user_tables
        WHERE schemaname = $1 AND n_dead_tup > 20000 AND n_dead_tup > n_live_tup / 2
        ORDER BY n_dead_tup DESC LIMIT 5
        """)
    private static let idle = Statement.rare(
        [],
        """
        SELECT pid, extract(epoch FROM clock_timestamp() - state_change)::int8, application_name FROM pg_stat_activity
        WHERE datname = current_database() AND state LIKE 'idle in transaction%'
            AND state_change < clock_timestamp() - interval '1 minute'
        ORDER BY state_change LIMIT 5
        """)
}
