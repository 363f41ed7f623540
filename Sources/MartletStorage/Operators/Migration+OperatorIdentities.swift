extension Migration {
    /// Adds the identities of operators at identity providers. `issuer` and `subject` identify an operator at a
    /// provider; both are NULL for an operator who signs in with a password.
    static let operatorIdentities = Migration(
        name: "operator identities",
        script: """
            ALTER TABLE operators ADD COLUMN issuer TEXT;
            ALTER TABLE operators ADD COLUMN subject TEXT;
            CREATE UNIQUE INDEX operators_by_identity ON operators (issuer, subject) WHERE subject IS NOT NULL;
            """)
}
