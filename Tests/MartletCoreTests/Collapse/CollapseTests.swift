import MartletModel
import MartletTesting
import Synchronization
import Testing

@testable import MartletCore

struct CollapseTests {
    private func accept(
        _ text: String, _ key: String? = "k", to target: Notification.Target = .audience(nil), in flight: Flight
    ) async throws -> Delivery {
        let accepted = Mutex<[Delivery]>([])
        let intake = NotificationIntake(
            store: flight.storage, platforms: flight.platforms, time: flight.time,
            accepted: { deliveries in accepted.withLock { $0 = deliveries } })
        let message = Message(body: Array(text.utf8), fields: key.map { ["pigeon-collapse": $0] } ?? [:])
        _ = try await intake.accept(.native(CarrierPigeon.platform, message), to: target, in: flight.hub)
        return try #require(accepted.withLock { $0.first })
    }

    private func lofts(_ texts: String..., in flight: Flight) -> [[String]] {
        texts.map { text in flight.transport.sent.filter { $0.body == text }.map(\.loft).sorted() }
    }

    @Test func aDeviceOfTheNewerNotificationIsSparedTheOlder() async throws {
        let flight = try await Flight(pageSize: 10)
        try await flight.register("both", id: "1", tags: ["a", "b"])
        try await flight.register("one", id: "2", tags: ["a"])
        let old = try await accept("old", to: .audience(.tag(Tag("a"))), in: flight)
        let new = try await accept("new", to: .audience(.tag(Tag("b"))), in: flight)
        #expect(try await flight.run(old) == .finished)
        #expect(try await flight.run(new) == .finished)
        #expect(lofts("old", "new", in: flight) == [["one"], ["both"]])
        #expect(try await flight.report(old).counts == [.success: 1, .superseded: 1])
        #expect(try await flight.report(old).state == .completed)
        #expect(try await flight.report(new).counts == [.success: 1])
    }

    @Test func anotherKeyOrNoneTakesNoPlace() async throws {
        let flight = try await Flight(pageSize: 10)
        try await flight.register(1)
        let deliveries = [
            try await accept("a", "k", in: flight), try await accept("b", nil, in: flight),
            try await accept("c", "l", in: flight),
        ]
        for delivery in deliveries { #expect(try await flight.run(delivery) == .finished) }
        #expect(flight.transport.sent.map(\.body) == ["a", "b", "c"])
    }

    @Test func aRetryOfTheOlderIsNotMadeOnceThereIsANewer() async throws {
        let flight = try await Flight(pageSize: 10) { _, attempt in answered(attempt == 1 ? 429 : 200) }
        try await flight.register(1)
        let old = try await accept("old", in: flight)
        #expect(try await flight.run(old) == .waiting(until: flight.time.now + .seconds(1)))
        let new = try await accept("new", in: flight)
        #expect(try await flight.run(new) == .finished)
        flight.time.advance(by: .seconds(60))
        #expect(try await flight.run(old) == .finished)
        #expect(flight.transport.sent.map(\.body) == ["old", "new"])
        #expect(try await flight.report(old).counts == [.superseded: 1])
        let traces = Traces(
            store: flight.storage, maps: flight.maps, platforms: flight.platforms, messageIDs: MessageIDKey(1, 2))
        let trace = try #require(
            try await traces.trace(old.notification.id, of: "r1", in: flight.hub))
        #expect(trace.verdict == .suppressed)
        #expect(trace.pushes[0].attempts.map(\.outcome) == [.channelThrottled, .superseded])
    }

    @Test func directSendsTakeTheirPlaceByHandle() async throws {
        let flight = try await Flight(pageSize: 10)
        try await flight.register(2)
        let first = try await accept("1", to: .direct([PushHandle("LOFT1"), PushHandle("stranger")]), in: flight)
        let second = try await accept("2", to: .audience(nil), in: flight)
        let third = try await accept("3", to: .direct([PushHandle("Loft2")]), in: flight)
        for delivery in [first, second, third] { #expect(try await flight.run(delivery) == .finished) }
        #expect(lofts("1", "2", "3", in: flight) == [["stranger"], ["loft1"], ["Loft2"]])
    }

    @Test func aScheduledNotificationIsAsNewAsItsBeginning() async throws {
        let flight = try await Flight(pageSize: 10)
        try await flight.register(1)
        let intake = NotificationIntake(
            store: flight.storage, platforms: flight.platforms, time: flight.time, accepted: { _ in })
        _ = try await intake.accept(
            .native(CarrierPigeon.platform, Message(body: Array("late".utf8), fields: ["pigeon-collapse": "k"])),
            to: .audience(nil), in: flight.hub, dueAt: flight.time.now + .seconds(60))
        let early = try await accept("early", in: flight)
        #expect(try await flight.run(early) == .finished)
        flight.time.advance(by: .seconds(60))
        let released = try await flight.storage.release(due: flight.time.now, limit: 9).deliveries
        #expect(try await flight.run(released[0]) == .finished)
        #expect(flight.transport.sent.map(\.body) == ["early", "late"])
    }

    @Test(arguments: [true, false])
    func aNotificationCanceledBeforeItsFirstPageSupersedesNothing(hasBegun: Bool) async throws {
        let flight = try await Flight(pageSize: 1)
        try await flight.register(2)
        let old = try await accept("old", in: flight)
        let new = try await accept("new", in: flight)
        if hasBegun {
            var run = DeliveryRun(DeliveryProgress(new))
            #expect(await flight.deliverer.run(&run) == .yielded)
        }
        _ = try await flight.controls.apply(.cancel, to: new.notification.id, in: flight.hub)
        #expect(try await flight.run(new) == .finished)
        #expect(try await flight.run(old) == .finished)
        #expect(flight.transport.sent.map(\.body) == (hasBegun ? ["new"] : ["old", "old"]))
        #expect(try await flight.report(old).counts == (hasBegun ? [.superseded: 2] : [.success: 2]))
    }

    @Test func aCanceledNotificationSupersedesNothingEvenBeforeItsOwnTurn() async throws {
        let flight = try await Flight(pageSize: 10)
        try await flight.register(2)
        let oldest = try await accept("oldest", in: flight)
        let old = try await accept("old", in: flight)
        let canceled = try await accept("canceled", in: flight)
        _ = try await flight.controls.apply(.cancel, to: canceled.notification.id, in: flight.hub)
        for delivery in [oldest, old, canceled] { #expect(try await flight.run(delivery) == .finished) }
        #expect(flight.transport.sent.map(\.body) == ["old", "old"])
        #expect(try await flight.report(oldest).counts == [.superseded: 2])
        #expect(try await flight.report(canceled).counts == [.canceled: 2])
    }

    /// While it waits, nothing of it has gone out.
    @Test(.timeLimit(.minutes(10)))
    func aNotificationCanceledWhileItWaitsForAnOlderOneSupersedesNothing() async throws {
        let flight = try await Flight(pageSize: 10)
        try await flight.register(2)
        let oldest = try await accept("oldest", in: flight)
        let waiting = Mutex<(old: Delivery, canceled: Delivery, Task<DeliveryRun.Ending, any Error>)?>(nil)
        flight.transport.interrupt { [self] in
            guard let old = try? await accept("old", in: flight), let new = try? await accept("new", in: flight) else {
                return
            }
            let turns = Task { try await run(new, flight) }
            for _ in 0..<100 { await Task.yield() }
            _ = try? await flight.controls.apply(.cancel, to: new.notification.id, in: flight.hub)
            waiting.withLock { $0 = (old, new, turns) }
        }
        #expect(try await flight.run(oldest) == .finished)
        let (old, canceled, turns) = try #require(waiting.withLock { $0 })
        #expect(try await turns.value == .finished)
        #expect(try await run(old, flight) == .finished)
        #expect(flight.transport.sent.map(\.body) == ["oldest", "oldest", "old", "old"])
        #expect(try await flight.report(canceled).counts == [.canceled: 2])
    }

    @Test func aNotificationCanceledJustBeforeItsFirstPushSupersedesNothing() async throws {
        let flight = try await Flight(pageSize: 10)
        try await flight.register(2)
        let old = try await accept("old", in: flight)
        let new = try await accept("new", in: flight)
        flight.storage.interrupt {
            _ = try? await flight.controls.apply(.cancel, to: new.notification.id, in: flight.hub)
        }
        #expect(try await run(new, flight) == .finished)
        #expect(try await run(old, flight) == .finished)
        #expect(flight.transport.sent.map(\.body) == ["old", "old"])
        #expect(try await flight.report(new).counts == [.canceled: 2])
    }

    @Test func aPageThatAKilledProcessHadBegunCountsAsGone() async throws {
        let flight = try await Flight(pageSize: 10)
        try await flight.register(1)
        let old = try await accept("old", in: flight)
        let new = try await accept("new", in: flight)
        let before = flight.storage.copy()
        #expect(try await flight.run(new) == .finished)
        // Nothing of it was recorded, and its map is there.
        let after = try await Flight(flight, restartedWith: before)
        _ = try flight.maps.map(for: new.id, through: new.lastNumber)
        _ = try await after.controls.apply(.cancel, to: new.notification.id, in: after.hub)
        #expect(try await after.run(new) == .finished)
        #expect(try await after.run(old) == .finished)
        #expect(flight.transport.sent.map(\.body) == ["new"])
    }

    /// The process was killed between the answer and the record of it.
    @Test(arguments: [true, false]) func devicesReachedBeforeAKillCountAsSuccessHoweverTheNotificationEnds(
        isCanceled: Bool
    ) async throws {
        let flight = try await Flight(pageSize: 10)
        try await flight.register(2)
        let old = try await accept("old", in: flight)
        _ = try await accept("new", in: flight)
        let member = try #require(
            try await flight.deliverer.reader.page(of: [AudienceMember(channel: ChannelID(rawValue: 1))], old).members
                .first)
        try flight.maps.map(for: old.id, through: old.lastNumber).insert(member)
        if isCanceled { _ = try await flight.controls.apply(.cancel, to: old.notification.id, in: flight.hub) }
        #expect(try await flight.run(old) == .finished)
        #expect(flight.transport.sent.isEmpty)
        let other: OutcomeName = isCanceled ? .canceled : .superseded
        #expect(try await flight.report(old).counts == [.success: 1, other: 1])
    }

    @Test func aResendIsAsOldAsItsOriginalAndTakesNobodysPlace() async throws {
        let isSick = Flag(true)
        let flight = try await Flight(pageSize: 10) { loft, _ in
            answered(isSick.isOn && ["loft1", "loft2"].contains(loft) ? 400 : 200)
        }
        for number in 1...4 { try await flight.register("loft\(number)", id: "r\(number)") }
        try await flight.register("loft1", id: "r1", tags: ["a"])
        try await flight.register("loft3", id: "r3", tags: ["a"])
        let old = try await accept("old", in: flight)
        #expect(try await flight.run(old) == .finished)
        isSick.isOn = false
        let new = try await accept("new", to: .audience(.tag(Tag("a"))), in: flight)
        let begun = Mutex<[Delivery]>([])
        let letters = DeadLetters(store: flight.storage, time: flight.time) { deliveries in
            begun.withLock { $0 = deliveries }
        }
        guard case .accepted = try await letters.resend(old.notification.id, in: flight.hub) else {
            Issue.record("there are two to be sent again")
            return
        }
        let resend = try #require(begun.withLock { $0.first })
        #expect(try await flight.run(resend) == .finished)
        #expect(try await flight.run(new) == .finished)
        #expect(flight.transport.sent.dropFirst(4).map(\.loft) == ["loft2", "loft1", "loft3"])
        #expect(lofts("new", in: flight) == [["loft1", "loft3"]])
        #expect(try await flight.report(resend).counts == [.success: 1, .superseded: 1])
        #expect(try await flight.report(new).counts == [.success: 2])
    }

    @Test(.timeLimit(.minutes(10))) func theNewerWaitsWhileAPageOfTheOlderIsUnderWay() async throws {
        let flight = try await Flight(pageSize: 10)
        try await flight.register(1)
        let old = try await accept("old", in: flight)
        let started = Mutex<Task<DeliveryRun.Ending, any Error>?>(nil)
        flight.transport.interrupt { [self] in
            guard let new = try? await accept("new", in: flight) else { return }
            started.withLock { $0 = Task { try await run(new, flight) } }
            for _ in 0..<100 { await Task.yield() }
            #expect(flight.transport.sent.isEmpty)
        }
        #expect(try await flight.run(old) == .finished)
        let second = try #require(started.withLock { $0 })
        #expect(try await second.value == .finished)
        #expect(flight.transport.sent.map(\.body) == ["old", "new"])
    }

    @Test(.timeLimit(.minutes(10))) func supersededPushesDoNotWaitForPagesUnderWay() async throws {
        let flight = try await Flight(pageSize: 10)
        try await flight.register(1)
        let old = try await accept("old", in: flight)
        flight.transport.interrupt { [self] in
            guard let middle = try? await accept("middle", in: flight),
                (try? await accept("new", in: flight)) != nil
            else { return }
            #expect((try? await flight.run(middle)) == .finished)
            #expect(flight.transport.sent.isEmpty)
        }
        #expect(try await flight.run(old) == .finished)
        #expect(flight.transport.sent.map(\.body) == ["old"])
    }

    /// The backlog is read from the store in portions, and its end is far after what is known of it.
    @Test(.timeLimit(.minutes(10))) func theNewestOfABacklogGoesBeforeTheOlder() async throws {
        let flight = try await Flight(pageSize: 10)
        try await flight.register(3, tags: ["a"])
        var deliveries: [Delivery] = []
        for number in 1...200 {
            deliveries.append(try await accept("\(number)", to: .audience(.tag(Tag("a"))), in: flight))
        }
        let left = Mutex(0)
        flight.transport.interrupt {
            let unfinished = try? await flight.storage.unfinished(after: .none, limit: 1000).count
            left.withLock { $0 = unfinished ?? 0 }
        }
        let dispatcher = Dispatcher(
            notifications: flight.storage, devices: flight.storage, maps: flight.maps, hubs: flight.hubs,
            platforms: flight.platforms, transport: flight.transport, messageIDs: MessageIDKey(1, 2), time: flight.time,
            settings: DeliverySettings(
                queue: QueueLimits(firstPages: 2, furtherPages: 2, waiting: 4, waitingOfAnyHub: 0, held: 2)))
        let run = Task { await dispatcher.run() }
        for delivery in deliveries {
            while try await !flight.report(delivery).state.isFinal { await Task.yield() }
        }
        run.cancel()
        await run.value
        #expect(Set(flight.transport.sent.map(\.body)) == ["200"])
        #expect(flight.transport.lofts.sorted() == ["loft1", "loft2", "loft3"])
        #expect(left.withLock(\.self) > 190, "the newest is sent before the older are looked at")
        #expect(try await flight.report(deliveries[0]).counts == [.superseded: 3])
    }

    private func run(_ delivery: Delivery, _ flight: Flight) async throws -> DeliveryRun.Ending {
        while true {
            let ending = try await flight.run(delivery)
            if ending != .yielded { return ending }
        }
    }

    @Test func pagesWithNoDeviceInCommonGoAtTheSameTime() {
        var board = CollapseLockTable()
        let lane = LaneID(hub: Hub.ID(rawValue: 1), platform: CarrierPigeon.platform)
        let scope = CollapseLockTable.Scope(lane: lane, key: "k")
        func channels(_ numbers: Int64...) -> CollapseLockTable.Page {
            CollapseLockTable.Page(.channels(numbers.map { ChannelID(rawValue: $0) }))
        }
        let first = board.take(scope, channels(1, 2))
        #expect(first != nil)
        #expect(board.take(scope, channels(2, 3)) == nil)
        #expect(board.take(scope, CollapseLockTable.Page(.handleKeys(["a"]))) == nil)
        #expect(board.take(CollapseLockTable.Scope(lane: lane, key: "l"), channels(1)) != nil)
        let other = board.take(scope, channels(3))
        #expect(other != nil)
        if let first { board.end(first) }
        #expect(board.take(scope, channels(2, 3)) == nil)
        if let other { board.end(other) }
        #expect(board.take(scope, channels(2, 3)) != nil)
    }
}
