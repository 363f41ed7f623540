import Glibc
public import MartletCore
import MartletModel

/// Implements the storage ports with a PostgreSQL database that any number of processes share.
///
/// Statements run in pipelines, on threads of their own. Writers commit the writes of one hub as a group. Some readers
/// read audience pages; others look up single rows.
public final class PostgresStorage: Sendable {
    let sealer: any Sealer
    private let patience: Duration
    let devices: GroupWriter<DeviceGroup>
    let sends: GroupWriter<SendGroup>
    let unknownWrites = UnknownWrites()
    let nodes: PostgresNodes
    let cache = NumberCache()
    let dense = DenseTags()
    let packs = PackCache()
    /// Makes packs; nil if there are no connections for pages.
    let packMaker: PackMaker?
    let writers: [Link]
    private let readers: [Link]
    private let pageReaders: [Link]
    /// Keeps plans from staying as they were made for empty tables; nil if there are no connections for pages.
    let analysis: TableAnalysis?
    let platformNumbering: PlatformNumbering?

    /// Returns the number of a platform in the first cluster, which gives it one if it has none.
    typealias PlatformNumbering = @Sendable (PlatformID) async throws(StorageError) -> Int32

    /// The progress maps of this node's unfinished deliveries. They are on the node's own disk. The database has
    /// their content as of the last recorded page, or as of about a second ago (`ReachedStore`).
    public let maps: any ProgressMaps

    /// Opens a database, and brings its schema up to date.
    /// - Parameter maps: Opens the progress maps of the node. It is called with all unfinished deliveries, and must
    ///   keep their maps.
    /// - Throws: `StorageError` if the database cannot be used, with a sentence that says what to do.
    public static func open(
        _ address: DatabaseAddress, sealer: any Sealer, options: Options = Options(),
        maps: @Sendable ([Delivery.ID]) throws(StorageError) -> any ProgressMaps
    ) async throws(StorageError) -> PostgresStorage {
        let start = try await join(address, sealer, options)
        return PostgresStorage(address, options, start, sealer, try maps(start.unfinished))
    }

    /// Brings the schema of a database up to date, and makes this process one of its nodes.
    static func join(
        _ address: DatabaseAddress, _ sealer: any Sealer, _ options: Options
    ) async throws(StorageError) -> NodeStart {
        let settings = ConnectionSettings(
            address: address, schema: options.schema, patience: options.patience, place: options.place)
        let starter = Link(settings)
        let result: Result<NodeStart, StorageError>
        do throws(DatabaseFailure) {
            let applicant = NodeStart.Applicant(
                name: options.node, version: options.version, lease: options.lease, predecessor: options.predecessor,
                place: options.place)
            result = try await starter.perform { access throws(DatabaseFailure) in
                try NodeStart.run(settings, sealer, applicant, access.connection)
            }
        } catch {
            result = .failure(error.storageError)
        }
        await starter.close()
        return try result.get()
    }

    /// Whether an error of `open` says that the schema is of a newer version. Such an error does not pass by itself.
    public static func isNewer(_ error: StorageError) -> Bool { error == Migrator.newer }

    /// The number of migration steps of this program's schema.
    public static let schema = Migration.all.count

    /// The options with which a database is opened.
    public struct Options: Sendable {
        /// The schema that contains the tables.
        public var schema = "martlet"
        /// How long callers wait for an answer of the database before they get an error.
        public var patience = Duration.seconds(5)
        /// The name of this node, which is shown to operators.
        public var node = Self.machine
        /// The version of the program, which is shown to operators.
        public var version = ""
        /// How long a node owns its hubs after a renewal. Other nodes take the hubs over a fifth of this time later, at
        /// the earliest.
        public var lease = Duration.seconds(10)
        /// The incarnation of a node that has certainly ended, such as the earlier process in the same data directory;
        /// nil if there is none. Other nodes may take over its hubs at once.
        public var predecessor: Int64?
        /// The numbers of connections that write, that read audience pages, and that look up single rows.
        public var writers = 2
        public var pageReaders = 2
        public var readers = 1
        /// How often the sizes of the tables are looked at (`TableAnalysis`); nil for never.
        public var analysisInterval: Duration? = .seconds(5)
        /// When packs of registrations are made.
        var packs = PackMaker.Rules()
        /// The place of the database among several clusters; nil for the first cluster.
        var place: ClusterPlace?

        public init() {}

        private static var machine: String {
            var name = [CChar](repeating: 0, count: 256)
            guard gethostname(&name, name.count - 1) == 0 else { return "" }
            return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }

    /// - Parameter platforms: Gives numbers to platforms; nil if this database does so itself. A hub keeps its rows when
    ///   it moves to another cluster, so all clusters have the numbers of the first.
    init(
        _ address: DatabaseAddress, _ options: Options, _ start: NodeStart, _ sealer: any Sealer,
        _ maps: any ProgressMaps, platforms: PlatformNumbering? = nil
    ) {
        let settings = ConnectionSettings(
            address: address, schema: options.schema, patience: options.patience, place: options.place)
        self.maps = maps
        self.sealer = sealer
        platformNumbering = platforms
        patience = options.patience
        writers = (0..<options.writers).map { _ in Link(settings) }
        readers = (0..<options.readers).map { _ in Link(settings) }
        pageReaders = (0..<options.pageReaders).map { _ in Link(settings) }
        nodes = PostgresNodes(settings, start, lease: options.lease)
        analysis = pageReaders.last.map {
            TableAnalysis($0, schema: settings.schema, patience: options.patience)
        }
        packMaker = pageReaders.last.map { PackMaker($0, options.packs, patience: options.patience) }
        if let interval = options.analysisInterval { analysis?.start(interval: interval) }
        // The identities of a node's two writers are computed from its incarnation, so that their rows are found when
        // the node is gone (`NodeStatements.sweepWriters`).
        devices = GroupWriter(writers, patience: options.patience, identity: start.incarnation << 1, nodes.renewals)
        // This writer begins with the last connection, so that both writers mostly find a free connection.
        sends = GroupWriter(
            writers.reversed(), patience: options.patience, identity: start.incarnation << 1 | 1, nodes.renewals)
    }

    /// Finishes the waiting writes, leaves the nodes and closes the connections. Later calls fail with an error that
    /// says that the storage is closed.
    public func close() async {
        analysis?.stop()
        await packMaker?.stop()
        await devices.close()
        await sends.close()
        // If this fails, the lease ends by itself.
        try? await nodes.leave()
        await nodes.close()
        for link in writers + readers + pageReaders { await link.close() }
    }

    /// Reads a small value, to check that the database answers.
    public func probe() async throws(StorageError) {
        _ = try await read(Batch(.rare([], "SELECT 1::int4")))
    }
}

extension PostgresStorage {
    /// Reads on the least busy of the connections for look-ups.
    func read(_ batch: Batch) async throws(StorageError) -> [Rows] {
        try await read(batch, readers)
    }

    /// Reads on the least busy of the connections for audience pages.
    func readPage(_ batch: Batch) async throws(StorageError) -> [Rows] {
        try await read(batch, pageReaders)
    }

    /// Work that only reads, with statements that may depend on each other.
    typealias Reading<Value> =
        @Sendable (LinkAccess, Connection.Patience) throws(DatabaseFailure) -> Result<
            Value, StorageError
        >

    /// Runs work that only reads, on the least busy of the connections for look-ups. If the connection breaks, the work
    /// runs once more.
    func withReader<Value: Sendable>(_ work: @escaping Reading<Value>) async throws(StorageError) -> Value {
        try await perform(work, readers)
    }

    /// Runs work that only reads, on the least busy of the connections for audience pages. If the connection breaks, the
    /// work runs once more.
    func withPageReader<Value: Sendable>(_ work: @escaping Reading<Value>) async throws(StorageError) -> Value {
        try await perform(work, pageReaders)
    }

    private func perform<Value: Sendable>(
        _ work: @escaping Reading<Value>, _ links: [Link]
    ) async throws(StorageError) -> Value {
        guard let link = links.min(by: { $0.waitingCount < $1.waitingCount }) else {
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
                    // Runs the work once more, on a new connection.
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

    /// Runs statements that belong to no shard in one transaction, such as changes of hubs. If the connection breaks
    /// before the COMMIT, the work runs once more.
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
