public import MartletCore

/// How much is accepted and not finished, of each hub and (as hub 0) of all, on the connection that writes.
///
/// The figures are rows of a table in memory, which triggers keep in step within the transactions that change anything:
/// whatever accepts, ends or removes a notification need not think of them, and no request counts anything.
struct BacklogTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// Counts what an earlier process has left, and begins to keep count. Once for each connection that writes.
    func begin() throws(StorageError) {
        try connection.execute(Self.script)
    }

    /// What stands between a hub and another notification of so many bytes; nil where nothing does.
    func excess(of hub: Hub.ID, adding bytes: Int, _ limits: BacklogLimits) throws(StorageError) -> BacklogExcess? {
        let (own, all) = (try figures(of: hub.rawValue), try figures(of: Self.all))
        return limits.excess(hub: own, all: all, adding: Int64(bytes))
    }

    /// - Parameter hub: nil: of all together.
    func size(of hub: Hub.ID?) throws(StorageError) -> BacklogSize {
        try figures(of: hub?.rawValue ?? Self.all)
    }

    private func figures(of hub: Int64) throws(StorageError) -> BacklogSize {
        let found = try connection.first("SELECT notifications, bytes FROM backlogs WHERE hub = ?", hub) {
            BacklogSize(notifications: Int($0.integer(0)), bytes: $0.integer(1))
        }
        return found ?? BacklogSize(notifications: 0, bytes: 0)
    }

    private static let all: Int64 = 0

    /// A notification is not finished while a delivery of it is not, or while it waits for its time.
    private static let script = """
        CREATE TEMP TABLE backlogs (
            hub INTEGER PRIMARY KEY, notifications INTEGER NOT NULL, bytes INTEGER NOT NULL
        ) STRICT;
        INSERT INTO backlogs
            SELECT n.hub, count(*), sum(length(m.body))
            FROM (SELECT notification AS sequence FROM deliveries WHERE is_final = 0
                    UNION SELECT sequence FROM notifications WHERE begun_at IS NULL AND finished_at IS NULL) u
                CROSS JOIN notifications n ON n.sequence = u.sequence
                CROSS JOIN messages m ON m.notification = n.sequence
            GROUP BY n.hub;
        INSERT INTO backlogs SELECT \(all), ifnull(sum(notifications), 0), ifnull(sum(bytes), 0) FROM backlogs;
        CREATE TEMP TRIGGER backlog_grows AFTER INSERT ON main.messages BEGIN
            INSERT INTO backlogs
                SELECT hub, 1, length(NEW.body) FROM notifications WHERE sequence = NEW.notification
                ON CONFLICT (hub) DO UPDATE SET notifications = notifications + 1, bytes = bytes + excluded.bytes;
            UPDATE backlogs SET notifications = notifications + 1, bytes = bytes + length(NEW.body)
                WHERE hub = \(all);
        END;
        CREATE TEMP TRIGGER backlog_changes AFTER UPDATE OF body ON main.messages BEGIN
            UPDATE backlogs SET bytes = bytes + length(NEW.body) - length(OLD.body)
                WHERE hub IN (\(all), (SELECT hub FROM notifications WHERE sequence = NEW.notification));
        END;
        CREATE TEMP TRIGGER backlog_shrinks AFTER UPDATE OF finished_at ON main.notifications
            WHEN OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL
        BEGIN
            UPDATE backlogs SET notifications = notifications - 1,
                    bytes = bytes - (SELECT length(body) FROM messages WHERE notification = NEW.sequence)
                WHERE hub IN (\(all), NEW.hub);
        END;
        CREATE TEMP TRIGGER backlog_goes BEFORE DELETE ON main.notifications WHEN OLD.finished_at IS NULL BEGIN
            UPDATE backlogs SET notifications = notifications - 1,
                    bytes = bytes - (SELECT length(body) FROM messages WHERE notification = OLD.sequence)
                WHERE hub IN (\(all), OLD.hub);
        END;
        """
}

extension SQLiteStorage {
    /// How much of a hub is accepted and not finished.
    /// - Parameter hub: nil: of all together.
    public func backlogSize(of hub: Hub.ID?) async throws(StorageError) -> BacklogSize {
        try await writer.write { connection throws(StorageError) in try BacklogTable(connection).size(of: hub) }
    }
}
