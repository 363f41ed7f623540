extension Migration {
    /// Whom an operator is at an identity provider; null for an operator who signs in with a password.
    static let operatorIdentities = Migration(
        name: "operator identities",
        script: """
            ALTER TABLE operators ADD COLUMN issuer TEXT;
            ALTER TABLE operators ADD COLUMN subject TEXT;
            CREATE UNIQUE INDEX operators_by_identity ON operators (issuer, subject) WHERE subject IS NOT NULL;
            """)
}
