extension Migration {
    /// Marks the latest of the deliveries with the same collapse key, anchor and expression (`is_latest`). Only this
    /// delivery is examined. So even if thousands of unfinished deliveries have one key, each of them reads only one
    /// row.
    static let collapseKeys = Migration(
        name: "collapse keys",
        script: """
            CREATE TABLE new_collapses (
                hub INTEGER NOT NULL REFERENCES hubs ON DELETE CASCADE,
                platform TEXT NOT NULL,
                key TEXT NOT NULL,
                anchor TEXT NOT NULL,
                delivery INTEGER NOT NULL REFERENCES deliveries ON DELETE CASCADE,
                expression TEXT NOT NULL,
                last_channel INTEGER NOT NULL,
                is_latest INTEGER NOT NULL,
                PRIMARY KEY (hub, platform, key, anchor, expression, delivery)
            ) STRICT, WITHOUT ROWID;
            INSERT INTO new_collapses
            SELECT hub, platform, key, anchor, delivery, coalesce(expression, ''), last_channel, 0 FROM collapses;
            UPDATE new_collapses SET is_latest = 1
            WHERE delivery = (SELECT max(delivery) FROM new_collapses o
                WHERE o.hub = new_collapses.hub AND o.platform = new_collapses.platform AND o.key = new_collapses.key
                    AND o.anchor = new_collapses.anchor AND o.expression = new_collapses.expression);
            DROP TABLE collapses;
            ALTER TABLE new_collapses RENAME TO collapses;
            CREATE INDEX collapses_latest ON collapses (hub, platform, key, delivery) WHERE is_latest = 1;
            CREATE INDEX collapses_latest_by_anchor ON collapses (hub, platform, key, anchor, delivery)
                WHERE is_latest = 1;
            CREATE INDEX collapses_by_delivery ON collapses (delivery);
            CREATE TRIGGER collapses_end AFTER DELETE ON collapses WHEN OLD.is_latest = 1 BEGIN
                UPDATE collapses SET is_latest = 1
                WHERE (hub, platform, key, anchor, expression)
                        = (OLD.hub, OLD.platform, OLD.key, OLD.anchor, OLD.expression)
                    AND delivery = (SELECT max(delivery) FROM collapses
                        WHERE hub = OLD.hub AND platform = OLD.platform AND key = OLD.key AND anchor = OLD.anchor
                            AND expression = OLD.expression);
            END;
            CREATE INDEX registration_history_by_channel ON registration_history (channel);
            """)
}
