import MartletCore

/// The statements that one query has taken from a connection. They are given back together.
struct BorrowedStatements {
    let connection: Connection
    private var taken: [Statement] = []

    init(_ connection: Connection) {
        self.connection = connection
    }

    mutating func take(_ sql: String) throws(StorageError) -> Statement {
        let statement = try connection.take(sql)
        taken.append(statement)
        return statement
    }

    mutating func giveBack() {
        for statement in taken { connection.giveBack(statement) }
        taken = []
    }
}
