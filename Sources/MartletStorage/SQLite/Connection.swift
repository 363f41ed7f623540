import CMartletSQLite
import MartletCore

/// One connection to the database with its prepared statements. A connection is not Sendable. Its owner, such as a
/// `Reader`, uses the connection only on the owner's thread, and passes it to closures that run on this thread.
final class Connection {
    private let database: OpaquePointer
    /// The statements that are not in use, keyed by their SQL text. Several statements can have the same text.
    private var idle: [SQLText: IdleStatements] = [:]

    private let log = LogSize()
    private var observers: [any TransactionObserver] = []

    /// The number of pages in the write-ahead log after the last commit of this connection.
    var logPages: Int { log.pages }

    /// Opens a database file, which must exist.
    init(path: String) throws(StorageError) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            let error = StorageError(sqlite: code, database: opened)
            sqlite3_close_v2(opened)
            throw error
        }
        database = opened
        sqlite3_busy_timeout(database, 5000)
        // This hook replaces SQLite's own checkpoints, which would run within a commit.
        sqlite3_wal_hook(
            database,
            { context, _, _, pages in
                guard let context else { return SQLITE_OK }
                Unmanaged<LogSize>.fromOpaque(context).takeUnretainedValue().pages = Int(pages)
                return SQLITE_OK
            }, Unmanaged.passUnretained(log).toOpaque())
        _ = martlet_sqlite3_db_config_int(database, SQLITE_DBCONFIG_DEFENSIVE, 1)
    }

    deinit {
        // Breaks the reference cycle between idle statements and the lists that contain them.
        for list in idle.values { list.statements = [] }
        sqlite3_close_v2(database)
    }

    /// True if a transaction is open. An error can end a transaction.
    var isInTransaction: Bool { sqlite3_get_autocommit(database) == 0 }

    /// The number of rows that the last statement changed.
    var changes: Int { Int(sqlite3_changes64(database)) }

    var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(database) }

    /// Runs statements that have no parameters.
    func execute(_ script: String) throws(StorageError) {
        let code = sqlite3_exec(database, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw StorageError(sqlite: code, database: database) }
    }

    /// Runs statements that have no parameters, one after another.
    /// - Parameter visit: Called after each statement.
    func execute(_ script: String, afterEach visit: () -> Void) throws(StorageError) {
        var rest = Array(script.utf8)
        while !rest.isEmpty {
            var statement: OpaquePointer?
            var used = 0
            var code = rest.withUnsafeBytes { bytes in
                let text = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
                var tail: UnsafePointer<CChar>?
                let code = sqlite3_prepare_v2(database, text, Int32(bytes.count), &statement, &tail)
                used = text.flatMap { start in tail.map { $0 - start } } ?? bytes.count
                return code
            }
            defer { sqlite3_finalize(statement) }
            guard code == SQLITE_OK else { throw StorageError(sqlite: code, database: database) }
            rest.removeFirst(used)
            // White space and comments give no statement.
            guard statement != nil else { continue }
            repeat { code = sqlite3_step(statement) } while code == SQLITE_ROW
            guard code == SQLITE_DONE else { throw StorageError(sqlite: code, database: database) }
            visit()
        }
    }

    /// Runs a statement to completion.
    func run(_ sql: String, _ values: any Bindable...) throws(StorageError) {
        let statement = try take(sql, values)
        defer { giveBack(statement) }
        while try statement.step() {}
    }

    /// Returns the first row of a query, or nil if there is none.
    func first<Value>(
        _ sql: String, _ values: any Bindable..., read: (Statement) throws(StorageError) -> Value
    ) throws(StorageError) -> Value? {
        let statement = try take(sql, values)
        defer { giveBack(statement) }
        return try statement.step() ? try read(statement) : nil
    }

    func all<Value>(
        _ sql: String, _ values: any Bindable..., read: (Statement) throws(StorageError) -> Value
    ) throws(StorageError) -> [Value] {
        let statement = try take(sql, values)
        defer { giveBack(statement) }
        var rows: [Value] = []
        while try statement.step() { rows.append(try read(statement)) }
        return rows
    }

    /// Returns the rows of a query, up to and including the first row for which `isPastEnd` returns true.
    func rows<Value>(
        _ sql: String, _ values: any Bindable..., through isPastEnd: (Value) -> Bool,
        read: (Statement) throws(StorageError) -> Value
    ) throws(StorageError) -> [Value] {
        let statement = try take(sql, values)
        defer { giveBack(statement) }
        var rows: [Value] = []
        while try statement.step() {
            let row = try read(statement)
            rows.append(row)
            if isPastEnd(row) { break }
        }
        return rows
    }

    /// Returns a statement for exclusive use by the caller until `giveBack`.
    func take(_ sql: String) throws(StorageError) -> Statement {
        let known = idle[SQLText(sql)]
        if let statement = known?.statements.popLast() { return statement }
        let siblings = known ?? IdleStatements()
        idle[SQLText(sql)] = siblings
        return try Statement(sql, in: database, idlingAmong: siblings)
    }

    func giveBack(_ statement: Statement) {
        statement.clear()
        statement.siblings.statements.append(statement)
    }

    /// Defines a function that statements of this connection can call.
    /// - Parameters:
    ///   - observer: The object that the function changes. The body gets the object from `sqlite3_user_data`,
    ///     unretained. The object lives as long as the connection.
    func define(
        _ function: String, argumentCount: Int32, changing observer: any TransactionObserver,
        _ body: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void
    ) throws(StorageError) {
        observers.append(observer)
        let code = sqlite3_create_function_v2(
            database, function, argumentCount, SQLITE_UTF8, Unmanaged<AnyObject>.passUnretained(observer).toOpaque(),
            body, nil, nil,
            nil)
        guard code == SQLITE_OK else { throw StorageError(sqlite: code, database: database) }
    }

    /// Returns the observer of the given type that was passed to `define`; nil if there is none.
    func observer<Observer: TransactionObserver>(_ type: Observer.Type) -> Observer? {
        for case let observer as Observer in observers { return observer }
        return nil
    }

    /// Tells the observers how a transaction ended. Must be called after each transaction whose statements may have
    /// called a function of `define`.
    func tellObservers(isCommitted: Bool) {
        for observer in observers {
            if isCommitted { observer.commit() } else { observer.rollBack() }
        }
    }

    /// Begins to copy the database of another connection into the database of this one.
    /// - Returns: The handle of the copy (`sqlite3_backup`); nil if the copy cannot begin. `lastError` then has the
    ///   cause.
    func beginCopy(of source: Connection) -> OpaquePointer? {
        sqlite3_backup_init(database, "main", source.database, "main")
    }

    /// The error of the last SQLite call on this connection.
    var lastError: StorageError { StorageError(sqlite: sqlite3_extended_errcode(database), database: database) }

    private func take(_ sql: String, _ values: [any Bindable]) throws(StorageError) -> Statement {
        let statement = try take(sql)
        for (index, value) in values.enumerated() {
            do throws(StorageError) {
                try statement.bind(value, at: Int32(index + 1))
            } catch {
                giveBack(statement)
                throw error
            }
        }
        return statement
    }
}

/// The SQL text of a statement as the key of a dictionary. It is hashed by its length and its last bytes, because it is
/// looked up with each execution, and hashing hundreds of bytes would cost as much as running a short statement.
private struct SQLText: Hashable {
    private let text: String

    init(_ text: String) {
        self.text = text
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { bytes in
            hasher.combine(bytes.count)
            hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes).suffix(16)))
        }
    }
}

/// The idle statements with one SQL text. Each statement refers to its list, so that giving the statement back needs no
/// look-up.
final class IdleStatements {
    var statements: [Statement] = []
}

/// Storage for the size of the write-ahead log, written by SQLite's hook; lives as long as its connection.
private final class LogSize {
    var pages = 0
}
