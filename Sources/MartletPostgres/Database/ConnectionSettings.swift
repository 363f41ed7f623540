import MartletCore
import MartletModel

/// The address of the database, and the settings of each connection to it.
struct ConnectionSettings: Sendable {
    let address: DatabaseAddress
    /// The schema that contains all tables.
    var schema = "martlet"
    /// The time limit of a read. A caller that waits longer than this for a write gets an error, because it is then
    /// unknown whether the write is stored.
    var patience = Duration.seconds(5)
    /// The place that the database must have among several clusters. With nil, any database will do.
    var place: ClusterPlace?
    /// Shared by all connections with these settings: the server that last accepted one of them is tried first.
    let choice = ServerChoice()

    /// Connects, and applies the settings that every statement of this program expects.
    ///
    /// The connection uses generic plans. With PostgreSQL's default, the server makes a new plan for each execution of
    /// a statement with arrays, and planning costs three times as much as running the statement. With
    /// `client_connection_check_interval` and `tcp_keepalives_*`, the server notices if this process is gone.
    func connect() throws(DatabaseFailure) -> Connection {
        let deadline = ContinuousClock.now + patience
        let connection = try Connection(address, by: deadline, choice)
        let (answer, lock) = ("\(patience.wholeMilliseconds)ms", "\((patience * 2 / 5).wholeMilliseconds)ms")
        let values = [
            ("search_path", schema), ("plan_cache_mode", "force_generic_plan"), ("statement_timeout", answer),
            ("lock_timeout", lock), ("idle_in_transaction_session_timeout", answer), ("jit", "off"),
            ("client_connection_check_interval", "2s"), ("max_parallel_workers_per_gather", "0"),
            ("timezone", "UTC"), ("tcp_keepalives_idle", "5"), ("tcp_keepalives_interval", "2"),
            ("tcp_keepalives_count", "3"),
        ]
        var batch = Batch()
        for (name, value) in values {
            batch.add(Self.setting) {
                $0.add(name)
                $0.add(value)
            }
        }
        try connection.run(batch, .until(deadline))
        try place?.check(address, connection, .until(deadline))
        return connection
    }

    private static let setting = Statement.rare([.text, .text], "SELECT set_config($1, $2, false)")
}
