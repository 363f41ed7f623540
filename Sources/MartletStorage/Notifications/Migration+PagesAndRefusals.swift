extension Migration {
    /// Adds the time of a roll-out's last page, and a mark for notifications with refusals.
    ///
    /// `sent_at` of a roll-out is the time when its last page began. After a restart, the time of the next page is
    /// computed from `sent_at` and the pace of the roll-out.
    ///
    /// `has_refusals` has an index, so that a list of the notifications with refusals can be made without reading all
    /// other notifications.
    static let pagesAndRefusals = Migration(
        name: "pages and refusals",
        script: """
            ALTER TABLE rollouts ADD COLUMN sent_at INTEGER;
            ALTER TABLE notifications ADD COLUMN has_refusals INTEGER NOT NULL DEFAULT 0;
            UPDATE notifications SET has_refusals = 1 WHERE sequence IN (
                SELECT d.notification FROM deliveries d
                WHERE EXISTS (SELECT 1 FROM refusals r WHERE r.delivery = d.id));
            CREATE INDEX notifications_with_refusals ON notifications (hub, id) WHERE has_refusals = 1;
            """)
}
