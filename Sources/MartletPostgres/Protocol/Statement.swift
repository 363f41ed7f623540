/// A statement that connections prepare at its first use and keep.
///
/// A statement of the hot path names its shard in each of its tables, and has no volatile function: then a hub can be
/// moved to another database, and nothing else has to change. `Scripts/check-schema` reads these texts. The shard is
/// always the first parameter.
struct Statement: Sendable {
    /// The text; it is also the key under which a connection keeps the prepared statement.
    let sql: String
    /// The types of the parameters, in order.
    let types: [ParameterType]

    /// Creates a statement that runs for requests, in one shard.
    static func hot(_ types: [ParameterType], _ sql: String) -> Statement { Statement(sql: sql, types: types) }

    /// Creates a statement that runs rarely: at the start, for changes of hubs, for operators and for sweeping.
    static func rare(_ types: [ParameterType] = [], _ sql: String) -> Statement { Statement(sql: sql, types: types) }

    static let begin = rare([], "BEGIN")
    /// Begins a transaction that only reads, at one point in time.
    static let beginSnapshot = rare([], "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    static let commit = rare([], "COMMIT")
    static let rollback = rare([], "ROLLBACK")
}
