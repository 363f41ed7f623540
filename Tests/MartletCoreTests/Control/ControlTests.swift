import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletCore

struct ControlTests {
    private func withTower(devices: Int, _ work: (Tower) async throws -> Void) async throws {
        let tower = try await Tower(devices: devices)
        do {
            try await work(tower)
        } catch {
            await tower.stop()
            throw error
        }
        await tower.stop()
    }

    @Test(.timeLimit(.minutes(10))) func aCanceledNotificationSendsNothingMoreAndItsNumbersAddUp() async throws {
        try await withTower(devices: 35) { tower in
            let id = try await tower.accept("stop")
            await tower.until { tower.transport.openCount == 4 }
            tower.transport.answer(7)
            await tower.until { tower.transport.openCount > 0 }
            guard case .done(.canceled, _, _) = try await tower.apply(.cancel, id) else {
                Issue.record("it was not canceled")
                return
            }
            let written = tower.drawn.count
            try await tower.finish(id)
            #expect(tower.drawn.count == written)
            let status = try await tower.status(id)
            let numbers = SendNumbers(status)
            #expect(status.report.state == .canceled)
            #expect(numbers.succeeded == written)
            #expect(numbers.suppressed == 35 - written)
            #expect(numbers.targeted == 35)
            #expect(numbers.pending == 0)
        }
    }

    @Test(.timeLimit(.minutes(10))) func aPausedNotificationStopsAndContinuesWhereItStopped() async throws {
        try await withTower(devices: 25) { tower in
            let id = try await tower.accept("wait")
            await tower.until { tower.transport.openCount == 4 }
            _ = try await tower.apply(.pause, id)
            let written = tower.drawn.count
            tower.transport.answer(4)
            await tower.until { tower.dispatcher.load.sleeping == 1 }
            #expect(tower.drawn.count == written)
            #expect(tower.dispatcher.load.running == 0, "it holds no slot")
            let status = try await tower.status(id)
            #expect(status.deliveries.map(\.held) == [6])
            #expect(status.deliveries.map(\.retrying) == [0])
            await tower.until { tower.time.nextWake != nil }
            #expect(
                tower.time.nextWake == status.report.notification.expiresAt, "and no timer but that of its expiry")
            _ = try await tower.apply(.resume, id)
            try await tower.finish(id)
            #expect(tower.drawn.count == 25)
            #expect(Set(tower.drawn).count == 25)
            #expect(SendNumbers(try await tower.status(id)).succeeded == 25)
        }
    }

    @Test(.timeLimit(.minutes(10))) func aPauseSurvivesAKill() async throws {
        try await withTower(devices: 25) { tower in
            let id = try await tower.accept("wait")
            await tower.until { tower.transport.openCount == 4 }
            _ = try await tower.apply(.pause, id)
            tower.transport.answer(4)
            await tower.until { tower.dispatcher.load.sleeping == 1 }
            await tower.kill()
            try await tower.start()
            await tower.until { tower.dispatcher.load.sleeping == 1 }
            #expect(tower.transport.drawn.isEmpty)
            _ = try await tower.apply(.resume, id)
            try await tower.finish(id)
            #expect(tower.drawn.count == 25)
            #expect(Set(tower.drawn).count == 25)
        }
    }

    @Test(.timeLimit(.minutes(10))) func aCancelGoesOnCountingAfterAKill() async throws {
        try await withTower(devices: 60) { tower in
            let id = try await tower.accept("stop")
            await tower.until { tower.transport.openCount == 4 }
            _ = try await tower.apply(.cancel, id)
            await tower.kill()
            try await tower.start()
            try await tower.finish(id)
            let numbers = SendNumbers(try await tower.status(id))
            #expect(tower.transport.drawn.isEmpty)
            #expect(numbers.succeeded + numbers.suppressed == 60)
            #expect(numbers.targeted == 60)
        }
    }

    @Test(.timeLimit(.minutes(10))) func retriesThatWaitAreSparedToo() async throws {
        try await withTower(devices: 3) { tower in
            let id = try await tower.accept("later")
            await tower.until { tower.transport.openCount == 3 }
            tower.transport.answer(3, answered(429, ["retry-after": "600"]))
            await tower.until { tower.dispatcher.load.sleeping == 1 }
            _ = try await tower.apply(.cancel, id)
            try await tower.until { try await tower.status(id).report.state.isFinal }
            #expect(SendNumbers(try await tower.status(id)).suppressed == 3)
            #expect(tower.drawn.count == 3)
        }
    }

    @Test(.timeLimit(.minutes(10))) func deliveriesOfAPausedLaneAreCanceledAtOnce() async throws {
        try await withTower(devices: 3) { tower in
            let first = try await tower.accept("first")
            let second = try await tower.accept("second")
            await tower.until { tower.transport.openCount == 6 }
            tower.transport.answer(6, answered(403))
            await tower.until { tower.dispatcher.load.sleeping == 2 }
            for id in [second, first] {
                _ = try await tower.apply(.cancel, id)
                try await tower.until { try await tower.status(id).report.state.isFinal }
                #expect(SendNumbers(try await tower.status(id)).suppressed == 3)
            }
        }
    }

    @Test(.timeLimit(.minutes(10))) func notificationsThatExpireWhilePausedAreAbandonedAndCounted() async throws {
        try await withTower(devices: 25) { tower in
            let id = try await tower.accept("old", lifetime: .seconds(60))
            await tower.until { tower.transport.openCount == 4 }
            _ = try await tower.apply(.pause, id)
            tower.transport.answer(4)
            await tower.until { tower.dispatcher.load.sleeping == 1 }
            tower.time.advance(by: .seconds(60))
            try await tower.until { try await tower.status(id).report.state.isFinal }
            let status = try await tower.status(id)
            #expect(status.report.state == .abandoned)
            #expect(status.deliveries.map(\.report.counts) == [[.success: 4, .abandoned: 21]])
            #expect(SendNumbers(status).targeted == 25)
            #expect(try await tower.apply(.resume, id) == .ended)
        }
    }

    @Test(.timeLimit(.minutes(10))) func aDeviceThatLeavesWhileItIsHeldIsNotSentTo() async throws {
        try await withTower(devices: 6) { tower in
            let id = try await tower.accept("gone")
            await tower.until { tower.transport.openCount == 4 }
            _ = try await tower.apply(.pause, id)
            tower.transport.answer(4)
            await tower.until { tower.dispatcher.load.sleeping == 1 }
            let registry = DeviceRegistry(store: tower.storage, platforms: tower.platforms, time: tower.time)
            _ = try await registry.delete("r6", in: tower.hub)
            _ = try await tower.apply(.resume, id)
            try await tower.finish(id)
            #expect(tower.drawn.count == 5)
            let numbers = SendNumbers(try await tower.status(id))
            #expect((numbers.succeeded, numbers.skipped, numbers.targeted) == (5, 1, 6))
        }
    }

    @Test func aForgottenNotificationLeavesNothing() async throws {
        let flight = try await Flight()
        try await flight.register(4)
        let delivery = try await flight.accept()
        _ = try await flight.controls.apply(.pause, to: delivery.notification.id, in: flight.hub)
        #expect(try await flight.run(delivery) == .held(until: delivery.notification.expiresAt))
        #expect(flight.board.count == 1)
        _ = try await flight.controls.apply(.cancel, to: delivery.notification.id, in: flight.hub)
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.board.count == 0)
        _ = try await flight.controls.apply(.cancel, to: delivery.notification.id, in: flight.hub)
        #expect(flight.board.count == 0)
        #expect(flight.maps.count == 0)
    }
}
