public import MartletCore
import MartletModel

/// Implements the storage ports with a PostgreSQL database that any number of processes share.
///
/// Statements run in pipelines, on threads of their own: the writers' commit groups, one for each hub at a time, and the
/// readers' answer pages and look-ups.
public final class PostgresStorage: Sendable {
    let sealer: any Sealer
    private let patience: Duration
    let devices: GroupWriter<DeviceGroup>
    let sends: GroupWriter<SendGroup>
    let cache = NumberCache()
    let dense = DenseTags()
    private let writers: [Link]
    private let readers: [Link]
    private let pageReaders: [Link]

    /// Opens a database, and brings its schema up to date.
    /// - Throws: `StorageError` if the database cannot be used, with a sentence that says what to do.
    public static func open(
        _ address: DatabaseAddress, sealer: any Sealer, options: Options = Options()
    ) async throws(StorageError) -> PostgresStorage {
        let settings = ConnectionSettings(address: address, schema: options.schema, patience: options.patience)
        let storage = PostgresStorage(settings, options, sealer)
        do throws(StorageError) {
            try await storage.prepare(settings)
            return storage
        } catch {
            await storage.close()
            throw error
        }
    }

    /// The choices of whoever opens a database.
    public struct Options: Sendable {
        /// The schema in which the tables are.
        public var schema = "martlet"
        /// How long callers wait for an answer of the database.
        public var patience = Duration.seconds(5)
        /// The connections that write, that read pages, and that look up single rows.
        public var writers = 2
        public var pageReaders = 2
        public var readers = 1

        public init() {}
    }

    private init(_ settings: ConnectionSettings, _ options: Options, _ sealer: any Sealer) {
        self.sealer = sealer
        patience = options.patience
        writers = (0..<options.writers).map { _ in Link(settings) }
        readers = (0..<options.readers).map { _ in Link(settings) }
        pageReaders = (0..<options.pageReaders).map { _ in Link(settings) }
        devices = GroupWriter(writers, patience: options.patience)
        // The other way round, so that both find a free connection.
        sends = GroupWriter(writers.reversed(), patience: options.patience)
    }

    private func prepare(_ settings: ConnectionSettings) async throws(StorageError) {
        let result: Result<Void, StorageError>
        do throws(DatabaseFailure) {
            result = try await writers[0].perform { access throws(DatabaseFailure) in
                // A migration may wait for that of another node.
                let patience = Connection.Patience.until(.now + .seconds(60))
                let check = try ServerCheck(access.connection, patience)
                if let fault = check.fault(of: settings.address) { return .failure(fault) }
                do throws(StorageError) {
                    let migrator = Migrator(migrations: Migration.all, schema: settings.schema)
                    return .success(try migrator.migrate(access.connection, patience))
                } catch {
                    return .failure(error)
                }
            }
        } catch {
            throw error.storageError
        }
        try result.get()
    }

    /// Finishes the waiting writes and closes the connections. Later calls fail with an error that says that the storage
    /// is closed.
    public func close() async {
        await devices.close()
        await sends.close()
        for link in writers + readers + pageReaders { await link.close() }
    }

    /// Asks the database for a value, to check that it answers.
    public func probe() async throws(StorageError) {
        _ = try await read(Batch(.rare([], "SELECT 1::int4")))
    }
}

extension PostgresStorage {
    /// Reads with the connection for look-ups that has the least to do.
    func read(_ batch: Batch) async throws(StorageError) -> [Rows] {
        try await read(batch, readers)
    }

    /// Reads with the connection for pages that has the least to do.
    func readPage(_ batch: Batch) async throws(StorageError) -> [Rows] {
        try await read(batch, pageReaders)
    }

    /// Runs work that only reads on the connection for look-ups that has the least to do. If the connection breaks, the
    /// work runs once more.
    func withReader<Value: Sendable>(
        _ work:
            @escaping @Sendable (LinkAccess, Connection.Patience) throws(DatabaseFailure) ->
            Result<Value, StorageError>
    ) async throws(StorageError) -> Value {
        guard let link = readers.min(by: { $0.waitingCount < $1.waitingCount }) else {
            throw DatabaseFailure.closed.storageError
        }
        let result: Result<Value, StorageError>
        do throws(DatabaseFailure) {
            result = try await link.perform { [patience] access throws(DatabaseFailure) in
                var access = access
                let patience = Connection.Patience.until(.now + patience)
                do throws(DatabaseFailure) {
                    return try work(access, patience)
                } catch  where error.isOfConnection && error != .late {
                    // Once more, on another connection.
                    try access.reconnect()
                } catch {
                    if error.isOfConnection { access.drop() }
                    throw error
                }
                do throws(DatabaseFailure) {
                    return try work(access, patience)
                } catch {
                    if error.isOfConnection { access.drop() }
                    throw error
                }
            }
        } catch {
            throw error.storageError
        }
        return try result.get()
    }

    private func read(_ batch: Batch, _ links: [Link]) async throws(StorageError) -> [Rows] {
        guard let link = links.min(by: { $0.waitingCount < $1.waitingCount }) else {
            throw DatabaseFailure.closed.storageError
        }
        do throws(DatabaseFailure) {
            return try await link.read(batch)
        } catch {
            throw error.storageError
        }
    }

    /// Runs statements that belong to no shard in one transaction: changes of hubs and the like, which are rare. If the
    /// connection breaks before the COMMIT, they run once more.
    /// - Parameter work: Sends batches and reads their rows. It may run twice.
    func transaction<Value: Sendable>(
        _ work: @escaping @Sendable (Connection, Connection.Patience) throws(DatabaseFailure) -> Value
    ) async throws(StorageError) -> Value {
        do throws(DatabaseFailure) {
            return try await writers[0].perform { [patience] access throws(DatabaseFailure) in
                var access = access
                let patience = Connection.Patience.until(.now + patience)
                let value: Value
                do throws(DatabaseFailure) {
                    value = try Self.begin(work, access, patience)
                } catch  where error.isOfConnection {
                    try access.reconnect()
                    value = try Self.begin(work, access, patience)
                }
                do throws(DatabaseFailure) {
                    try access.connection.run(Batch(.commit), patience)
                } catch {
                    access.drop()
                    throw error
                }
                guard !access.connection.hasWarned else { throw .late }
                return value
            }
        } catch {
            throw error.storageError
        }
    }

    private static func begin<Value>(
        _ work: (Connection, Connection.Patience) throws(DatabaseFailure) -> Value, _ access: LinkAccess,
        _ patience: Connection.Patience
    ) throws(DatabaseFailure) -> Value {
        do throws(DatabaseFailure) {
            try access.connection.run(Batch(.begin), patience)
            return try work(access.connection, patience)
        } catch {
            if !error.isOfConnection { _ = try access.connection.run([Batch(.rollback)], patience) }
            throw error
        }
    }
}
