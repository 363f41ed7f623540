import MartletHTTP
import MartletModel
import MartletTesting
import Synchronization
import Testing

@testable import MartletCore

/// Sending for hubs that several processes divide among themselves.
@Suite(.timeLimit(.minutes(10)))
struct NodeTests {
    private func withNode(_ flight: Flight, _ work: (Dispatcher, HubOwnership) async throws -> Void) async throws {
        let lease = SendingLease()
        lease.extend(until: .now + .seconds(86_400))
        let ownership = HubOwnership(lease: lease)
        let dispatcher = Dispatcher(
            notifications: flight.storage, devices: flight.storage, maps: flight.maps, hubs: flight.hubs,
            platforms: flight.platforms, transport: flight.transport, messageIDs: MessageIDKey(1, 2), time: flight.time,
            ownership: ownership, settings: DeliverySettings(retry: RetryPolicy(jitter: 0)))
        let run = Task { await dispatcher.run() }
        defer { run.cancel() }
        try await work(dispatcher, ownership)
        run.cancel()
        await run.value
    }

    private func untilFinal(_ deliveries: [Delivery], _ flight: Flight) async throws {
        for delivery in deliveries {
            while try await !flight.report(delivery).state.isFinal { await Task.yield() }
        }
    }

    /// Lets a delivery of another hub be sent, after which everything that could have been sent before it was.
    private func sendInAnotherHub(_ flight: Flight, _ dispatcher: Dispatcher) async throws {
        let other = try await flight.hubs.create("mews")
        try await flight.hubs.setCredential(
            Credential(["Whistle": "tweet"]), for: CarrierPigeon.platform, of: "mews")
        try await dispatcher.own([other.id])
        let delivery = try await flight.accept(to: .direct([PushHandle("falcon")]), in: other.id)
        dispatcher.enqueue([delivery])
        try await untilFinal([delivery], flight)
    }

    @Test func aHubThatAnotherNodeOwnsIsNotSentFor() async throws {
        let flight = try await Flight()
        try await flight.register(1)
        try await withNode(flight) { dispatcher, _ in
            dispatcher.enqueue([try await flight.accept()])
            try await sendInAnotherHub(flight, dispatcher)
            #expect(dispatcher.load.waiting == 0)
        }
        #expect(flight.transport.lofts == ["falcon"])
    }

    @Test func whatWasStoredBeforeAHubIsOwnedIsSentOnce() async throws {
        let flight = try await Flight()
        try await flight.register(2)
        try await withNode(flight) { dispatcher, _ in
            var deliveries: [Delivery] = []
            for _ in 0..<3 {
                deliveries.append(try await flight.accept())
                dispatcher.enqueue([deliveries.last!])
            }
            try await dispatcher.own([flight.hub])
            deliveries.append(try await flight.accept())
            dispatcher.enqueue([deliveries.last!])
            try await untilFinal(deliveries, flight)
        }
        #expect(flight.transport.sent.count == 8)
        #expect(Set(flight.transport.sent.map(\.id)).count == 8)
    }

    @Test func whatWasPausedBeforeAHubIsOwnedStaysPaused() async throws {
        let flight = try await Flight()
        try await flight.register(1)
        try await withNode(flight) { dispatcher, _ in
            let (paused, other) = (try await flight.accept(), try await flight.accept())
            _ = try await flight.storage.control(.pause, paused.notification.id, in: flight.hub, at: flight.time.now)
            try await dispatcher.own([flight.hub])
            try await untilFinal([other], flight)
            while dispatcher.load.sleeping < 1 { await Task.yield() }
            #expect(flight.transport.lofts == ["loft1"])
            #expect(dispatcher.heldCounts[.paused] == 1)
        }
    }

    @Test func theWaitThatAServiceHasAskedForIsKeptByTheNextNode() async throws {
        let flight = try await Flight { _, _ in answered(429, ["retry-after": "600"]) }
        try await flight.register(1)
        try await withNode(flight) { dispatcher, _ in
            try await dispatcher.own([flight.hub])
            dispatcher.enqueue([try await flight.accept()])
            while dispatcher.load.sleeping < 1 { await Task.yield() }
        }
        try await withNode(flight) { dispatcher, _ in
            try await dispatcher.own([flight.hub])
            while dispatcher.load.sleeping < 1 { await Task.yield() }
        }
        #expect(flight.transport.lofts == ["loft1"])
    }

    @Test func aHubThatAnotherNodeHasTakenOverIsNotSentForAnyMore() async throws {
        let flight = try await Flight()
        try await flight.register(1)
        try await withNode(flight) { dispatcher, ownership in
            try await dispatcher.own([flight.hub])
            try await untilFinal([try await sent(flight, dispatcher)], flight)
            dispatcher.disown(flight.hub)
            #expect(!ownership.owns(flight.hub))
            _ = try await sent(flight, dispatcher)
            try await sendInAnotherHub(flight, dispatcher)
            #expect(flight.transport.lofts == ["loft1", "falcon"])
            #expect(dispatcher.heldCounts.values.allSatisfy { $0 == 0 })
        }
    }

    private func sent(_ flight: Flight, _ dispatcher: Dispatcher) async throws -> Delivery {
        let delivery = try await flight.accept()
        dispatcher.enqueue([delivery])
        return delivery
    }

    @Test func aSleepingDeliveryEndsWithTheOwnershipOfItsHub() async throws {
        let flight = try await Flight { _, _ in answered(429, ["retry-after": "600"]) }
        try await flight.register(1)
        try await withNode(flight) { dispatcher, _ in
            try await dispatcher.own([flight.hub])
            _ = try await sent(flight, dispatcher)
            while dispatcher.load.sleeping < 1 { await Task.yield() }
            dispatcher.disown(flight.hub)
            while dispatcher.load.sleeping + dispatcher.load.running + dispatcher.load.waiting > 0 {
                await Task.yield()
            }
            #expect(flight.maps.count == 1, "the next node may be this one again")
        }
        #expect(flight.transport.lofts == ["loft1"])
    }

    @Test func deliveriesThatAnotherNodeHasStoredAreFoundFromTheFirstOn() async throws {
        let flight = try await Flight()
        try await flight.register(1)
        try await withNode(flight) { dispatcher, _ in
            try await dispatcher.own([flight.hub])
            let before = try await sent(flight, dispatcher)
            try await untilFinal([before], flight)
            var stored: [Delivery] = []
            for _ in 0..<20 { stored.append(try await flight.accept()) }
            let own = try await sent(flight, dispatcher)
            dispatcher.look(for: flight.hub, from: stored[0].id)
            try await untilFinal(stored + [own], flight)
            // A hint that comes late finds nothing more to do.
            dispatcher.look(for: flight.hub, from: stored[10].id)
            try await untilFinal([try await sent(flight, dispatcher)], flight)
        }
        #expect(flight.transport.sent.count == 23)
        #expect(Set(flight.transport.sent.map(\.id)).count == 23)
    }

    @Test func aControlThatAnotherNodeHasStoredHoldsAndIsLiftedAgain() async throws {
        let tower = try await Tower(devices: 30, ownership: owning())
        try await tower.dispatcher.own([tower.hub])
        let id = try await tower.accept("hello")
        await tower.until { tower.transport.openCount == 4 }
        _ = try await tower.storage.control(.pause, id, in: tower.hub, at: tower.time.now)
        try await tower.dispatcher.refreshControls(of: [tower.hub])
        tower.transport.answer(100)
        await tower.until { tower.dispatcher.load.running == 0 }
        #expect(tower.drawn.count == 4)
        _ = try await tower.storage.control(.resume, id, in: tower.hub, at: tower.time.now)
        try await tower.dispatcher.refreshControls(of: [tower.hub])
        try await tower.finish(id)
        #expect(Set(tower.drawn.map(\.loft)).count == 30)
        #expect(tower.drawn.count == 30)
        await tower.stop()
    }

    @Test func aNotificationThatAnotherNodeHasCanceledEnds() async throws {
        let tower = try await Tower(devices: 30, ownership: owning())
        try await tower.dispatcher.own([tower.hub])
        let id = try await tower.accept("hello")
        await tower.until { tower.transport.openCount == 4 }
        _ = try await tower.storage.control(.cancel, id, in: tower.hub, at: tower.time.now)
        try await tower.dispatcher.refreshControls(of: [tower.hub])
        try await tower.finish(id)
        #expect(tower.drawn.count == 4)
        #expect(tower.dispatcher.entryCounts["controls"] == 0)
        await tower.stop()
    }

    @Test func aControlOfAHubOfAnotherNodeIsOnlyStored() async throws {
        let flight = try await Flight()
        try await flight.register(1)
        try await withNode(flight) { dispatcher, _ in
            let delivery = try await flight.accept()
            let change = try await dispatcher.makeControls().apply(
                .pause, to: delivery.notification.id, in: flight.hub)
            guard case .done(.paused, _, _) = change else {
                Issue.record("\(change)")
                return
            }
            #expect(dispatcher.entryCounts["controls"] == 0)
        }
    }

    // MARK: The lease

    private func owning(_ clock: ManualClock = ManualClock()) -> HubOwnership {
        let lease = SendingLease { clock.now }
        lease.extend(until: clock.now + .seconds(8))
        return HubOwnership(lease: lease)
    }

    @Test(arguments: [1, 9])
    func whenTheLeaseEndsSendingStopsAtTheNextDrawAndGoesOnWithItsRenewal(pagesAtOnce: Int) async throws {
        let clock = ManualClock()
        let ownership = owning(clock)
        let tower = try await Tower(devices: 50, pagesAtOnce: pagesAtOnce, ownership: ownership)
        try await tower.dispatcher.own([tower.hub])
        let id = try await tower.accept("hello")
        await tower.until { tower.transport.openCount == 4 }
        clock.advance(by: .seconds(8))
        // Nobody has told the dispatcher: the transport finds out by itself, as a process does that was stopped.
        tower.transport.answer(100)
        await tower.until { tower.dispatcher.load.running == 0 }
        #expect(tower.drawn.count == 4)
        let another = try await tower.accept("again")
        #expect(ownership.lease?.extend(until: clock.now + .seconds(8)) == true)
        tower.dispatcher.leaseRenewed()
        try await tower.finish(id)
        try await tower.finish(another)
        for body in ["hello", "again"] {
            let lofts = tower.drawn.filter { $0.body == body }.map(\.loft)
            #expect(lofts.count == 50)
            #expect(Set(lofts).count == 50)
        }
        await tower.stop()
    }

    @Test func nothingBeginsWithoutALease() async throws {
        let clock = ManualClock()
        let ownership = HubOwnership(lease: SendingLease { clock.now })
        let tower = try await Tower(devices: 3, ownership: ownership)
        try await tower.dispatcher.own([tower.hub])
        let id = try await tower.accept("hello")
        while tower.dispatcher.load.waiting < 1 { await Task.yield() }
        #expect(tower.drawn.isEmpty)
        ownership.lease?.extend(until: clock.now + .seconds(8))
        tower.dispatcher.leaseRenewed()
        try await tower.finish(id)
        #expect(tower.drawn.count == 3)
        await tower.stop()
    }

    // MARK: The directory

    private func directories(
        _ time: ManualTimeSource = ManualTimeSource()
    ) async throws -> (MemoryStorage, HubDirectory, HubDirectory) {
        let storage = MemoryStorage()
        let platforms = PushPlatformList([CarrierPigeon.self])
        let both = (0..<2).map { _ in
            HubDirectory(store: storage, platforms: platforms, time: time, isShared: true)
        }
        for directory in both { try await directory.reload() }
        return (storage, both[0], both[1])
    }

    @Test func aDirectoryTakesOverTheHubsAndRulesOfAnotherNode() async throws {
        let (_, first, second) = try await directories()
        _ = try await first.create("aviary")
        _ = try await first.create("mews")
        _ = try await first.update("aviary") { $0.limits.requestRate = 7 }
        let rule = try await first.regenerateNamespaceKey(.primary, of: AccessRule.rootName)
        try await second.refresh()
        #expect(second.all.map(\.name) == ["aviary", "mews"])
        #expect(second.hub(named: "aviary")?.settings.limits.requestRate == 7)
        #expect(second.namespaceRules.map(\.primaryKey) == [rule.primaryKey])
        guard case .hub(let hub) = second.backendChoice else {
            Issue.record("the hub of the backend is known")
            return
        }
        #expect(hub.name == "aviary")
    }

    @Test func observersHearOfCredentialsThatAnotherNodeHasSet() async throws {
        let time = ManualTimeSource()
        let (_, first, second) = try await directories(time)
        let hub = try await first.create("aviary").id
        try await second.refresh()
        let renewed = Mutex<[Hub.ID]>([])
        second.onCredentialsChange { id in renewed.withLock { $0.append(id) } }
        _ = try await first.update("aviary") { $0.userMetadata = "not a credential" }
        try await second.refresh()
        #expect(renewed.withLock(\.self).isEmpty)
        for _ in 0..<2 {
            // The second time the same credential is set, because its push service may accept it only now.
            time.advance(by: .seconds(1))
            try await first.setCredential(Credential(["Whistle": "a"]), for: CarrierPigeon.platform, of: "aviary")
            try await second.refresh()
        }
        #expect(renewed.withLock(\.self) == [hub, hub])
    }

    @Test func observersHearOfAHubThatAnotherNodeHasDeleted() async throws {
        let (_, first, second) = try await directories()
        let hub = try await first.create("aviary").id
        try await second.refresh()
        let gone = Mutex<[Hub.ID]>([])
        second.onDeletion { id in
            #expect(second.presence(of: id) == .absent)
            gone.withLock { $0.append(id) }
        }
        try await first.delete("aviary")
        try await second.refresh()
        #expect(gone.withLock(\.self) == [hub])
        #expect(second.all.isEmpty)
    }

    @Test(.timeLimit(.minutes(10))) func aHubThatAnotherNodeHasDeletedIsNotSentForAnyMore() async throws {
        let flight = try await Flight { _, _ in answered(429, ["retry-after": "600"]) }
        try await flight.register(1)
        let another = HubDirectory(store: flight.storage, platforms: flight.platforms, time: flight.time)
        try await another.reload()
        try await withNode(flight) { dispatcher, _ in
            flight.hubs.onDeletion { dispatcher.deletionChanged(of: $0) }
            try await dispatcher.own([flight.hub])
            _ = try await sent(flight, dispatcher)
            while dispatcher.load.sleeping < 1 { await Task.yield() }
            try await another.delete("aviary")
            try await flight.hubs.refresh()
            while dispatcher.load.sleeping + dispatcher.load.running + dispatcher.load.waiting > 0
                || flight.maps.count > 0
            {
                await Task.yield()
            }
        }
    }

    @Test func aCredentialThatAnotherNodeHasSetWakesWhatWaitedForIt() async throws {
        let isWrong = Flag(true)
        let flight = try await Flight { _, _ in isWrong.isOn ? answered(403) : answered(200) }
        try await flight.register(1)
        let another = HubDirectory(store: flight.storage, platforms: flight.platforms, time: flight.time)
        try await another.reload()
        try await withNode(flight) { dispatcher, _ in
            flight.hubs.onCredentialsChange { dispatcher.credentialsChanged(in: $0) }
            try await dispatcher.own([flight.hub])
            let delivery = try await sent(flight, dispatcher)
            await flight.time.untilSleeping()
            isWrong.isOn = false
            try await another.setCredential(
                Credential(["Whistle": "chirp"]), for: CarrierPigeon.platform, of: "aviary")
            try await flight.hubs.refresh()
            try await untilFinal([delivery], flight)
        }
        #expect(flight.transport.lofts == ["loft1", "loft1"])
    }

    @Test func aRefreshDoesNotUndoWhatThisNodeChangesMeanwhile() async throws {
        let (storage, first, second) = try await directories()
        _ = try await first.create("aviary")
        try await second.refresh()
        try await withThrowingTaskGroup { group in
            for directory in [first, second] {
                group.addTask {
                    for _ in 0..<50 {
                        _ = try await directory.update("aviary") { $0.userMetadata = ($0.userMetadata ?? "") + "." }
                        await Task.yield()
                    }
                }
                group.addTask {
                    for _ in 0..<50 {
                        try await directory.refresh()
                        await Task.yield()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await storage.hubs().first?.settings.userMetadata?.count == 100)
        for directory in [first, second] {
            try await directory.refresh()
            #expect(directory.hub(named: "aviary")?.settings.userMetadata?.count == 100)
        }
    }
}

/// A clock that goes on only when the test says so.
final class ManualClock: Sendable {
    private let time = Mutex(ContinuousClock.now)

    var now: ContinuousClock.Instant { time.withLock(\.self) }

    func advance(by duration: Duration) {
        time.withLock { $0 += duration }
    }
}
