import MartletCore
import MartletModel

/// Stores and reads the console's audit log, on one connection.
struct OperatorActionTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    func insert(_ action: OperatorAction) throws(StorageError) -> OperatorAction.ID {
        try connection.run(
            """
            INSERT INTO operator_actions (at, operator, address, role, action, hub, subject, answer)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """, action.at, action.operatorName, action.address, action.role, action.action, action.hub,
            action.subject, action.answer)
        return OperatorAction.ID(rawValue: connection.lastInsertedRow)
    }

    func end(_ id: OperatorAction.ID, answer: Int, subject: String?) throws(StorageError) {
        try connection.run(
            "UPDATE operator_actions SET answer = ?, subject = COALESCE(?, subject) WHERE id = ?", answer, subject,
            id.rawValue)
    }

    func entries(_ query: OperatorActionQuery) throws(StorageError) -> [(OperatorAction.ID, OperatorAction)] {
        try connection.all(
            """
            SELECT id, at, operator, address, role, action, hub, subject, answer FROM operator_actions
            WHERE id < ?1 AND \(query.operatorName == nil ? "?2 IS NULL" : "operator = ?2")
            ORDER BY id DESC LIMIT ?3
            """, query.before?.rawValue ?? .max, query.operatorName, query.limit
        ) { row in
            (
                OperatorAction.ID(rawValue: row.integer(0)),
                OperatorAction(
                    at: row.timestamp(1), operatorName: row.text(2), address: row.text(3), role: row.text(4),
                    action: row.text(5), hub: row.optionalText(6), subject: row.optionalText(7),
                    answer: row.optionalInteger(8).map { Int($0) })
            )
        }
    }

    /// Removes entries that were made before a time. Examines only the `limit` oldest entries, because entries are in
    /// the order of their ids.
    func remove(before timestamp: Timestamp, limit: Int) throws(StorageError) {
        try connection.run(
            """
            DELETE FROM operator_actions WHERE id IN
                (SELECT id FROM (SELECT id, at FROM operator_actions ORDER BY id LIMIT ?2) WHERE at < ?1)
            """, timestamp, limit)
    }
}
