extension Migration {
    /// What tells that a handle was reached although its channel is gone, or as the registration of another channel.
    ///
    /// `former_channels` has the channels that are gone, by the end of their key: of a token that is as good as the
    /// whole, and a quarter of its size. They stay as long as `registration_history` knows a registration of theirs.
    ///
    /// `followed` is the channel of a success that went to another handle than the member's own.
    static let followedHandles = Migration(
        name: "followed handles",
        script: """
            CREATE TABLE former_channels (
                id INTEGER PRIMARY KEY,
                hub INTEGER NOT NULL REFERENCES hubs,
                platform TEXT NOT NULL,
                ending ANY NOT NULL
            ) STRICT;
            CREATE INDEX former_channels_by_ending ON former_channels (hub, ending, platform);
            ALTER TABLE attempts ADD COLUMN followed INTEGER;
            CREATE INDEX attempts_followed ON attempts (delivery, followed) WHERE followed IS NOT NULL;
            """)
}
