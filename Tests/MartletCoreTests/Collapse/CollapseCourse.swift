import MartletModel
import MartletTesting
import Synchronization

@testable import MartletCore

/// A hub whose notifications have one of two collapse keys, with a process that is killed now and then.
final class CollapseCourse {
    let service: ErrantService
    private let flight: Flight
    private let tags: [String: Set<Tag>]
    private var life: Life
    private var dice: Dice
    private var accepted = 0
    /// For each loft and key the newest text that is for it.
    private var newest: [ErrantService.Box: Int] = [:]

    private static let expressions = [nil, "t0", "t1", "u0", "u1 || t1", "!u2", "t0 && !u1"]

    init(seed: UInt64) async throws {
        service = ErrantService(Dice(seed: seed))
        dice = Dice(seed: seed &* 977)
        flight = try await Flight(pageSize: 2)
        life = Life(flight, service)
        var tags: [String: Set<Tag>] = [:]
        for number in 1...6 {
            let names = ["t\(number % 2)", "u\(number % 3)"]
            tags["loft\(number)"] = Set(try names.map { try Tag($0) })
            try await flight.register("loft\(number)", id: "r\(number)", tags: names)
        }
        self.tags = tags
    }

    /// One thing happens.
    func step() async throws {
        switch dice.roll(12) {
        case 0...3: try await accept()
        case 4...7: try await goOn()
        case 8, 9: for _ in 0..<dice.roll(200) { await Task.yield() }
        case 10: flight.time.advance(by: .seconds(Int64(dice.roll(20))))
        default: await kill()
        }
    }

    private func accept() async throws {
        let target: Notification.Target
        let lofts: [String]
        if dice.roll(4) == 0 {
            let first = dice.roll(6)
            lofts = ["loft\(first + 1)", "loft\((first + 1) % 6 + 1)"]
            target = .direct([PushHandle(lofts[0].uppercased()), PushHandle(lofts[1])])
        } else {
            let text = Self.expressions[dice.roll(Self.expressions.count)]
            let expression = try text.map { try TagExpression($0) }
            lofts = tags.filter { expression?.matches($0.value) ?? true }.map(\.key)
            target = .audience(expression)
        }
        accepted += 1
        let key = "k\(dice.roll(2))"
        for loft in lofts { newest[ErrantService.Box(loft: loft, key: key)] = accepted }
        let intake = NotificationIntake(
            store: flight.storage, platforms: flight.platforms, time: flight.time, accepted: { _ in })
        let message = Message(body: Array(String(accepted).utf8), fields: ["pigeon-collapse": key])
        _ = try await intake.accept(
            .native(CarrierPigeon.platform, message), to: target, in: flight.hub, expiry: .after(Expiry.limit))
    }

    /// Lets some deliveries that nobody works at go as far as they come.
    private func goOn() async throws {
        for progress in try await flight.storage.unfinished(after: .none, limit: 1000) where dice.roll(2) == 0 {
            life.start(progress)
        }
    }

    /// The process ends: what it had in progress is neither sent nor answered, and another one begins.
    private func kill() async {
        service.kill()
        await life.standStill()
        life = Life(flight, service)
    }

    /// Goes on, without further misfortunes, until everything is over.
    func finish() async throws {
        service.heal()
        while true {
            await life.standStill()
            let left = try await flight.storage.unfinished(after: .none, limit: 1000)
            if left.isEmpty { return }
            flight.time.advance(by: .seconds(3600))
            for progress in left { life.start(progress) }
        }
    }

    /// Who was not brought the newest.
    var missing: [String] {
        newest.compactMap { box, text in
            let last = service.last(of: box)
            return last == text
                ? nil : "\(box.loft) has \(last.map(String.init) ?? "nothing") of \(text) under \(box.key)"
        }
    }
}

/// A process, from its start until it is killed.
private final class Life: Sendable {
    private let storage: MemoryStorage
    private let deliverer: Deliverer
    private let locks = CollapseLocks()
    private let line: ErrantService.Line
    private let running = Mutex<Set<Delivery.ID>>([])

    init(_ flight: Flight, _ service: ErrantService) {
        storage = flight.storage
        line = service.makeLine()
        let sender = flight.deliverer.sender
        let ownSender = PageSender(
            transport: line,
            authorizations: AuthorizationCache(transport: line, timeout: .seconds(30), time: flight.time),
            // Its own, as all that a process keeps in memory: what the killed one was trying would be tried for ever.
            lanes: LaneCircuitBreakers(), origins: OriginCircuitBreakers(),
            suspectedStale: SuspectedStaleDevices(store: flight.storage), paces: sender.paces,
            messageIDs: sender.messageIDs, requestTimeout: sender.requestTimeout,
            time: flight.time, metrics: sender.metrics)
        deliverer = flight.makeDeliverer(ownSender, locks: locks)
    }

    func start(_ progress: DeliveryProgress) {
        let id = progress.delivery.id
        guard running.withLock({ $0.insert(id).inserted }) else { return }
        Task {
            await ErrantService.Line.$delivery.withValue(id) {
                var run = DeliveryRun(progress)
                while await deliverer.run(&run) == .yielded {}
            }
            running.withLock { _ = $0.remove(id) }
        }
    }

    /// Waits until everything has come to its end, or to where nothing will ever come.
    func standStill() async {
        while running.withLock({ $0.count }) > line.hanging + locks.waitingCount { await Task.yield() }
    }
}
