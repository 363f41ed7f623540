extension Migration {
    /// Adds the data that shows whether a handle was already reached: through a channel that has been removed since, or
    /// by the push to a member of another channel.
    ///
    /// `former_channels` contains the removed channels, identified by the end of their key. The end of a long token,
    /// such as one of FCM, identifies the channel as well as the whole key does, and is much shorter. A row is kept as
    /// long as `registration_history` contains a registration of its channel.
    ///
    /// If a push reached a handle other than that of its member, `followed` is the channel of the reached handle;
    /// otherwise it is NULL.
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
