import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Testing

struct DispatcherTests {
    private func withDispatcher(
        _ flight: Flight, _ settings: DeliverySettings = DeliverySettings(retry: RetryPolicy(jitter: 0)),
        _ work: (Dispatcher) async throws -> Void
    ) async throws {
        let dispatcher = Dispatcher(
            notifications: flight.storage, devices: flight.storage, maps: flight.maps, hubs: flight.hubs,
            platforms: flight.platforms, transport: flight.transport, messageIDs: MessageIDKey(1, 2), time: flight.time,
            settings: settings)
        let run = Task { await dispatcher.run() }
        defer { run.cancel() }
        try await work(dispatcher)
        run.cancel()
        await run.value
    }

    /// Lets other tasks go on until deliveries are final.
    private func untilFinal(_ deliveries: [Delivery], _ flight: Flight) async throws {
        for delivery in deliveries {
            while try await !flight.report(delivery).state.isFinal { await Task.yield() }
        }
    }

    @Test(.timeLimit(.minutes(10))) func acceptedSendsAreDelivered() async throws {
        let flight = try await Flight()
        try await flight.register(2)
        try await withDispatcher(flight) { dispatcher in
            let delivery = try await flight.accept()
            dispatcher.enqueue([delivery])
            try await untilFinal([delivery], flight)
        }
        #expect(flight.transport.lofts == ["loft1", "loft2"])
    }

    @Test(.timeLimit(.minutes(10))) func sendsAcceptedBeforeARestartAreDeliveredAfterIt() async throws {
        let flight = try await Flight()
        try await flight.register(1)
        let deliveries = [try await flight.accept(), try await flight.accept()]
        try await withDispatcher(flight) { _ in try await untilFinal(deliveries, flight) }
        #expect(flight.transport.lofts == ["loft1", "loft1"])
    }

    @Test(.timeLimit(.minutes(10))) func moreThanTheQueueHoldsIsDeliveredAllTheSame() async throws {
        let flight = try await Flight()
        try await flight.register(1)
        let settings = DeliverySettings(
            queue: QueueLimits(firstPages: 2, furtherPages: 2, waiting: 2, waitingOfAnyHub: 0, held: 1))
        try await withDispatcher(flight, settings) { dispatcher in
            var deliveries: [Delivery] = []
            for _ in 0..<50 {
                deliveries.append(try await flight.accept())
                dispatcher.enqueue([deliveries.last!])
            }
            try await untilFinal(deliveries, flight)
        }
        #expect(Set(flight.transport.sent.map(\.id)).count == 50)
        #expect(flight.transport.sent.count == 50)
    }

    @Test(.timeLimit(.minutes(10))) func aRetryGoesOutWhenItsTimeComes() async throws {
        let flight = try await Flight { _, attempt in
            attempt == 1 ? answered(429, ["retry-after": "10"]) : answered(200)
        }
        try await flight.register(1)
        try await withDispatcher(flight) { dispatcher in
            let delivery = try await flight.accept()
            dispatcher.enqueue([delivery])
            await flight.time.untilSleeping()
            flight.time.advance(by: .seconds(10))
            try await untilFinal([delivery], flight)
        }
        #expect(flight.transport.lofts == ["loft1", "loft1"])
    }

    @Test(.timeLimit(.minutes(10))) func aDeliveryEndsSoonAfterItsDeviceIsGone() async throws {
        let flight = try await Flight { _, _ in answered(429, ["retry-after": "3600"]) }
        try await flight.register(1)
        try await withDispatcher(flight) { dispatcher in
            let delivery = try await flight.accept()
            dispatcher.enqueue([delivery])
            await flight.time.untilSleeping()
            _ = try await flight.registry.delete("r1", in: flight.hub)
            while try await !flight.report(delivery).state.isFinal {
                dispatcher.lookForGoneDevices()
                await Task.yield()
            }
        }
        #expect(flight.transport.lofts == ["loft1"])
    }

    @Test(.timeLimit(.minutes(10))) func aRetryDoesNotWaitForADayWhereTheClockIsSetBack() async throws {
        let flight = try await Flight { _, attempt in
            attempt == 1 ? answered(429, ["retry-after": "10"]) : answered(200)
        }
        try await flight.register(1)
        let start = flight.time.now
        try await withDispatcher(flight) { dispatcher in
            flight.time.advance(by: .seconds(43_200))
            let delivery = try await flight.accept()
            dispatcher.enqueue([delivery])
            await flight.time.untilSleeping()
            flight.time.advance(to: start)
            while try await flight.storage.nextRetry(of: delivery.id) ?? start > start + .seconds(60) {
                await Task.yield()
            }
            await flight.time.untilSleeping()
            flight.time.advance(by: .seconds(3600))
            try await untilFinal([delivery], flight)
        }
        #expect(flight.transport.lofts == ["loft1", "loft1"])
    }

    @Test(.timeLimit(.minutes(10))) func aNewCredentialWakesWhatWaitedForIt() async throws {
        let isWrong = Flag(true)
        let flight = try await Flight { _, _ in isWrong.isOn ? answered(403) : answered(200) }
        try await flight.register(1)
        try await withDispatcher(flight) { dispatcher in
            let delivery = try await flight.accept()
            dispatcher.enqueue([delivery])
            await flight.time.untilSleeping()
            isWrong.isOn = false
            dispatcher.credentialsChanged(in: flight.hub)
            try await untilFinal([delivery], flight)
        }
        #expect(flight.transport.lofts == ["loft1", "loft1"])
    }

    @Test(.timeLimit(.minutes(10))) func aNewCredentialEndsTheWaitsOfDevicesThatRefusedTheOldOne() async throws {
        let isWrong = Flag(true)
        let flight = try await Flight { loft, _ in
            loft == "loft1" ? answered(isWrong.isOn ? 407 : 200) : answered(429, ["retry-after": "600"])
        }
        try await flight.register(2)
        try await withDispatcher(flight) { dispatcher in
            let delivery = try await flight.accept()
            dispatcher.enqueue([delivery])
            await flight.time.untilSleeping()
            isWrong.isOn = false
            dispatcher.credentialsChanged(in: flight.hub)
            while flight.transport.lofts.count < 3 { await Task.yield() }
        }
        #expect(flight.transport.lofts.sorted() == ["loft1", "loft1", "loft2"], "a throttled device still waits")
    }

    @Test(.timeLimit(.minutes(10))) func aBacklogOfAPausedPlatformGoesWhenItOpensAndHoldsUpNoOtherHub() async throws {
        let isWrong = Flag(true)
        let flight = try await Flight { loft, _ in isWrong.isOn && loft != "dove" ? answered(403) : answered(200) }
        try await flight.register(1)
        let settings = DeliverySettings(queue: QueueLimits(firstPages: 2, furtherPages: 2, waiting: 4, held: 2))
        let other = try await flight.hubs.create("dovecote").id
        try await flight.hubs.setCredential(Credential(["Whistle": "coo"]), for: CarrierPigeon.platform, of: "dovecote")
        try await withDispatcher(flight, settings) { dispatcher in
            var deliveries: [Delivery] = []
            for _ in 0..<40 {
                deliveries.append(try await flight.accept())
                dispatcher.enqueue([deliveries.last!])
            }
            let direct = try await flight.accept(to: .direct([PushHandle("dove")]), in: other)
            dispatcher.enqueue([direct])
            while !flight.transport.lofts.contains("dove") { await Task.yield() }
            #expect(flight.transport.sent.count <= 3, "few find out that the platform is paused")
            isWrong.isOn = false
            dispatcher.credentialsChanged(in: flight.hub)
            try await untilFinal(deliveries, flight)
        }
        #expect(Set(flight.transport.sent.map(\.id)).count == 41)
        #expect(flight.maps.count == 0)
    }

    @Test(.timeLimit(.minutes(10))) func waitingNotificationsOfADeletedHubLeaveNothingBehind() async throws {
        let flight = try await Flight { _, _ in answered(429, ["retry-after": "10"]) }
        try await flight.register(1)
        try await withDispatcher(flight) { dispatcher in
            dispatcher.enqueue([try await flight.accept()])
            await flight.time.untilSleeping()
            #expect(flight.maps.count == 1)
            try await flight.hubs.delete("aviary")
            flight.time.advance(by: .seconds(60))
            while flight.maps.count > 0 { await Task.yield() }
        }
        #expect(flight.transport.lofts == ["loft1"])
    }

    @Test(
        "What waits in a hub ends with the deletion of the hub, without its time being waited for",
        .timeLimit(.minutes(10)))
    func waitingDeliveriesEndWithTheirHub() async throws {
        let flight = try await Flight { _, _ in answered(429, ["retry-after": "3600"]) }
        try await flight.register(1)
        try await withDispatcher(flight) { dispatcher in
            flight.hubs.onDeletion { dispatcher.deletionChanged(of: $0) }
            for _ in 0..<5 { dispatcher.enqueue([try await flight.accept()]) }
            while dispatcher.load.sleeping < 5 { await Task.yield() }
            try await flight.hubs.delete("aviary")
            while dispatcher.load.sleeping + dispatcher.load.running + dispatcher.load.waiting > 0 {
                await Task.yield()
            }
            #expect(flight.maps.count == 0)
        }
    }

    @Test("Waiting deliveries of a hub continue if its deletion failed", .timeLimit(.minutes(10)))
    func waitingDeliveriesSurviveAFailedDeletion() async throws {
        let flight = try await Flight { _, attempt in
            attempt == 1 ? answered(429, ["retry-after": "60"]) : answered(200)
        }
        try await flight.register(1)
        let hubs = HubDirectory(
            store: UndeletableHubs(hubs: flight.storage), platforms: flight.platforms, time: flight.time)
        try await hubs.reload()
        let dispatcher = Dispatcher(
            notifications: flight.storage, devices: flight.storage, maps: flight.maps, hubs: hubs,
            platforms: flight.platforms, transport: flight.transport, messageIDs: MessageIDKey(1, 2), time: flight.time,
            settings: DeliverySettings(retry: RetryPolicy(jitter: 0)))
        hubs.onDeletion { dispatcher.deletionChanged(of: $0) }
        let run = Task { await dispatcher.run() }
        let delivery = try await flight.accept()
        dispatcher.enqueue([delivery])
        while dispatcher.load.sleeping < 1 { await Task.yield() }
        await #expect(throws: HubDirectoryError.self) { try await hubs.delete("aviary") }
        flight.time.advance(by: .seconds(60))
        try await untilFinal([delivery], flight)
        run.cancel()
        await run.value
        #expect(flight.transport.lofts == ["loft1", "loft1"])
    }
}

/// Hubs whose deletion fails as on a broken disk.
private struct UndeletableHubs: HubStore {
    let hubs: any HubStore

    func hubs() async throws(StorageError) -> [Hub] { try await hubs.hubs() }
    func createHub(name: String, settings: HubSettings, at now: Timestamp) async throws(StorageError) -> Hub? {
        try await hubs.createHub(name: name, settings: settings, at: now)
    }
    func updateHub(
        _ id: Hub.ID, settings: HubSettings, replacing old: HubSettings, at now: Timestamp
    ) async throws(StorageError) -> HubUpdate {
        try await hubs.updateHub(id, settings: settings, replacing: old, at: now)
    }
    func deleteHub(_ id: Hub.ID) async throws(StorageError) -> Bool {
        throw StorageError(.unavailable, "The disk is broken.")
    }
    func backendHub() async throws(StorageError) -> Hub.ID? { try await hubs.backendHub() }
    func setBackendHub(_ id: Hub.ID) async throws(StorageError) { try await hubs.setBackendHub(id) }
    func namespaceRules() async throws(StorageError) -> [AccessRule] { try await hubs.namespaceRules() }
    func setNamespaceRules(
        _ rules: [AccessRule], replacing old: [AccessRule]
    ) async throws(StorageError) -> Bool {
        try await hubs.setNamespaceRules(rules, replacing: old)
    }
}
