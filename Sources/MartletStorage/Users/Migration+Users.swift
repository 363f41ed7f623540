extension Migration {
    static let users = Migration(
        name: "users",
        script: """
            CREATE TABLE users (
                folded_name TEXT NOT NULL PRIMARY KEY,
                name TEXT NOT NULL,
                password_hash TEXT NOT NULL,
                created_at INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE user_roles (
                user TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
                role TEXT NOT NULL,
                PRIMARY KEY (user, role)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE sessions (
                token_hash BLOB NOT NULL PRIMARY KEY,
                user TEXT NOT NULL REFERENCES users ON DELETE CASCADE,
                created_at INTEGER NOT NULL,
                expires_at INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX sessions_by_user ON sessions (user);
            CREATE INDEX sessions_by_expiry ON sessions (expires_at);
            """)
}
