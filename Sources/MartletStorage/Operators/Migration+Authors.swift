extension Migration {
    /// The authors of sends. A send names its author by a number, which is never used again, so that the sends of a
    /// removed author become nobody's.
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
