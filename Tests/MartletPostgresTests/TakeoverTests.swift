import MartletCore
import MartletHTTP
import MartletModel
import MartletTesting
import Synchronization
import Testing

@testable import MartletPostgres

/// Deliveries that one node begins and another goes on with, through dispatchers.
@Suite(.enabled(if: TestDatabase.isThere, "there is no PostgreSQL"), .timeLimit(.minutes(10)))
struct TakeoverTests {
    /// A node with what it sends with.
    private struct Node {
        let storage: PostgresStorage
        let hubs: HubDirectory
        let devices: DeviceRegistry
        let dispatcher: Dispatcher
        let traces: Traces
        let time: ManualTimeSource

        init(_ storage: PostgresStorage, _ transport: any HTTPTransport, _ time: ManualTimeSource) async throws {
            self.storage = storage
            self.time = time
            let platforms = PushPlatformList([CarrierPigeon.self])
            let lease = SendingLease()
            lease.extend(until: .now + .seconds(86_400))
            hubs = HubDirectory(store: storage, platforms: platforms, time: time, isShared: true)
            try await hubs.reload()
            devices = DeviceRegistry(store: storage, platforms: platforms, time: time)
            dispatcher = Dispatcher(
                notifications: storage, devices: storage, maps: storage.maps, hubs: hubs, platforms: platforms,
                transport: transport, messageIDs: MessageIDKey(1, 2), time: time, ownership: HubOwnership(lease: lease),
                settings: DeliverySettings(retry: RetryPolicy(jitter: 0)))
            traces = Traces(
                store: storage, maps: storage.maps, platforms: platforms, messageIDs: MessageIDKey(1, 2))
        }

        func register(_ loft: String, id: String, in hub: Hub.ID) async throws {
            _ = try await devices.put(
                id, in: hub, platform: CarrierPigeon.platform, handle: PushHandle(loft), tags: [])
        }

        /// Sends to everybody.
        func send(in hub: Hub.ID) async throws -> Delivery {
            let accepted = Mutex<[Delivery]>([])
            let intake = NotificationIntake(
                store: storage, platforms: PushPlatformList([CarrierPigeon.self]), time: time,
                accepted: { [dispatcher] deliveries in
                    accepted.withLock { $0 = deliveries }
                    dispatcher.enqueue(deliveries)
                })
            _ = try await intake.accept(
                .native(CarrierPigeon.platform, Message(body: [1])), to: .audience(nil), in: hub)
            let delivery = accepted.withLock(\.first)
            return try #require(delivery)
        }

        func verdict(of device: String, _ delivery: Delivery) async throws -> TraceVerdict? {
            let notification = delivery.notification
            return try await traces.trace(notification.id, of: device, in: notification.hub)?.verdict
        }
    }

    @Test func aRetryDoesNotGoToADeviceThatTheFormerOwnerReached() async throws {
        let pigeons = Pigeons()
        let time = ManualTimeSource()
        try await TestDatabase.withNodes(2) { nodes in
            let former = try await Node(nodes[0], pigeons, time)
            let hub = try await former.hubs.create("loft").id
            try await former.hubs.setCredential(
                Credential(["Whistle": "tweet"]), for: CarrierPigeon.platform, of: "loft")
            let next = try await Node(nodes[1], pigeons, time)
            try await former.register("loft1", id: "r1", in: hub)
            try await former.register("loft2", id: "r2", in: hub)
            let running = Task { await former.dispatcher.run() }
            try await former.dispatcher.own([hub])
            let delivery = try await former.send(in: hub)
            while try await nodes[0].nextRetry(of: delivery.id) == nil { await Task.yield() }
            #expect(try await next.verdict(of: "r2", delivery) == .delivered, "the other node knows it as well")
            #expect(try await next.verdict(of: "r1", delivery) == .retrying)

            _ = try await next.devices.delete("r2", in: hub)
            try await next.register("loft2", id: "r1", in: hub)
            running.cancel()
            await running.value
            try await nodes[0].nodes.leave()
            #expect(try await Set(nodes[1].nodes.renew().hubs.keys) == [hub])
            time.advance(by: .seconds(7200))
            let going = Task { await next.dispatcher.run() }
            try await next.dispatcher.own([hub])
            while try await nodes[1].report(delivery.notification.id, in: hub)?.state.isFinal != true {
                await Task.yield()
            }
            going.cancel()
            await going.value
            #expect(pigeons.lofts == ["loft1", "loft2"])
            let report = try await nodes[1].report(delivery.notification.id, in: hub)
            #expect(report?.counts[CarrierPigeon.platform] == [.success: 1, .skipped: 1])
            #expect(try await next.verdict(of: "r1", delivery) == .suppressed)
            #expect(try await next.verdict(of: "r2", delivery) == .delivered)
        }
    }
}

/// A push service that asks to try `loft1` again once.
private final class Pigeons: HTTPTransport {
    private let log = Mutex<[String]>([])

    /// Where pigeons have flown to, in order.
    var lofts: [String] { log.withLock(\.self) }

    func send(
        _ batch: RequestBatch, before deadline: ContinuousClock.Instant,
        results: @escaping @Sendable (ResultPortion) -> Void
    ) async {
        for index in 0..<batch.count {
            let loft = batch.withPath(index) { String(decoding: $0, as: UTF8.self) }
            let isFirst = log.withLock { log in
                defer { log.append(loft) }
                return !log.contains(loft)
            }
            let status: HTTPStatus = loft == "loft1" && isFirst ? HTTPStatus(429) : .ok
            results(ResultPortion(answers: [.init(index: index, result: .success(HTTPResponse(status)))]))
        }
    }

    func send(
        _ request: HTTPRequest, to origin: HTTPOrigin, settings: TransportSettings,
        before deadline: ContinuousClock.Instant
    ) async throws(TransportError) -> HTTPResponse {
        throw TransportError(.unreachable, mayHaveBeenProcessed: false, "no single requests are expected")
    }
}
