import MartletCore
import MartletTesting

@testable import MartletPostgres

/// Databases for single tests: schemas of their own in the cluster of the run.
enum TestDatabase {
    /// Whether there is a PostgreSQL to test with.
    static var isThere: Bool { TestCluster.shared != nil }

    /// Calls `body` with a storage that is empty and of no use to others.
    static func with<Value>(
        _ options: PostgresStorage.Options? = nil, _ body: (PostgresStorage) async throws -> Value
    ) async throws -> Value {
        let storage = try await open(options ?? fresh())
        do {
            let value = try await body(storage)
            await storage.close()
            return value
        } catch {
            await storage.close()
            throw error
        }
    }

    /// Options with a schema that nobody has used. Tests run side by side, so they make do with few connections.
    static func fresh() -> PostgresStorage.Options {
        var options = PostgresStorage.Options()
        options.schema = "test_\(UInt64.random(in: 0 ... .max))"
        (options.writers, options.readers, options.pageReaders) = (1, 1, 1)
        // A machine that runs all tests at once is slower than any that serves.
        options.patience = .seconds(60)
        return options
    }

    static func open(_ options: PostgresStorage.Options) async throws -> PostgresStorage {
        try await PostgresStorage.open(
            try DatabaseAddress(TestCluster.shared?.address ?? ""), sealer: PlainSealer(), options: options)
    }

    /// Settings for connections to the cluster.
    static func settings(_ options: PostgresStorage.Options = fresh()) throws -> ConnectionSettings {
        ConnectionSettings(
            address: try DatabaseAddress(TestCluster.shared?.address ?? ""), schema: options.schema,
            patience: options.patience)
    }
}

/// Marks secrets with their context, so that a test can see that they were sealed for it.
struct PlainSealer: Sealer {
    let mark: [UInt8] = [0x5A]

    func seal(_ secret: [UInt8], context: String) -> [UInt8] {
        mark + Array(context.utf8) + [0] + secret.map { $0 ^ 0x5A }
    }

    func open(_ sealed: [UInt8], context: String) -> [UInt8]? {
        let prefix = mark + Array(context.utf8) + [0]
        return sealed.starts(with: prefix) ? sealed.dropFirst(prefix.count).map { $0 ^ 0x5A } : nil
    }
}
