extension Migration {
    /// Makes the tables of the second factors of operators, and of the SHA-256 hashes of their recovery codes.
    static let operatorFactors = Migration(
        name: "operator factors",
        script: """
            CREATE TABLE operator_factors (
                id INTEGER PRIMARY KEY,
                operator TEXT NOT NULL UNIQUE REFERENCES operators ON DELETE CASCADE,
                sealed_secret BLOB NOT NULL,
                confirmed_at INTEGER,
                last_step INTEGER NOT NULL DEFAULT 0
            ) STRICT;
            CREATE TABLE operator_recovery_codes (
                operator TEXT NOT NULL REFERENCES operators ON DELETE CASCADE,
                hash BLOB NOT NULL,
                PRIMARY KEY (operator, hash)
            ) STRICT, WITHOUT ROWID;
            """)
}
