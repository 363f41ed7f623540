import Glibc
import MartletCore
import Testing

@testable import MartletStorage

struct GroupCommitTests {
    private let directory = TemporaryDirectory()

    private func makeWriter() throws -> Writer {
        let path = "\(directory.path)/test.db"
        close(creat(path, 0o600))
        let settings = SQLiteStorage.Settings()
        let connection = try settings.openWriter(path)
        try connection.execute("CREATE TABLE numbers (number INTEGER PRIMARY KEY CHECK (number >= 0)) STRICT")
        return Writer(connection, checkpointer: Checkpointer(try settings.openReader(path)))
    }

    private static func insert(_ number: Int, with writer: Writer) async throws(StorageError) {
        try await writer.write { connection throws(StorageError) in
            try connection.run("INSERT INTO numbers VALUES (?)", number)
        }
    }

    private static func numbers(_ writer: Writer) async throws(StorageError) -> [Int64] {
        try await writer.write { connection throws(StorageError) in
            try connection.all("SELECT number FROM numbers ORDER BY number") { $0.integer(0) }
        }
    }

    /// Inserts numbers that are all waiting when the writer comes round.
    /// - Returns: Whether each was stored.
    private func insertTogether(_ numbers: [Int], with writer: Writer) async -> [Bool] {
        let gate = Gate()
        async let first: Void? = try? writer.write { _ in gate.wait() }
        await gate.untilReached()
        let results = await withTaskGroup(of: (Int, Bool).self) { group in
            for (index, number) in numbers.enumerated() {
                group.addTask { (index, (try? await Self.insert(number, with: writer)) != nil) }
            }
            while writer.waitingCount < numbers.count { await Task.yield() }
            gate.open()
            return await group.reduce(into: [Int: Bool]()) { $0[$1.0] = $1.1 }
        }
        _ = await first
        return numbers.indices.map { results[$0] ?? false }
    }

    @Test func everythingThatWaitsIsOneTransaction() async throws {
        let writer = try makeWriter()
        let stored = await insertTogether(Array(0..<100), with: writer)
        #expect(stored.allSatisfy { $0 })
        #expect(writer.commitCount == 2, "one for the change that held the writer, one for the hundred behind it")
        #expect(try await Self.numbers(writer).count == 100)
    }

    @Test func everyTransactionIsTimedOnce() async throws {
        let writer = try makeWriter()
        let gate = Gate()
        async let held: Void? = try? writer.write { _ in gate.wait() }
        await gate.untilReached()
        async let first: Void? = try? Self.insert(1, with: writer)
        async let second: Void? = try? Self.insert(2, with: writer)
        while writer.waitingCount < 2 { await Task.yield() }
        let waited = ContinuousClock.now
        while ContinuousClock.now - waited < .milliseconds(5) { await Task.yield() }
        gate.open()
        _ = await (held, first, second)
        await writer.close()
        let times = writer.writeTimes
        #expect(times.wait.count == 2, "one for the change that held the writer, one for the two behind it")
        #expect(times.commit.count == 2)
        #expect(times.wait.sum >= .milliseconds(5))
        #expect(times.commit.sum >= .milliseconds(5), "the one that held the writer lasted as long")
    }

    @Test func aChangeThatFailsFailsAlone() async throws {
        let writer = try makeWriter()
        let stored = await insertTogether([1, -1, 2, 1, 3], with: writer)
        #expect(stored.filter { $0 }.count == 3)
        #expect(!stored[1])
        #expect(stored[0] != stored[3], "one of two that store the same")
        #expect(writer.commitCount == 4, "those that can be stored are done again, each by itself")
        #expect(try await Self.numbers(writer) == [1, 2, 3])
    }

    @Test func aChangeThatFailsHalfWayLeavesNothing() async throws {
        let writer = try makeWriter()
        await #expect(throws: StorageError.self) {
            try await writer.write { connection throws(StorageError) in
                try connection.run("INSERT INTO numbers VALUES (1)")
                try connection.run("INSERT INTO numbers VALUES (-1)")
            }
        }
        #expect(try await Self.numbers(writer) == [])
    }

    @Test func aLostTransactionIsDoneAgainChangeByChange() async throws {
        let writer = try makeWriter()
        let gate = Gate()
        async let first: Void? = try? writer.write { _ in gate.wait() }
        await gate.untilReached()
        async let good: Void? = try? Self.insert(1, with: writer)
        while writer.waitingCount < 1 { await Task.yield() }
        async let bad: Void? = try? writer.write { connection throws(StorageError) in
            try connection.run("INSERT INTO numbers VALUES (2)")
            // What SQLite does by itself when a disk is full at the wrong moment.
            try connection.run("ROLLBACK")
            throw StorageError(.full, "no room")
        }
        while writer.waitingCount < 2 { await Task.yield() }
        gate.open()
        let results = await (first != nil, good != nil, bad != nil)
        #expect(results == (true, true, false))
        #expect(try await Self.numbers(writer) == [1])
    }

    @Test func aClosedWriterRefusesAndHasFinishedWhatWaited() async throws {
        let writer = try makeWriter()
        let gate = Gate()
        async let first: Void? = try? writer.write { _ in gate.wait() }
        await gate.untilReached()
        async let waiting: Void? = try? Self.insert(1, with: writer)
        while writer.waitingCount < 1 { await Task.yield() }
        async let closing: Void = writer.close()
        gate.open()
        _ = await (first, closing)
        #expect(await waiting != nil)
        await #expect { try await Self.insert(2, with: writer) } throws: { ($0 as? StorageError)?.kind == .closed }
    }
}
