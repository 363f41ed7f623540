import MartletCore

/// The properties of a database that decide whether this program can use it.
struct ServerCheck: Equatable {
    var version: Int32
    var encoding: String
    var collation: String
    var isStandby: Bool
    var isReadOnly: Bool
    /// The number of connections that the database user may open. A superuser may open more.
    var connections: Int32

    static let oldestVersion: Int32 = 150_000
    /// The number of connections that one node uses, plus one for an operator.
    static let neededConnections: Int32 = 7

    private static let statement = Statement.rare(
        [],
        """
        SELECT current_setting('server_version_num')::int4, pg_encoding_to_char(encoding)::text, datcollate::text,
            pg_is_in_recovery(), current_setting('transaction_read_only')::bool,
            least(
                current_setting('max_connections')::int4 - current_setting('superuser_reserved_connections')::int4
                    - coalesce(current_setting('reserved_connections', true), '0')::int4,
                nullif(datconnlimit, -1), (SELECT nullif(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user))
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
        let sentence =
            versionFault ?? writingFault(of: address) ?? encodingFault(of: address) ?? collationFault(of: address)
            ?? connectionFault(of: address)
        return sentence.map { StorageError(.unavailable, $0) }
    }

    var isNewEnough: Bool { version >= Self.oldestVersion }

    var versionFault: String? {
        isNewEnough
            ? nil : "PostgreSQL \(version / 10_000) is too old: this program needs version 15 or later."
    }

    func writingFault(of address: DatabaseAddress) -> String? {
        isStandby || isReadOnly ? ConnectFailure.readOnly.sentence(for: address) : nil
    }

    func encodingFault(of address: DatabaseAddress) -> String? {
        encoding == "UTF8" ? nil : "The encoding of \(address) is \(encoding), not UTF8. \(Self.remake)"
    }

    func collationFault(of address: DatabaseAddress) -> String? {
        ["C", "POSIX"].contains(collation)
            ? nil
            : "The collation of \(address) is \(collation), not C: names would be in another order after an upgrade of "
                + "the system. \(Self.remake)"
    }

    func connectionFault(of address: DatabaseAddress) -> String? {
        connections >= Self.neededConnections
            ? nil
            : "There are \(connections) connections to \(address), and a node needs \(Self.neededConnections). Raise "
                + "max_connections, or the limit of the user or the database."
    }

    private static let remake =
        "Make another one with createdb --template template0 --encoding UTF8 --locale C, and name it in the address."
}
