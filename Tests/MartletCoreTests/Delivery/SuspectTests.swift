import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletCore

/// Devices that were refused and kept, where a service lets others pay for them.
struct SuspectTests {
    private func flight(
        pageSize: Int = 100, _ count: Int, _ answer: @escaping ScriptedTransport.Answer
    ) async throws -> Flight {
        let flight = try await Flight(pageSize: pageSize, answer)
        for number in 1...count { try await register("loft\(number)", in: flight) }
        return flight
    }

    private func register(_ loft: String, in flight: Flight) async throws {
        _ = try await flight.registry.put(
            loft, in: flight.hub, platform: ShyPigeon.platform, handle: PushHandle(loft), tags: [])
    }

    private func suspectedStale(of flight: Flight) async throws -> [Int64] {
        try await flight.storage.suspectedStale(of: ShyPigeon.platform, in: flight.hub, limit: 100).map(\.rawValue)
    }

    private func send(_ flight: Flight) async throws -> Delivery {
        let delivery = try await flight.accept(on: ShyPigeon.platform)
        #expect(try await flight.run(delivery) == .finished)
        return delivery
    }

    @Test func suspectedDevicesAreSentToLastOnASeparateConnection() async throws {
        let isWrong = Flag(true)
        let flight = try await flight(30) { loft, _ in
            isWrong.isOn && loft != "loft1" ? answered(410) : answered(200)
        }
        _ = try await send(flight)
        #expect(try await suspectedStale(of: flight) == Array(2...30), "too many to be believed")
        isWrong.isOn = false
        let before = flight.transport.sent.count
        let delivery = try await send(flight)
        let sent = flight.transport.sent.dropFirst(before)
        #expect(sent.first?.loft == "loft1")
        #expect(sent.count == 30)
        let own = sent.filter { $0.partition.hasSuffix(".suspects") }
        #expect(Set(own.map(\.loft)) == Set((2...30).map { "loft\($0)" }))
        #expect(own.allSatisfy { $0.connectionLimit == 1 })
        #expect(try await flight.report(delivery).counts == [.success: 30])
        #expect(try await suspectedStale(of: flight).isEmpty, "they were reached")
        _ = try await send(flight)
        #expect(flight.transport.sent.suffix(30).allSatisfy { !$0.partition.hasSuffix(".suspects") })
    }

    @Test func aRemovedOrRenewedDeviceIsNotSuspected() async throws {
        let isWrong = Flag(true)
        let flight = try await flight(30) { loft, _ in
            (isWrong.isOn && loft != "loft1") || loft == "loft2" ? answered(410) : answered(200)
        }
        _ = try await send(flight)
        try await register("loft3", in: flight)
        #expect(try await suspectedStale(of: flight) == [2] + Array(4...30))
        flight.time.advance(by: .seconds(700))
        isWrong.isOn = false
        let delivery = try await send(flight)
        let own = flight.transport.sent.filter { $0.partition.hasSuffix(".suspects") }.map(\.loft)
        #expect(!own.contains("loft3"))
        #expect(try await flight.report(delivery).counts == [.success: 29, .expiredChannel: 1])
        #expect(try await suspectedStale(of: flight).isEmpty)
        #expect(try await flight.registry.registration("loft2", in: flight.hub) == nil)
    }

    @Test func throttledDevicesAreRetriedOnASeparateConnection() async throws {
        let flight = try await flight(3) { loft, attempt in
            loft == "loft2" && attempt == 1 ? answered(429, ["retry-after": "10"]) : answered(200)
        }
        let delivery = try await flight.accept(on: ShyPigeon.platform)
        #expect(try await flight.run(delivery) == .waiting(until: flight.time.now + .seconds(10)))
        #expect(try await suspectedStale(of: flight) == [2])
        flight.time.advance(by: .seconds(10))
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.sent.last?.partition.hasSuffix(".suspects") == true)
        #expect(try await suspectedStale(of: flight).isEmpty)
    }

    @Test func aRoundOfRetriesWithSuspectsIsAShortOne() async throws {
        let isWrong = Flag(true)
        let flight = try await flight(pageSize: 1000, 601) { loft, _ in
            isWrong.isOn && loft != "loft1" ? answered(410) : answered(200)
        }
        _ = try await send(flight)
        isWrong.isOn = false
        let delivery = try await send(flight)
        let own = flight.transport.sent.filter { $0.partition.hasSuffix(".suspects") }
        let rounds = Dictionary(grouping: own, by: \.batch).mapValues(\.count)
        #expect(rounds.values.sorted() == [100, 250, 250])
        #expect(try await flight.report(delivery).counts == [.success: 601])
    }

    @Test func aTestSendIsSentToSuspectsAtOnce() async throws {
        let flight = try await flight(30) { loft, attempt in
            loft != "loft1" && attempt == 1 ? answered(410) : answered(200)
        }
        _ = try await send(flight)
        #expect(try await !suspectedStale(of: flight).isEmpty)
        let sends = TestSends(
            devices: flight.storage, resolver: LaneResolver(hubs: flight.hubs, platforms: flight.platforms),
            sender: flight.deliverer.sender,
            time: flight.time)
        let content = Notification.Content.native(ShyPigeon.platform, Message(body: Array("hello".utf8)))
        let report = try await sends.send(content, to: .audience(nil), in: flight.hub)
        #expect(report.failures == 0)
        #expect(report.successes > 0)
    }

    @Test func theNumberOfKeptDevicesIsLimited() async throws {
        let lane = LaneID(hub: Hub.ID(rawValue: 1), platform: ShyPigeon.platform)
        let suspectedStale = SuspectedStaleDevices(store: MemoryStorage())
        let now = Timestamp(seconds: 1000)
        #expect(await suspectedStale.channels(of: lane, at: now).isEmpty)
        func channels(_ range: ClosedRange<Int64>) -> Set<ChannelID> { Set(range.map { ChannelID(rawValue: $0) }) }
        #expect(suspectedStale.change(lane, adding: channels(1...9_990), removing: []).count == 9_990)
        #expect(
            suspectedStale.change(lane, adding: channels(1...20_000), removing: []).map(\.rawValue)
                == Array(9_991...10_000))
        #expect(suspectedStale.change(lane, adding: [], removing: channels(1...5)).isEmpty)
        #expect(await suspectedStale.channels(of: lane, at: now).first?.rawValue == 6)
    }
}
