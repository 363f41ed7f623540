extension Migration {
    /// The lifetime in milliseconds above which a notification is in the index `long_notifications`: 24 hours, like
    /// `NotificationIntake.lifetime`. This value is part of the schema and never changes.
    static let longLifetime = 86_400_000

    /// Adds an index of the notifications that may be in progress for longer than the default lifetime, ordered by the
    /// time at which they began. Former states of registrations are kept back to the time at which the oldest of these
    /// notifications began. Most notifications are not in the index, so storing them costs no more than before.
    static let longNotifications = Migration(
        name: "long notifications",
        script: """
            CREATE INDEX long_notifications ON notifications (begun_at)
                WHERE expires_at - begun_at > \(longLifetime);
            """)
}
