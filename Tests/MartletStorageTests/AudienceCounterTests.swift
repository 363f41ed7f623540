import MartletCore
import MartletModel
import Testing

@testable import MartletStorage

/// Counts in pages of all sizes, down to one look.
struct AudienceCounterTests {
    private let now = Timestamp(seconds: 1_700_000_000)
    private let platforms = ["parrot", "pigeon"].map { PlatformID(rawValue: $0) }

    @Test func countsAreTheSameInPagesOfAnySize() async throws {
        try await withHub { storage, hub in
            for text in ["a", "a && !b", "(a && !b) || c", "!a", "b && c", "nobody"] {
                let query = AudienceCountQuery(hub: hub, expression: try TagExpression(text), now: now)
                let whole = try await storage.audienceCount(query)
                for seeks in [1, 2, 3, 7, 50] {
                    #expect(try await count(query, in: storage, seeks: seeks).count == whole, "\(text) by \(seeks)")
                }
            }
        }
    }

    @Test func aPageEndsWhereNobodyMatchesToo() async throws {
        try await withHub { storage, hub in
            let query = AudienceCountQuery(hub: hub, expression: try TagExpression("odd && even"), now: now)
            let (count, pages) = try await self.count(query, in: storage, seeks: 20)
            #expect(count.registrations == 0)
            #expect(pages > 5)
        }
    }

    @Test func aChangeBetweenPagesIsTold() async throws {
        try await withHub { storage, hub in
            let query = AudienceCountQuery(hub: hub, expression: nil, now: now)
            var progress = AudienceCounter.Progress(query)
            try await advance(&progress, in: storage, seeks: 10)
            let removal = RegistrationChange.delete(id: "100", condition: .none)
            _ = try await storage.apply(removal, in: hub, at: now).get()
            try await put("new", "new", ["a"], storage, hub)
            while !progress.isDone { try await advance(&progress, in: storage, seeks: 10) }
            #expect(!progress.count.isConsistent)
            #expect(progress.count.registrations == 119)
        }
    }

    // MARK: Parts

    /// A hub with 120 registrations on 80 handles of two platforms.
    private func withHub(_ body: (SQLiteStorage, Hub.ID) async throws -> Void) async throws {
        let directory = TemporaryDirectory()
        let storage = try SQLiteStorage(directory: directory.path, sealer: XORSealer())
        let hub = try #require(try await storage.createHub(name: "loft", settings: HubSettings(), at: now)).id
        for number in 0..<120 {
            var tags = [number % 2 == 0 ? "even" : "odd", "a"]
            if number % 3 == 0 { tags.append("b") }
            if number % 10 == 0 { tags.append("c") }
            try await put("\(number)", "h\(number % 40)", tags, storage, hub)
        }
        try await body(storage, hub)
        await storage.close()
    }

    private func put(
        _ id: String, _ handle: String, _ tags: [String], _ storage: SQLiteStorage, _ hub: Hub.ID
    ) async throws {
        let number = Int(id) ?? 0
        let draft = RegistrationDraft(
            platform: platforms[number / 40 % 2], handle: PushHandle(handle), handleKey: handle,
            tags: try tags.map { try Tag($0) }, template: number % 7 == 0 ? Template(body: "body") : nil)
        _ = try await storage.apply(.put(draft, id: id, condition: .none), in: hub, at: now).get()
    }

    private func count(
        _ query: AudienceCountQuery, in storage: SQLiteStorage, seeks: Int
    ) async throws -> (count: AudienceCount, pages: Int) {
        var progress = AudienceCounter.Progress(query)
        var pages = 0
        while !progress.isDone {
            try await advance(&progress, in: storage, seeks: seeks)
            pages += 1
        }
        return (progress.count, pages)
    }

    private func advance(
        _ progress: inout AudienceCounter.Progress, in storage: SQLiteStorage, seeks: Int
    ) async throws {
        progress = try await storage.readers.read { [progress] connection throws(StorageError) in
            var progress = progress
            try AudienceCounter(connection, seeks: seeks).advance(&progress)
            return progress
        }
    }
}
