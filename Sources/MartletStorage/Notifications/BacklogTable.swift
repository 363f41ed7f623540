import CMartletSQLite
public import MartletCore

/// How much is accepted and not finished, of each hub and of all, on the connection that writes.
///
/// Triggers tell of every change within the transactions that make them: whatever accepts, ends or removes a notification
/// need not think of it, and no request counts anything. The figures lie beside the database: as rows of a table in memory
/// they cost a sixth of what is written for a send.
struct BacklogTable {
    private let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// Counts what an earlier process has left, and begins to keep count. Once for each connection that writes.
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

    /// What keeps a hub from taking another notification of so many bytes; nil where nothing does.
    func excess(of hub: Hub.ID, adding bytes: Int, _ limits: BacklogLimits) -> BacklogExcess? {
        limits.excess(hub: size(of: hub), all: size(of: nil), adding: Int64(bytes))
    }

    /// - Parameter hub: nil: of all together.
    func size(of hub: Hub.ID?) -> BacklogSize {
        guard let backlogs = connection.observer(Backlogs.self) else { return BacklogSize(notifications: 0, bytes: 0) }
        return hub.map { backlogs.size(of: $0.rawValue) } ?? backlogs.all
    }

    /// A notification is not finished while a delivery of it is not, or while it waits for its time.
    private static let count = """
        SELECT n.hub, count(*), sum(length(m.body))
        FROM (SELECT notification AS sequence FROM deliveries WHERE is_final = 0
                UNION SELECT sequence FROM notifications WHERE begun_at IS NULL AND finished_at IS NULL) u
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

/// What the triggers have told. Belongs to the thread of its connection.
final class Backlogs: TransactionObserver {
    /// What they call it by: `(hub, notifications, bytes)`, which are added.
    static let function = "martlet_add_backlog"

    private(set) var all = BacklogSize(notifications: 0, bytes: 0)
    private var sizes: [Int64: BacklogSize] = [:]
    /// Of the transaction that is open.
    private var changes: [(hub: Int64, change: BacklogSize)] = []

    /// Lets statements of a connection add to the backlogs.
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

    /// What has been added stays.
    func commit() {
        changes.removeAll(keepingCapacity: true)
    }

    /// Nothing has been added since the last commit.
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
    /// How much of a hub is accepted and not finished.
    /// - Parameter hub: nil: of all together.
    public func backlogSize(of hub: Hub.ID?) async throws(StorageError) -> BacklogSize {
        try await writer.write { connection throws(StorageError) in BacklogTable(connection).size(of: hub) }
    }
}
