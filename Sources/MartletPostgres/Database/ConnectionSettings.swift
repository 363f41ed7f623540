import MartletCore
import MartletModel

/// How connections are made and set up.
struct ConnectionSettings: Sendable {
    let address: DatabaseAddress
    /// The schema in which all tables are.
    var schema = "martlet"
    /// How long a read may take, and how long a caller waits for a write before it hears that nobody knows.
    var patience = Duration.seconds(5)

    /// Connects, and sets what every statement of this program expects.
    ///
    /// Generic plans: with the default, each execution of a statement with arrays is planned anew, which costs three
    /// times as much as the statement. The server notices by itself when this process is gone
    /// (`client_connection_check_interval`, `tcp_keepalives_*`).
    func connect() throws(DatabaseFailure) -> Connection {
        let deadline = ContinuousClock.now + patience
        let connection = try Connection(address, by: deadline)
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
        return connection
    }

    private static let setting = Statement.rare([.text, .text], "SELECT set_config($1, $2, false)")
}
