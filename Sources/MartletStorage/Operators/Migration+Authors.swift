extension Migration {
    /// Makes the table of the authors of notifications. A notification names its author by a number. Numbers are never
    /// used again, so the notifications of a removed author have no author.
    static let authors = Migration(
        name: "authors",
        script: """
            CREATE TABLE authors (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                name TEXT NOT NULL UNIQUE
            ) STRICT;
            ALTER TABLE notifications ADD COLUMN author INTEGER;
            """)
}
