extension Migration {
    /// Makes a table for the refusals and attempts of pages. A row has the refusals and attempts of some members of a
    /// page as one value (`PageRecords`). The key of the row is the last of these members. The rows of a delivery are
    /// about members in ascending order and never overlap. The tables `refusals` and `attempts` have the records of
    /// retries, and records that earlier versions wrote. If a member has records both in `page_records` and in those
    /// tables, the records in those tables are newer.
    ///
    /// The columns `refusals` and `attempts` are the numbers of refusals and attempts in the row's `PageRecords`.
    static let pageRecords = Migration(
        name: "page records",
        script: """
            CREATE TABLE page_records (
                delivery INTEGER NOT NULL REFERENCES deliveries ON DELETE CASCADE,
                last_channel INTEGER NOT NULL,
                last_registration INTEGER NOT NULL,
                refusals INTEGER NOT NULL,
                attempts INTEGER NOT NULL,
                records BLOB NOT NULL,
                PRIMARY KEY (delivery, last_channel, last_registration)
            ) STRICT, WITHOUT ROWID;
            """)
}
