import MartletCore

/// The properties of a database that decide whether this program can use it.
struct ServerCheck: Equatable {
    var version: Int32
    var encoding: String
    var collation: String
    var isStandby: Bool
    var isReadOnly: Bool
    /// The maximum number of connections of users other than superusers.
    var connections: Int32

    static let oldestVersion: Int32 = 150_000
    /// The connections that one node uses, and one for an operator.
    static let neededConnections: Int32 = 7

    private static let statement = Statement.rare(
        [],
        """
        SELECT current_setting('server_version_num')::int4, pg_encoding_to_char(encoding)::text, datcollate::text,
            pg_is_in_recovery(), current_setting('transaction_read_only')::bool,
            current_setting('max_connections')::int4 - current_setting('superuser_reserved_connections')::int4
        FROM pg_database WHERE datname = current_database()
        """)

    init(
        version: Int32, encoding: String, collation: String, isStandby: Bool, isReadOnly: Bool, connections: Int32
    ) {
        self.version = version
        self.encoding = encoding
        self.collation = collation
        self.isStandby = isStandby
        self.isReadOnly = isReadOnly
        self.connections = connections
    }

    /// Reads the properties of the database of a connection.
    init(_ connection: Connection, _ patience: Connection.Patience) throws(DatabaseFailure) {
        let rows = try connection.run(Batch(Self.statement), patience)[0]
        guard rows.count == 1 else { throw .corrupt("The database does not know itself in pg_database.") }
        let row = rows[0]
        self.init(
            version: row.integer32(0), encoding: row.text(1), collation: row.text(2), isStandby: row.bool(3),
            isReadOnly: row.bool(4), connections: row.integer32(5))
    }

    /// Returns the first reason why the database cannot be used, and what to do; nil if it can be used.
    func fault(of address: DatabaseAddress) -> StorageError? {
        let remake =
            "Make another one with createdb --template template0 --encoding UTF8 --locale C, and name it in the "
            + "address."
        let sentence: String? =
            if version < Self.oldestVersion {
                "PostgreSQL \(version / 10_000) is too old: this program needs version 15 or later."
            } else if isStandby || isReadOnly {
                ConnectFailure.readOnly.sentence(for: address)
            } else if encoding != "UTF8" {
                "The encoding of \(address) is \(encoding), not UTF8. \(remake)"
            } else if !["C", "POSIX"].contains(collation) {
                "The collation of \(address) is \(collation), not C: names would be in another order after an upgrade "
                    + "of the system. \(remake)"
            } else if connections < Self.neededConnections {
                "\(address) allows \(connections) connections, and a node needs \(Self.neededConnections). Raise "
                    + "max_connections."
            } else {
                nil
            }
        return sentence.map { StorageError(.unavailable, $0.prefix(1).uppercased() + $0.dropFirst()) }
    }
}
