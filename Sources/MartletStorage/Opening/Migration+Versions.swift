extension Migration {
    /// Makes the tables of the program's versions and of the last backup. Times are in milliseconds since 1970.
    /// `schema` is the number of migration steps that the program's version had.
    static let versions = Migration(
        name: "versions",
        script: """
            CREATE TABLE versions (
                at INTEGER NOT NULL,
                version TEXT NOT NULL,
                "commit" TEXT NOT NULL,
                schema INTEGER NOT NULL
            ) STRICT;
            CREATE TABLE last_backup (at INTEGER NOT NULL) STRICT;
            """)
}
