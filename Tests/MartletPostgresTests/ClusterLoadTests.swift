import MartletCore
import MartletModel
import Synchronization
import Testing

@testable import MartletPostgres
@testable import MartletTesting

/// Two nodes and two clusters with ten hubs, of which one is moved while clients write to all of them.
@Suite(.enabled(if: TestDatabase.isThere, "there is no PostgreSQL"), .timeLimit(.minutes(5)))
struct ClusterLoadTests {
    /// What the clients of a hub were told.
    private struct Answers {
        var registrations: Set<String> = []
        var notifications: [NotificationID] = []
        var refusals = 0
        /// The longest time from one success to the next.
        var gap = Duration.zero
        var last = ContinuousClock.now

        mutating func succeed() {
            gap = max(gap, .now - last)
            last = .now
        }
    }

    private final class Log: Sendable {
        let hubs = Mutex<[Hub.ID: Answers]>([:])
        let isOver = Mutex(false)
    }

    @Test func aHubThatMovesUnderLoadLosesNothing() async throws {
        try await TestClusters.with(2) { nodes in
            let bench = StorageBench(nodes[0])
            var hubs: [Hub.ID] = []
            for number in 0..<10 { hubs.append(try await bench.hub("hub\(number)")) }
            let (moved, log) = (hubs[3], Log())
            for hub in hubs { log.hubs.withLock { $0[hub] = Answers() } }
            let progress = try await withThrowingTaskGroup(of: Void.self) { group in
                for node in nodes { group.addTask { await renew(node, until: log) } }
                for hub in hubs {
                    for client in 0..<2 { group.addTask { await write(hub, client, nodes, log) } }
                }
                await writes(to: moved, log)
                let there = try await nodes[0].move(moved, toCluster: 2) { _ in }
                await writes(to: moved, log)
                let back = try await nodes[1].move(moved, toCluster: 1) { _ in }
                await writes(to: moved, log)
                log.isOver.withLock { $0 = true }
                try await group.waitForAll()
                return [there, back]
            }
            let answers = log.hubs.withLock(\.self)
            for hub in hubs {
                let told = try #require(answers[hub])
                let stored = Set(try await bench.list(hub, pageSize: 5000).joined())
                #expect(told.registrations.subtracting(stored).isEmpty)
                var lost = 0
                for id in told.notifications where try await nodes[0].status(id, in: hub) == nil { lost += 1 }
                #expect(lost == 0)
                #expect(told.registrations.count > 0 && told.notifications.count > 0)
                if hub != moved { #expect(told.refusals == 0) }
            }
            let told = try #require(answers[moved])
            #expect(progress.allSatisfy { $0.refusal < .seconds(20) })
            let counts = answers.values.reduce(0) { $0 + $1.registrations.count + $1.notifications.count }
            print(
                "\(counts) writes to ten hubs, \(told.registrations.count + told.notifications.count) to the one that moved "
                    + "twice: \(told.refusals) refused, for \(progress.map(\.refusal)), longest gap \(told.gap)")
        }
    }

    /// Waits until the hub has taken some more writes.
    private func writes(to hub: Hub.ID, _ log: Log) async {
        func count() -> Int {
            log.hubs.withLock { ($0[hub]?.registrations.count ?? 0) + ($0[hub]?.notifications.count ?? 0) }
        }
        let wanted = count() + 20
        while count() < wanted { await Task.yield() }
    }

    private func renew(_ node: ClusteredStorage, until log: Log) async {
        while !log.isOver.withLock(\.self) {
            _ = try? await node.nodeStoreOfAll?.renew()
            // As a server does, but more often, so that a move waits less for it.
            try? await Task.sleep(for: .milliseconds(200))
        }
    }

    /// Registers devices and sends, through one node after the other. A refused write is made again.
    private func write(_ hub: Hub.ID, _ client: Int, _ nodes: [ClusteredStorage], _ log: Log) async {
        var number = 0
        while !log.isOver.withLock(\.self) {
            let bench = StorageBench(nodes[number % nodes.count])
            do {
                if number % 3 == 0 {
                    let draft = bench.notificationDraft(hub)
                    guard case .accepted = try await bench.storage.accept(draft) else { continue }
                    log.hubs.withLock { $0[hub]?.notifications.append(draft.id) }
                } else {
                    let id = "\(client)-\(number)"
                    try await bench.put(id, "handle-\(id)", ["all"], in: hub)
                    _ = log.hubs.withLock { $0[hub]?.registrations.insert(id) }
                }
                log.hubs.withLock { $0[hub]?.succeed() }
                number += 1
            } catch {
                log.hubs.withLock { $0[hub]?.refusals += 1 }
                #expect((error as? StorageError)?.kind == .unavailable)
                // Through the other node, which may know more.
                number += 3
            }
            // Twenty clients without a pause would keep the move from the processor.
            try? await Task.sleep(for: .milliseconds(5))
        }
    }
}
