import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletCore

/// Thousands of retries that wait for an origin that answers nothing.
struct PausedOriginTests {
    private static let devices = 150
    private static let deliveries = 20
    private static let retries = devices * deliveries
    /// How long a request waits for an answer that never comes.
    private static let silence = Duration.seconds(20)

    private func flight(_ isDead: Flag) async throws -> Flight {
        let flight = try await Flight(hasCredential: false) { _, _ in
            isDead.isOn ? .failure(TransportError(.timedOut, mayHaveBeenProcessed: true, "")) : answered(201)
        }
        flight.transport.delay { [time = flight.time] in
            if isDead.isOn { try? await time.sleep(until: time.now + Self.silence) }
        }
        try await flight.hubs.setCredential(Credential([:]), for: HomingPigeon.platform, of: "aviary")
        for number in 1...Self.devices {
            _ = try await flight.registry.put(
                "r\(number)", in: flight.hub, platform: HomingPigeon.platform,
                handle: PushHandle("https://bad/\(number)"), tags: [])
        }
        return flight
    }

    /// Moves the clock by a second, and lets the dispatcher do what is due.
    private func advance(_ flight: Flight, _ dispatcher: Dispatcher) async {
        flight.time.advance(by: .seconds(1))
        var calm = 0
        while calm < 50 {
            await Task.yield()
            let load = dispatcher.load
            let isIdle = load.waiting == 0 && load.running <= flight.transport.waitingCount
            calm = isIdle ? calm + 1 : 0
        }
    }

    private func retries(of deliveries: [Delivery], _ flight: Flight) async throws -> Int {
        var count = 0
        for delivery in deliveries {
            count += try await flight.storage.retries(of: delivery.id, due: .distantFuture, limit: .max).count
        }
        return count
    }

    private func isFinal(_ deliveries: [Delivery], _ flight: Flight) async throws -> Bool {
        for delivery in deliveries {
            guard try await flight.report(delivery).state.isFinal else { return false }
        }
        return true
    }

    @Test(.timeLimit(.minutes(10)))
    func aRetryIsWrittenOnceInEachPauseAndIsSentWhenTheOriginAnswers() async throws {
        let isDead = Flag(true)
        let flight = try await flight(isDead)
        let dispatcher = Dispatcher(
            notifications: flight.storage, devices: flight.storage, maps: flight.maps, hubs: flight.hubs,
            platforms: flight.platforms, transport: flight.transport, messageIDs: MessageIDKey(1, 2), time: flight.time,
            settings: DeliverySettings(retry: RetryPolicy(jitter: 0)))
        let run = Task { await dispatcher.run() }
        defer { run.cancel() }
        var deliveries: [Delivery] = []
        for _ in 0..<Self.deliveries { deliveries.append(try await flight.accept(on: HomingPigeon.platform)) }
        dispatcher.enqueue(deliveries)
        while try await retries(of: deliveries, flight) < Self.retries { await advance(flight, dispatcher) }

        let lane = LaneID(hub: flight.hub, platform: HomingPigeon.platform)
        let (written, sent) = (flight.storage.retryWrites.rows, flight.transport.sent.count)
        var pauses: Set<Timestamp> = []
        for _ in 0..<180 {
            await advance(flight, dispatcher)
            pauses.formUnion(dispatcher.originPauses(of: lane).map(\.until).filter { $0 > flight.time.now })
        }
        let attempts = flight.transport.sent.count - sent
        #expect(pauses.count >= 3, "pauses that double, with a probe after each")
        #expect(attempts <= 4 * pauses.count, "\(attempts) pushes in \(pauses.count) pauses")
        let rows = flight.storage.retryWrites.rows - written
        #expect(rows <= Self.retries * pauses.count + attempts, "\(rows) rows in \(pauses.count) pauses")

        isDead.isOn = false
        let answeredBefore = flight.transport.sent.count
        while flight.transport.sent.count <= answeredBefore { await advance(flight, dispatcher) }
        let end = flight.time.now + .seconds(90)
        while try await !isFinal(deliveries, flight), flight.time.now < end { await advance(flight, dispatcher) }
        for delivery in deliveries {
            #expect(try await flight.report(delivery).counts == [.success: Self.devices])
        }
        run.cancel()
        await run.value
    }

    @Test func aRetryWaitsForTheProbeOfAnotherDeliveryUnchangedAndGoesOnWhenTheProbeIsAnswered() async throws {
        let isDead = Flag(true)
        let flight = try await flight(isDead)
        flight.transport.delay {}
        let first = try await flight.accept(on: HomingPigeon.platform)
        let second = try await flight.accept(on: HomingPigeon.platform)
        for delivery in [first, second] {
            guard case .waiting = try await flight.run(delivery) else {
                Issue.record("the origin answers nothing")
                return
            }
        }
        let origins = flight.deliverer.sender.origins
        flight.time.advance(by: .seconds(5))
        flight.transport.interrupt {
            do {
                let before = flight.storage.retryWrites
                let ending = try await flight.run(second)
                #expect(ending == .probing(until: flight.time.now + .seconds(30)))
                #expect(flight.storage.retryWrites == before)
                #expect(origins.isWaiting(second.id))
                isDead.isOn = false
            } catch {
                Issue.record(error)
            }
        }
        #expect(try await flight.run(first) == .finished)
        #expect(origins.takeReleased() == [second.id])
        #expect(!origins.isWaiting(second.id))
        #expect(try await flight.run(second) == .finished)
        #expect(origins.waitingCount == 0)
    }

    @Test func retriesToAnOriginThatWorksDoNotWaitForTheProbeOfAnother() async throws {
        let flight = try await Flight(pageSize: 4, hasCredential: false) { _, _ in answered(201) }
        try await flight.hubs.setCredential(Credential([:]), for: HomingPigeon.platform, of: "aviary")
        for (number, loft) in ["bad/1", "good/1", "bad/2", "good/2", "good/3", "good/4"].enumerated() {
            _ = try await flight.registry.put(
                "r\(number)", in: flight.hub, platform: HomingPigeon.platform, handle: PushHandle("https://\(loft)"),
                tags: [])
        }
        let origins = flight.deliverer.sender.origins
        let lane = LaneID(hub: flight.hub, platform: HomingPigeon.platform)
        let bad = HTTPOrigin(scheme: .https, host: "bad")
        let good = HTTPOrigin(scheme: .https, host: "good")
        for origin in [bad, good] {
            let pause = LanePause(
                origin: origin.description, until: flight.time.now + .seconds(5), outcome: .throttled, reason: "")
            origins.restore(pause, of: lane, at: flight.time.now)
        }
        let delivery = try await flight.accept(on: HomingPigeon.platform)
        guard case .waiting = try await flight.run(delivery) else {
            Issue.record("both origins are paused")
            return
        }
        flight.time.advance(by: .seconds(5))
        // Another delivery probes the one origin, and has found out that the other works.
        #expect(origins.enter(lane, bad, at: flight.time.now, probeDuration: .seconds(30)) == .probe)
        var evidence = PushEvidence(startedAt: flight.time.now)
        evidence.answers = 1
        origins.record(evidence, [], lane, good, role: .probe, at: flight.time.now)
        let ending = try await flight.run(delivery)
        #expect(ending == .probing(until: flight.time.now + .seconds(30)))
        #expect(try await flight.report(delivery).counts == [.success: 4], "though a round has room for four retries")
        #expect(flight.transport.sent.allSatisfy { $0.origin.host == "good" })
        origins.end(.probe, lane, bad, at: flight.time.now)
        #expect(origins.takeReleased() == [delivery.id])
    }
}
