extension Migration {
    /// `send` is the id of the notification that was sent from the campaign. The notification's row may be removed
    /// before the campaign's. `campaign_numbers` has the last campaign number of each shard, so that the number of a
    /// removed campaign is not used again.
    static let campaigns = Migration(
        name: "campaigns",
        script: """
            CREATE TABLE campaigns (
                shard int4 NOT NULL,
                id int8 NOT NULL,
                name bytea NOT NULL,
                draft bytea NOT NULL,
                version int8 NOT NULL,
                send bytea,
                created_at int8 NOT NULL,
                changed_at int8 NOT NULL,
                changed_by bytea NOT NULL,
                PRIMARY KEY (shard, id)
            );
            CREATE TABLE campaign_numbers (
                shard int4 NOT NULL,
                last int8 NOT NULL,
                PRIMARY KEY (shard)
            );
            """)
}
