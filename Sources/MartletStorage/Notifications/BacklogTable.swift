import CMartletSQLite
public import MartletCore

/// The size of the backlog (the notifications that are accepted and not finished) of each hub and of all hubs together,
/// on the connection that writes.
///
/// Triggers report every change of a backlog within the transaction that makes it. So code that accepts, ends or
/// removes a notification does not need to update the backlog, and no request has to count rows. The sizes are kept
/// outside the database. In an in-memory table, updating them would take a sixth of the time of a send's writes.
struct BacklogTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// Counts the backlog that an earlier process has left, and begins to track changes. Called once for each
    /// connection that writes.
    func begin() throws(StorageError) {
        let left = try connection.all(Self.count) {
            (hub: $0.integer(0), notifications: Int($0.integer(1)), bytes: $0.integer(2))
        }
        let backlogs = Backlogs()
        for (hub, notifications, bytes) in left {
            backlogs.add(BacklogSize(notifications: notifications, bytes: bytes), to: hub)
        }
        backlogs.commit()
        try backlogs.define(on: connection)
        try connection.execute(Self.triggers)
    }

    /// Returns the limit that a hub would exceed with another notification of this size; nil if it would exceed none.
    func excess(of hub: Hub.ID, adding bytes: Int, _ limits: BacklogLimits) -> BacklogExcess? {
        limits.excess(hub: size(of: hub), all: size(of: nil), adding: Int64(bytes))
    }

    /// Returns the size of a backlog.
    /// - Parameter hub: The hub; nil for all hubs together.
    func size(of hub: Hub.ID?) -> BacklogSize {
        guard let backlogs = connection.observer(Backlogs.self) else { return BacklogSize(notifications: 0, bytes: 0) }
        return hub.map { backlogs.size(of: $0.rawValue) } ?? backlogs.all
    }

    /// The query that counts the unfinished notifications of each hub. A notification is unfinished while one of its
    /// deliveries is unfinished, or while the notification itself or one of its parts waits to begin.
    private static let count = """
        SELECT n.hub, count(*), sum(length(m.body))
        FROM (SELECT notification AS sequence FROM deliveries WHERE is_final = 0
                UNION SELECT sequence FROM notifications WHERE begun_at IS NULL AND finished_at IS NULL
                UNION SELECT p.notification FROM parts p CROSS JOIN notifications o ON o.sequence = p.notification
                    WHERE p.begun_at IS NULL AND o.finished_at IS NULL) u
            CROSS JOIN notifications n ON n.sequence = u.sequence
            CROSS JOIN messages m ON m.notification = n.sequence
        GROUP BY n.hub
        """

    private static let triggers = """
        CREATE TEMP TRIGGER backlog_grows AFTER INSERT ON main.messages BEGIN
            SELECT \(Backlogs.function)(
                (SELECT hub FROM notifications WHERE sequence = NEW.notification), 1, length(NEW.body));
        END;
        CREATE TEMP TRIGGER backlog_changes AFTER UPDATE OF body ON main.messages BEGIN
            SELECT \(Backlogs.function)(
                (SELECT hub FROM notifications WHERE sequence = NEW.notification), 0,
                length(NEW.body) - length(OLD.body));
        END;
        CREATE TEMP TRIGGER backlog_shrinks AFTER UPDATE OF finished_at ON main.notifications
            WHEN OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL
        BEGIN
            SELECT \(Backlogs.function)(
                NEW.hub, -1, -(SELECT length(body) FROM messages WHERE notification = NEW.sequence));
        END;
        CREATE TEMP TRIGGER backlog_goes BEFORE DELETE ON main.notifications WHEN OLD.finished_at IS NULL BEGIN
            SELECT \(Backlogs.function)(
                OLD.hub, -1, -(SELECT length(body) FROM messages WHERE notification = OLD.sequence));
        END;
        """
}

/// The sizes of backlogs as reported by the triggers. Belongs to the thread of its connection.
final class Backlogs: TransactionObserver {
    /// The name of the SQL function that the triggers call with `(hub, notifications, bytes)`. The function adds both
    /// numbers to the hub's backlog.
    static let function = "martlet_add_backlog"

    private(set) var all = BacklogSize(notifications: 0, bytes: 0)
    private var sizes: [Int64: BacklogSize] = [:]
    /// The changes that the open transaction has made so far.
    private var changes: [(hub: Int64, change: BacklogSize)] = []

    /// Defines the function for the triggers on a connection.
    func define(on connection: Connection) throws(StorageError) {
        try connection.define(Self.function, argumentCount: 3, changing: self) { context, _, values in
            guard let backlogs = sqlite3_user_data(context), let values else { return }
            let change = BacklogSize(
                notifications: Int(sqlite3_value_int64(values[1])), bytes: sqlite3_value_int64(values[2]))
            Unmanaged<Backlogs>.fromOpaque(backlogs).takeUnretainedValue()
                .add(change, to: sqlite3_value_int64(values[0]))
        }
    }

    func size(of hub: Int64) -> BacklogSize { sizes[hub] ?? BacklogSize(notifications: 0, bytes: 0) }

    func add(_ change: BacklogSize, to hub: Int64) {
        changes.append((hub, change))
        apply(change, to: hub)
    }

    /// Makes the changes since the last commit permanent: a later `rollBack` keeps them.
    func commit() {
        changes.removeAll(keepingCapacity: true)
    }

    /// Reverts the changes since the last commit.
    func rollBack() {
        for (hub, change) in changes {
            apply(BacklogSize(notifications: -change.notifications, bytes: -change.bytes), to: hub)
        }
        commit()
    }

    private func apply(_ change: BacklogSize, to hub: Int64) {
        all.add(change)
        sizes[hub, default: BacklogSize(notifications: 0, bytes: 0)].add(change)
    }
}

extension BacklogSize {
    fileprivate mutating func add(_ other: BacklogSize) {
        notifications += other.notifications
        bytes += other.bytes
    }
}

extension SQLiteStorage {
    /// Returns the size of a hub's backlog (the notifications that are accepted and not finished).
    /// - Parameter hub: The hub; nil for all hubs together.
    public func backlogSize(of hub: Hub.ID?) async throws(StorageError) -> BacklogSize {
        try await writer.write { connection throws(StorageError) in BacklogTable(connection).size(of: hub) }
    }
}
