import MartletModel
import MartletTesting
import Synchronization
import Testing

@testable import MartletCore

struct SchedulerTests {
    /// Deliveries that were released, in order.
    private final class Released: Sendable {
        private let deliveries = Mutex<[Delivery]>([])
        var notifications: [NotificationID] { deliveries.withLock { $0.map(\.notification.id) } }
        func append(_ more: [Delivery]) { deliveries.withLock { $0 += more } }

        /// Lets other tasks go on until so many were released.
        func until(_ count: Int) async {
            while notifications.count < count { await Task.yield() }
        }
    }

    private let released = Released()

    private func withScheduler(
        _ flight: Flight, _ work: (NotificationIntake, Scheduler) async throws -> Void
    ) async throws {
        let scheduler = Scheduler(
            store: flight.storage, controls: flight.controls, alarm: flight.alarm, time: flight.time,
            released: { [released] in released.append($0) })
        let intake = NotificationIntake(
            store: flight.storage, platforms: flight.platforms, time: flight.time,
            accepted: { [released] in released.append($0) },
            scheduled: { _ in scheduler.wake() })
        let run = Task { await scheduler.run() }
        defer { run.cancel() }
        try await work(intake, scheduler)
        run.cancel()
        await run.value
    }

    private func schedule(
        _ intake: NotificationIntake, _ flight: Flight, in duration: Duration
    ) async throws -> NotificationID {
        try await intake.accept(
            .native(CarrierPigeon.platform, Message(body: [1])), to: .audience(nil), in: flight.hub,
            dueAt: flight.time.now + duration)
    }

    @Test(.timeLimit(.minutes(10))) func schedulesBeginAtTheirTimeTheEarliestFirst() async throws {
        let flight = try await Flight()
        try await withScheduler(flight) { intake, _ in
            let later = try await schedule(intake, flight, in: .seconds(60))
            let sooner = try await schedule(intake, flight, in: .seconds(30))
            while flight.time.nextWake != flight.time.now + .seconds(30) { await Task.yield() }
            #expect(released.notifications.isEmpty)
            flight.time.advance(by: .seconds(30))
            await released.until(1)
            while flight.time.nextWake != flight.time.now + .seconds(30) { await Task.yield() }
            #expect(released.notifications == [sooner])
            flight.time.advance(by: .seconds(30))
            await released.until(2)
            #expect(released.notifications == [sooner, later])
        }
    }

    @Test(.timeLimit(.minutes(10))) func schedulesThatBecameDueWithoutAServerBeginAtTheNextStart() async throws {
        let flight = try await Flight()
        let intake = NotificationIntake(
            store: flight.storage, platforms: flight.platforms, time: flight.time, accepted: { _ in })
        var ids: [NotificationID] = []
        for seconds in 1...250 { ids.append(try await schedule(intake, flight, in: .seconds(seconds))) }
        flight.time.advance(by: .seconds(3600))
        try await withScheduler(flight) { _, _ in await released.until(250) }
        #expect(released.notifications == ids)
    }

    @Test(.timeLimit(.minutes(10)), arguments: [true, false])
    func aCanaryDoesNotWaitForTheClockThatIsSetBack(whileItRuns: Bool) async throws {
        let flight = try await Flight(pageSize: 50)
        try await flight.register(20)
        let canary = try await Canary(flight, Rollout(nil, sample: .size(5), wait: .seconds(600)))
        try await canary.runAll()
        let earlier = flight.time.now + .seconds(-7200)
        if !whileItRuns { flight.time.advance(to: earlier) }
        try await withScheduler(flight) { _, _ in
            if whileItRuns {
                while flight.time.nextWake != flight.time.now + .seconds(600) { await Task.yield() }
                flight.time.advance(to: earlier)
            }
            while flight.time.nextWake != earlier + .seconds(600) { await Task.yield() }
            #expect(released.notifications.isEmpty)
            flight.time.advance(by: .seconds(600))
            await released.until(1)
        }
        #expect(released.notifications == [canary.notification.id])
    }

    @Test(.timeLimit(.minutes(10))) func aWithdrawnNotificationDoesNotBegin() async throws {
        let flight = try await Flight()
        try await withScheduler(flight) { intake, _ in
            let withdrawn = try await schedule(intake, flight, in: .seconds(10))
            let kept = try await schedule(intake, flight, in: .seconds(20))
            #expect(try await intake.cancel(withdrawn, in: flight.hub) == .canceled)
            flight.time.advance(by: .seconds(20))
            await released.until(1)
            #expect(released.notifications == [kept])
            #expect(try await intake.report(withdrawn, in: flight.hub)?.state == .canceled)
            #expect(try await intake.cancel(kept, in: flight.hub) == .begun)
        }
    }

    @Test(.timeLimit(.minutes(1))) func aSchedulePausedBeyondItsTimeBeginsAtOnceWhenItIsResumed() async throws {
        let flight = try await Flight()
        try await withScheduler(flight) { intake, scheduler in
            let controls = SendControls(
                store: flight.storage, board: flight.board, time: flight.time, scheduled: { scheduler.wake() }
            ) { _ in }
            let held = try await schedule(intake, flight, in: .seconds(10))
            _ = try await controls.apply(.pause, to: held, in: flight.hub)
            let other = try await schedule(intake, flight, in: .seconds(20))
            flight.time.advance(by: .seconds(20))
            await released.until(1)
            #expect(released.notifications == [other])
            #expect(try await intake.report(held, in: flight.hub)?.state == .scheduled)
            _ = try await controls.apply(.resume, to: held, in: flight.hub)
            await released.until(2)
            #expect(released.notifications == [other, held])
        }
    }

    @Test func aTimeInThePastIsNowAndOneTooFarAheadIsRefused() async throws {
        let flight = try await Flight()
        try await withScheduler(flight) { intake, _ in
            let past = try await schedule(intake, flight, in: .seconds(-60))
            #expect(released.notifications == [past])
            #expect(try await flight.storage.report(past, in: flight.hub)?.state == .enqueued)
            _ = try await schedule(intake, flight, in: NotificationIntake.scheduleLimit)
            do {
                _ = try await schedule(intake, flight, in: NotificationIntake.scheduleLimit + .milliseconds(1))
                Issue.record("that is too far ahead")
            } catch NotificationIntakeError.invalid(let sentence) {
                #expect(sentence == "A notification may be scheduled for at most 366 days ahead.")
            }
        }
    }

    @Test func theExpiryOfAScheduleCountsFromItsTime() async throws {
        let flight = try await Flight()
        let intake = NotificationIntake(
            store: flight.storage, platforms: flight.platforms, time: flight.time, lifetime: .seconds(5),
            accepted: { _ in })
        let id = try await schedule(intake, flight, in: .seconds(100))
        let notification = try #require(try await flight.storage.report(id, in: flight.hub)).notification
        #expect(notification.expiresAt == flight.time.now + .seconds(105))
    }

    @Test func aRepeatedRequestHasTheFirstAnswerAndTellsNobodyAgain() async throws {
        let flight = try await Flight()
        try await withScheduler(flight) { intake, _ in
            func accept(_ fingerprint: UInt8) async throws -> NotificationID {
                let request = RequestIdentity(
                    key: Array(repeating: 1, count: 32), fingerprint: Array(repeating: fingerprint, count: 32))
                return try await intake.accept(
                    .native(CarrierPigeon.platform, Message(body: [1])), to: .audience(nil), in: flight.hub,
                    request: request)
            }
            let id = try await accept(1)
            #expect(try await accept(1) == id)
            #expect(released.notifications == [id])
            do {
                _ = try await accept(2)
                Issue.record("another request went under the same key")
            } catch NotificationIntakeError.conflicting {}
        }
    }
}
