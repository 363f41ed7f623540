/// The statements that a connection has prepared. There can be any number of tag expressions, each with its own
/// statement, so only the most recently used statements are kept.
struct PreparedStatements {
    private var names: [String: (name: String, lastUse: Int)] = [:]
    private var uses = 0
    private var made = 0
    private let limit: Int

    init(limit: Int = 200) {
        self.limit = limit
    }

    /// The steps that are needed before a statement can run.
    struct Use: Equatable {
        var name: String
        var isNew = false
        /// The name of a prepared statement that must be removed first to make room; nil if there is room.
        var evicted: String?
    }

    mutating func use(_ sql: String) -> Use {
        uses += 1
        if let known = names[sql] {
            names[sql]?.lastUse = uses
            return Use(name: known.name)
        }
        var use = Use(name: "s\(made)", isNew: true)
        made += 1
        if names.count >= limit, let oldest = names.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            use.evicted = oldest.value.name
            names[oldest.key] = nil
        }
        names[sql] = (use.name, uses)
        return use
    }

    /// Forgets a statement whose preparation failed.
    mutating func forget(_ sql: String) {
        names[sql] = nil
    }
}
