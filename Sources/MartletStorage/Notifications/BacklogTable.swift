import CMartletSQLite
public import MartletCore

/// The size of the backlog (the notifications that are accepted and not finished) of each hub, of each user of the app
/// backend in a hub, and of all hubs together, on the connection that writes.
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
            (hub: $0.integer(0), user: $0.integer(1), notifications: Int($0.integer(2)), bytes: $0.integer(3))
        }
        let backlogs = Backlogs()
        for (hub, user, notifications, bytes) in left {
            if user != 0 { backlogs.follow(user, in: hub) }
            backlogs.add(BacklogSize(notifications: notifications, bytes: bytes), to: hub, author: user)
        }
        backlogs.commit()
        try backlogs.define(on: connection)
        try connection.execute(Self.triggers)
    }

    /// Returns the limit that a notification would exceed; nil if it would exceed none.
    func excess(of draft: NotificationDraft, _ limits: BacklogLimits) throws(StorageError) -> BacklogExcess? {
        var user: BacklogSize?
        if let author = draft.author, author.isUser { user = try size(of: author, in: draft.hub) }
        return limits.excess(
            hub: size(of: draft.hub), all: size(of: nil), user: user, adding: Int64(draft.content.body.count))
    }

    /// Returns the size of the backlog of one user in a hub.
    private func size(of user: SendAuthor, in hub: Hub.ID) throws(StorageError) -> BacklogSize {
        guard let number = try AuthorTable(connection).known(user), let backlogs = connection.observer(Backlogs.self)
        else { return BacklogSize(notifications: 0, bytes: 0) }
        return backlogs.size(of: number, in: hub.rawValue)
    }

    /// Begins to count the backlog of a user in a hub. Must be called before a notification of the user is written.
    /// - Parameter user: The number of the user as an author.
    func follow(_ user: Int64, in hub: Hub.ID) {
        connection.observer(Backlogs.self)?.follow(user, in: hub.rawValue)
    }

    /// Returns the size of a backlog.
    /// - Parameter hub: The hub; nil for all hubs together.
    func size(of hub: Hub.ID?) -> BacklogSize {
        guard let backlogs = connection.observer(Backlogs.self) else { return BacklogSize(notifications: 0, bytes: 0) }
        return hub.map { backlogs.size(of: $0.rawValue) } ?? backlogs.all
    }

    /// The query that counts the unfinished notifications of each hub and user; the user is 0 for those of all others.
    /// A notification is unfinished while one of its deliveries is unfinished, or while the notification itself or one
    /// of its parts waits to begin.
    private static let count = """
        SELECT n.hub, coalesce(a.id, 0), count(*), sum(length(m.body))
        FROM (SELECT notification AS sequence FROM deliveries WHERE is_final = 0
                UNION SELECT sequence FROM notifications WHERE begun_at IS NULL AND finished_at IS NULL
                UNION SELECT p.notification FROM parts p CROSS JOIN notifications o ON o.sequence = p.notification
                    WHERE p.begun_at IS NULL AND o.finished_at IS NULL) u
            CROSS JOIN notifications n ON n.sequence = u.sequence
            CROSS JOIN messages m ON m.notification = n.sequence
            LEFT JOIN authors a ON a.id = n.author AND a.name LIKE 'user:%'
        GROUP BY n.hub, a.id
        """

    private static let triggers = """
        CREATE TEMP TRIGGER backlog_grows AFTER INSERT ON main.messages BEGIN
            SELECT \(Backlogs.function)(n.hub, 1, length(NEW.body), n.author)
            FROM notifications n WHERE n.sequence = NEW.notification;
        END;
        CREATE TEMP TRIGGER backlog_changes AFTER UPDATE OF body ON main.messages BEGIN
            SELECT \(Backlogs.function)(n.hub, 0, length(NEW.body) - length(OLD.body), n.author)
            FROM notifications n WHERE n.sequence = NEW.notification;
        END;
        CREATE TEMP TRIGGER backlog_moves AFTER UPDATE OF author ON main.notifications
            WHEN NEW.finished_at IS NULL AND NEW.author IS NOT OLD.author
        BEGIN
            SELECT \(Backlogs.function)(OLD.hub, -1, -length(m.body), OLD.author),
                \(Backlogs.function)(NEW.hub, 1, length(m.body), NEW.author)
            FROM messages m WHERE m.notification = NEW.sequence;
        END;
        CREATE TEMP TRIGGER backlog_shrinks AFTER UPDATE OF finished_at ON main.notifications
            WHEN OLD.finished_at IS NULL AND NEW.finished_at IS NOT NULL
        BEGIN
            SELECT \(Backlogs.function)(
                NEW.hub, -1, -(SELECT length(body) FROM messages WHERE notification = NEW.sequence), NEW.author);
        END;
        CREATE TEMP TRIGGER backlog_goes BEFORE DELETE ON main.notifications WHEN OLD.finished_at IS NULL BEGIN
            SELECT \(Backlogs.function)(
                OLD.hub, -1, -(SELECT length(body) FROM messages WHERE notification = OLD.sequence), OLD.author);
        END;
        """
}

/// The sizes of backlogs as reported by the triggers. Belongs to the thread of its connection.
final class Backlogs: TransactionObserver {
    /// The name of the SQL function that the triggers call with `(hub, notifications, bytes, author)`. The function
    /// adds both numbers to the backlog of the hub, and to that of the author if the author is a user. The author is
    /// null if it was not recorded.
    static let function = "martlet_add_backlog"

    private(set) var all = BacklogSize(notifications: 0, bytes: 0)
    private var sizes: [Int64: BacklogSize] = [:]
    /// The backlogs of users in hubs. Between transactions, only users with unfinished notifications have one.
    private var shares: [Share: BacklogSize] = [:]
    /// The changes that the open transaction has made so far. The author is 0 if it was not recorded.
    private var changes: [(hub: Int64, author: Int64, change: BacklogSize)] = []

    private struct Share: Hashable {
        var hub: Int64
        var user: Int64
    }

    /// Defines the function for the triggers on a connection.
    func define(on connection: Connection) throws(StorageError) {
        try connection.define(Self.function, argumentCount: 4, changing: self) { context, _, values in
            guard let backlogs = sqlite3_user_data(context), let values else { return }
            let change = BacklogSize(
                notifications: Int(sqlite3_value_int64(values[1])), bytes: sqlite3_value_int64(values[2]))
            Unmanaged<Backlogs>.fromOpaque(backlogs).takeUnretainedValue()
                .add(change, to: sqlite3_value_int64(values[0]), author: sqlite3_value_int64(values[3]))
        }
    }

    func size(of hub: Int64) -> BacklogSize { sizes[hub] ?? BacklogSize(notifications: 0, bytes: 0) }

    func size(of user: Int64, in hub: Int64) -> BacklogSize {
        shares[Share(hub: hub, user: user)] ?? BacklogSize(notifications: 0, bytes: 0)
    }

    /// Begins to count the backlog of a user in a hub, until a transaction ends that leaves it empty.
    func follow(_ user: Int64, in hub: Int64) {
        let nothing = BacklogSize(notifications: 0, bytes: 0)
        changes.append((hub, user, nothing))
        shares[Share(hub: hub, user: user), default: nothing].add(nothing)
    }

    /// - Parameter author: The number of the author of the changed notifications; 0 if it was not recorded.
    func add(_ change: BacklogSize, to hub: Int64, author: Int64) {
        changes.append((hub, author, change))
        apply(change, to: hub, author)
    }

    /// Makes the changes since the last commit permanent: a later `rollBack` keeps them.
    func commit() {
        if !shares.isEmpty {
            for (hub, author, _) in changes where author != 0 {
                let share = Share(hub: hub, user: author)
                if shares[share]?.notifications == 0 { shares[share] = nil }
            }
        }
        changes.removeAll(keepingCapacity: true)
    }

    /// Reverts the changes since the last commit.
    func rollBack() {
        for (hub, author, change) in changes {
            apply(BacklogSize(notifications: -change.notifications, bytes: -change.bytes), to: hub, author)
        }
        commit()
    }

    private func apply(_ change: BacklogSize, to hub: Int64, _ author: Int64) {
        all.add(change)
        sizes[hub, default: BacklogSize(notifications: 0, bytes: 0)].add(change)
        guard author != 0, !shares.isEmpty else { return }
        shares[Share(hub: hub, user: author)]?.add(change)
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
