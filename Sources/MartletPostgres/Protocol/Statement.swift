/// An SQL statement. Each connection prepares it at its first use, and keeps it prepared.
///
/// A statement of the hot path restricts each of its tables to one shard, and calls no volatile function. So a hub
/// could be moved to another database without changing the statement. `Scripts/check-schema` checks this in the texts
/// of the statements. The shard is always the first parameter.
struct Statement: Sendable {
    /// The SQL text. It is also the key by which a connection finds the prepared statement.
    let sql: String
    /// The types of the parameters, in order.
    let types: [ParameterType]

    /// Creates a statement of the hot path, which runs for requests and in one shard.
    static func hot(_ types: [ParameterType], _ sql: String) -> Statement { Statement(sql: sql, types: types) }

    /// Creates a statement that runs rarely: at the start, for changes of hubs, for operators and for sweeping.
    static func rare(_ types: [ParameterType] = [], _ sql: String) -> Statement { Statement(sql: sql, types: types) }

    static let begin = rare([], "BEGIN")
    /// Begins a transaction that only reads, and in which all reads see the same point in time.
    static let beginSnapshot = rare([], "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    static let commit = rare([], "COMMIT")
    static let rollback = rare([], "ROLLBACK")
}
