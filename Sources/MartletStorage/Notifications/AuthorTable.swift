import MartletCore
import MartletModel

/// Stores and reads the authors of notifications, on one connection.
struct AuthorTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// Returns the number of an author, and adds the author if it is new.
    func number(of author: SendAuthor) throws(StorageError) -> Int64 {
        if let known = try known(author) { return known }
        try connection.run("INSERT INTO authors (name) VALUES (?)", author.description)
        return connection.lastInsertedRow
    }

    /// Returns the number of an author; nil if the author has sent nothing.
    func known(_ author: SendAuthor) throws(StorageError) -> Int64? {
        try connection.first("SELECT id FROM authors WHERE name = ?", author.description) { $0.integer(0) }
    }

    func origin(of notification: Int64) throws(StorageError) -> SendOrigin {
        let found = try connection.first(
            """
            SELECT a.name, n.original, o.id FROM notifications n LEFT JOIN authors a ON a.id = n.author
                LEFT JOIN notifications o ON o.sequence = n.original
            WHERE n.sequence = ?
            """, notification
        ) { row in
            SendOrigin(
                author: row.optionalText(0).flatMap { SendAuthor($0) }, isResend: !row.isNull(1),
                original: row.isNull(2) ? nil : NotificationID(bytes: row.bytes(2)))
        }
        return found ?? SendOrigin()
    }

    /// Removes an author. Its notifications stay, without an author.
    func remove(_ author: SendAuthor) throws(StorageError) {
        try connection.run("DELETE FROM authors WHERE name = ?", author.description)
    }
}
