import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletCore

/// What one device whose pushes fail does to the others of its lane.
struct FailingDeviceDeliveryTests {
    private static let reset = Result<HTTPResponse, TransportError>.failure(
        TransportError(.reset, mayHaveBeenProcessed: true, "INTERNAL_ERROR"))

    private func flight(
        _ count: Int = 5, failing: Set<String> = ["loft1"], _ isFailing: Flag = Flag(true)
    ) async throws -> Flight {
        let flight = try await Flight { loft, _ in
            isFailing.isOn && failing.contains(loft) ? Self.reset : answered(200)
        }
        for number in 1...count { try await flight.register("loft\(number)", id: "r\(number)", tags: ["d:\(number)"]) }
        return flight
    }

    private func send(_ flight: Flight, to number: Int) async throws -> Delivery {
        try await flight.accept(to: .audience(TagExpression("d:\(number)")))
    }

    private func lane(_ flight: Flight) -> LaneID { LaneID(hub: flight.hub, platform: CarrierPigeon.platform) }

    @Test func oneFailingDevicePausesNoLane() async throws {
        let flight = try await flight()
        for _ in 0..<20 {
            let failing = try await send(flight, to: 1)
            guard case .waiting = try await flight.run(failing) else {
                Issue.record("only its own push waits")
                return
            }
            #expect(flight.lanes.isOpen(lane(flight)))
        }
        #expect(flight.transport.lofts == ["loft1"], "the others wait for it")
        for number in 2...5 { #expect(try await flight.run(send(flight, to: number)) == .finished) }
        #expect(flight.alarms.all.isEmpty)
    }

    @Test func oneDeviceWhosePushesEndEveryConnectionPausesNoLane() async throws {
        let ended = Result<HTTPResponse, TransportError>.failure(
            TransportError(.disconnected, mayHaveBeenProcessed: false, "the peer ended the connection"))
        let flight = try await Flight(pageSize: 10) { loft, _ in loft == "loft1" ? ended : answered(200) }
        try await flight.register(6)
        var deliveries: [Delivery] = []
        for _ in 0..<8 {
            deliveries.append(try await flight.accept())
            for delivery in deliveries { _ = try await flight.run(delivery) }
            #expect(flight.lanes.isOpen(lane(flight)))
            #expect(try await flight.report(deliveries.last!).counts == [.success: 5])
            flight.time.advance(by: .seconds(4))
        }
        #expect(flight.alarms.all.isEmpty)
        #expect(flight.lanes.hasFailingDevices(in: lane(flight)), "it is paused alone")
    }

    @Test func aDeviceThatFailsIsTriedOnAConnectionOfItsOwn() async throws {
        let flight = try await flight()
        _ = try await flight.run(try await send(flight, to: 1))
        flight.time.advance(by: .seconds(2))
        let before = flight.transport.sent.count
        _ = try await flight.run(try await flight.accept())
        let partitions = Dictionary(grouping: flight.transport.sent.dropFirst(before), by: \.partition)
            .mapValues { Set($0.map(\.loft)) }
        #expect(partitions.count == 2)
        #expect(partitions.values.contains(["loft1"]))
        #expect(partitions.first { $0.value == ["loft1"] }?.key.hasSuffix(".trials") == true)
    }

    @Test func waitingPushesOfADeviceAreSentOnceItAnswersAndTheWaitIsNoAttempt() async throws {
        let isFailing = Flag(true)
        let flight = try await flight(5, isFailing)
        var deliveries: [Delivery] = []
        for _ in 0..<5 {
            deliveries.append(try await send(flight, to: 1))
            _ = try await flight.run(deliveries.last!)
        }
        let retries = try await flight.storage.retries(of: deliveries[4].id, due: .distantFuture, limit: 10)
        #expect(retries.map(\.attempts) == [0])
        #expect(retries.map(\.reason) == ["reset"])
        isFailing.isOn = false
        for _ in 0..<10 {
            flight.time.advance(by: .seconds(2))
            for delivery in try await flight.storage.unfinished(after: .none, limit: 10) {
                _ = try await flight.run(delivery.delivery)
            }
        }
        #expect(flight.transport.lofts == Array(repeating: "loft1", count: 6))
        for delivery in deliveries { #expect(try await flight.report(delivery).counts == [.success: 1]) }
    }

    @Test func aDeviceThatFailsDoesNotHoldUpABroadcast() async throws {
        let flight = try await flight()
        _ = try await flight.run(try await send(flight, to: 1))
        let all = try await flight.accept()
        guard case .waiting = try await flight.run(all) else {
            Issue.record("the one device waits")
            return
        }
        #expect(flight.transport.lofts == ["loft1", "loft2", "loft3", "loft4", "loft5"])
        #expect(try await flight.report(all).counts == [.success: 4])
    }

    @Test func aMessageThatWouldExpireBeforeThatGoesAtOnce() async throws {
        let flight = try await flight()
        _ = try await flight.run(try await send(flight, to: 1))
        let short = try await flight.accept(to: .audience(TagExpression("d:1")), lifetime: .seconds(1))
        _ = try await flight.run(short)
        #expect(flight.transport.lofts == ["loft1", "loft1"])
    }

    @Test func severalDevicesInARowPauseTheLaneAndNoneOfThemIsItsProbe() async throws {
        let isFailing = Flag(true)
        let flight = try await flight(6, failing: ["loft1", "loft2", "loft3"], isFailing)
        for number in 1...3 { _ = try await flight.run(try await send(flight, to: number)) }
        let lane = lane(flight)
        #expect(!flight.lanes.isOpen(lane))
        let healthy = try await send(flight, to: 4)
        guard case .paused(lane, let until) = try await flight.run(healthy) else {
            Issue.record("the lane is paused")
            return
        }
        #expect(until == flight.time.now + .seconds(1))
        flight.time.advance(to: until)
        // Those that fail come first, and neither prolong the pause nor keep the others from trying.
        for number in 1...3 { _ = try await flight.run(try await send(flight, to: number)) }
        #expect(flight.transport.lofts.count == 6, "one at a time is tried on its own")
        #expect(!flight.lanes.isOpen(lane))
        #expect(try await flight.run(healthy) == .finished)
        #expect(flight.lanes.isOpen(lane))
        for number in 1...3 { _ = try await flight.run(try await send(flight, to: number)) }
        flight.time.advance(by: .seconds(60))
        for number in 1...3 { _ = try await flight.run(try await send(flight, to: number)) }
        #expect(flight.lanes.isOpen(lane), "they are known, and show nothing new")
    }

    @Test func aServiceThatFailsIsLeftAloneAndProbedWithOtherDevices() async throws {
        let isDown = Flag(true)
        let flight = try await Flight(pageSize: 10) { loft, _ in
            isDown.isOn || loft == "loft1" ? Self.reset : answered(200)
        }
        try await flight.register(40)
        let broadcast = try await flight.accept()
        guard case .paused(let lane, let until) = try await flight.run(broadcast) else {
            Issue.record("a service that resets everything is left alone")
            return
        }
        #expect(flight.transport.sent.count == 10)
        flight.time.advance(to: until)
        guard case .paused(lane, let second) = try await flight.run(broadcast) else {
            Issue.record("others fail too")
            return
        }
        #expect(second == flight.time.now + .seconds(2))
        #expect(flight.transport.sent.count == 20)
        isDown.isOn = false
        flight.time.advance(to: second)
        let again = try await flight.accept()
        _ = try await flight.run(again)
        #expect(flight.transport.lofts.dropFirst(20).count { $0 == "loft1" } <= 1)
        #expect(flight.lanes.isOpen(lane))
        #expect(try await flight.report(again).counts[.success] ?? 0 >= 20)
    }

    @Test func aPageThatIsAProbeLeavesOutDevicesThatFail() async throws {
        let flight = try await flight(6, failing: ["loft1", "loft3", "loft5"])
        for number in [1, 3, 5] { _ = try await flight.run(try await send(flight, to: number)) }
        flight.time.advance(by: .seconds(100))
        let broadcast = try await flight.accept()
        guard case .waiting = try await flight.run(broadcast) else {
            Issue.record("three devices wait")
            return
        }
        #expect(flight.transport.lofts == ["loft1", "loft3", "loft5", "loft2", "loft4", "loft6"])
        #expect(flight.lanes.isOpen(lane(flight)))
        #expect(try await flight.report(broadcast).counts == [.success: 3])
    }

    @Test func aTestSendIsMadeToADeviceThatFails() async throws {
        let flight = try await flight()
        _ = try await flight.run(try await send(flight, to: 1))
        let sends = TestSends(
            devices: flight.storage, resolver: LaneResolver(hubs: flight.hubs, platforms: flight.platforms),
            sender: flight.deliverer.sender,
            time: flight.time)
        let content = Notification.Content.native(CarrierPigeon.platform, Message(body: Array("hello".utf8)))
        let report = try await sends.send(content, to: .audience(TagExpression("d:1")), in: flight.hub)
        #expect(report.failures == 1)
        #expect(flight.transport.lofts == ["loft1", "loft1"])
    }

    @Test func oneAddressOfAnOriginThatFailsPausesNoOther() async throws {
        let flight = try await Flight(hasCredential: false) { loft, _ in loft == "1" ? Self.reset : answered(201) }
        try await flight.hubs.setCredential(Credential([:]), for: HomingPigeon.platform, of: "aviary")
        for _ in 0..<5 {
            for _ in 0..<5 {
                let bad = try await flight.accept(
                    on: HomingPigeon.platform, to: .direct([PushHandle("https://shared/1")]))
                _ = try await flight.run(bad)
                flight.time.advance(by: .seconds(100))
            }
            let good = try await flight.accept(
                on: HomingPigeon.platform, to: .direct([PushHandle("https://shared/2")]))
            #expect(try await flight.run(good) == .finished)
        }
        #expect(flight.deliverer.sender.origins.pausedCounts.isEmpty)
    }

    @Test(.timeLimit(.minutes(10))) func nothingIsKeptOfHubsThatAreDeleted() async throws {
        let flight = try await Flight { _, _ in answered(503) }
        let dispatcher = Dispatcher(
            notifications: flight.storage, devices: flight.storage, maps: flight.maps, hubs: flight.hubs,
            platforms: flight.platforms, transport: flight.transport, messageIDs: MessageIDKey(1, 2),
            time: flight.time)
        flight.hubs.onDeletion { dispatcher.deletionChanged(of: $0) }
        try await flight.hubs.delete("aviary")
        let running = Task { await dispatcher.run() }
        for number in 0..<30 {
            let name = "hub\(number)"
            let hub = try await flight.hubs.create(name).id
            try await flight.hubs.setCredential(Credential([:]), for: HomingPigeon.platform, of: name)
            let address = PushHandle("https://a/\(number)")
            let delivery = try await flight.accept(on: HomingPigeon.platform, to: .direct([address]), in: hub)
            dispatcher.enqueue([delivery])
            while flight.transport.lofts.count <= number { await Task.yield() }
            try await flight.hubs.delete(name)
        }
        while dispatcher.known != (0, 0, 0) || dispatcher.load.running > 0 { await Task.yield() }
        running.cancel()
        await running.value
        #expect(dispatcher.known == (0, 0, 0))
    }
}
