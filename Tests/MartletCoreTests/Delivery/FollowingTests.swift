import MartletHTTP
import MartletModel
import MartletTesting
import Synchronization
import Testing

@testable import MartletCore

/// What becomes of a retry whose registration has another handle by now.
struct FollowingTests {
    /// A hub whose first pushes to some lofts are put off, and a notification of which the first attempts were made.
    private func sent(
        putOff lofts: Set<String> = ["loft1"], to count: Int = 1
    ) async throws -> (flight: Flight, delivery: Delivery) {
        let flight = try await Flight(pageSize: 10) { loft, attempt in
            answered(lofts.contains(loft) && attempt == 1 ? 429 : 200)
        }
        try await flight.register(count, tags: ["a"])
        let delivery = try await flight.accept(to: .audience(.tag(Tag("a"))))
        #expect(try await isPutOff(delivery, flight))
        return (flight, delivery)
    }

    private func isPutOff(_ delivery: Delivery, _ flight: Flight) async throws -> Bool {
        if case .waiting = try await flight.run(delivery) { true } else { false }
    }

    private func finish(_ delivery: Delivery, _ flight: Flight) async throws {
        flight.time.advance(by: .seconds(7200))
        #expect(try await flight.run(delivery) == .finished)
    }

    private func trace(_ device: String, _ delivery: Delivery, _ flight: Flight) async throws -> DeviceTrace {
        let traces = Traces(
            store: flight.storage, maps: flight.maps, platforms: flight.platforms, messageIDs: MessageIDKey(1, 2))
        return try #require(try await traces.trace(delivery.notification.id, of: device, in: flight.hub))
    }

    @Test func aRetryGoesToTheHandleThatTheRegistrationHasNow() async throws {
        let (flight, delivery) = try await sent()
        try await flight.register("loft9", id: "r1", tags: ["a"])
        try await finish(delivery, flight)
        #expect(flight.transport.lofts == ["loft1", "loft9"])
        #expect(Set(flight.transport.sent.map(\.id)).count == 1, "each attempt has the same message id")
        #expect(try await flight.report(delivery).counts == [.success: 1])
        let trace = try await trace("r1", delivery, flight)
        #expect(trace.verdict == .delivered)
        #expect(trace.pushes[0].attempts.map(\.outcome) == [.channelThrottled, .success])
    }

    @Test func aRetryExpiringForADeviceReachedAsAnotherMemberIsSkipped() async throws {
        let (flight, delivery) = try await sent(to: 2)
        // The registration whose push is to be tried again has the handle of the other, which was reached.
        try await flight.register("loft2", id: "r1", tags: ["a"])
        flight.time.advance(by: .seconds(1_000_000))
        #expect(try await flight.run(delivery) == .finished)
        #expect(try await flight.report(delivery).counts == [.success: 1, .skipped: 1])
        #expect(flight.transport.lofts == ["loft1", "loft2"])
    }

    @Test func aRetryGoesBackWhereTheRegistrationDoes() async throws {
        let (flight, delivery) = try await sent(to: 2)
        // Another registration keeps the channel.
        try await flight.register("loft1", id: "r3", tags: ["b"])
        try await flight.register("loft9", id: "r1", tags: ["a"])
        try await flight.register("loft1", id: "r1", tags: ["a"])
        try await finish(delivery, flight)
        #expect(flight.transport.lofts == ["loft1", "loft2", "loft1"])
        #expect(try await flight.report(delivery).counts == [.success: 2])
    }

    @Test func aRegistrationIsFollowedFromOneRetryToTheNext() async throws {
        let (flight, delivery) = try await sent(putOff: ["loft1", "loft8"])
        try await flight.register("loft8", id: "r1", tags: ["a"])
        flight.time.advance(by: .seconds(7200))
        #expect(try await isPutOff(delivery, flight))
        try await flight.register("loft9", id: "r1", tags: ["a"])
        try await finish(delivery, flight)
        #expect(flight.transport.lofts == ["loft1", "loft8", "loft9"])
        #expect(Set(flight.transport.sent.map(\.id)).count == 1)
        #expect(try await trace("r1", delivery, flight).pushes[0].attempts.count == 3)
    }

    @Test func aDeviceThatNoLongerMatchesHasLeft() async throws {
        let (flight, delivery) = try await sent()
        try await flight.register("loft9", id: "r1", tags: ["b"])
        try await finish(delivery, flight)
        #expect(flight.transport.lofts == ["loft1"])
        #expect(try await flight.report(delivery).counts == [.channelThrottled: 1])
        #expect(try await trace("r1", delivery, flight).verdict == .left)
    }

    @Test func aDeletedAndNewlyRegisteredDeviceHasLeft() async throws {
        let (flight, delivery) = try await sent()
        _ = try await flight.registry.delete("r1", in: flight.hub)
        try await flight.register("loft9", id: "r9", tags: ["a"])
        try await finish(delivery, flight)
        #expect(flight.transport.lofts == ["loft1"])
        #expect(try await trace("r1", delivery, flight).verdict == .left)
        #expect(try await trace("r9", delivery, flight).verdict == .registeredLater)
    }

    @Test func aHandleThatWasReachedInItsOwnRightIsNotSentToAgain() async throws {
        let (flight, delivery) = try await sent(to: 2)
        try await flight.register("loft2", id: "r1", tags: ["a"])
        try await finish(delivery, flight)
        #expect(flight.transport.lofts == ["loft1", "loft2"])
        #expect(try await flight.report(delivery).counts == [.success: 1, .skipped: 1])
        #expect(try await trace("r1", delivery, flight).verdict == .suppressed)
        #expect(try await trace("r2", delivery, flight).verdict == .delivered)
    }

    @Test func aHandleThatIsTriedAgainInItsOwnRightIsSentToOnce() async throws {
        let (flight, delivery) = try await sent(putOff: ["loft1", "loft2"], to: 2)
        try await flight.register("loft2", id: "r1", tags: ["a"])
        try await finish(delivery, flight)
        #expect(flight.transport.lofts == ["loft1", "loft2", "loft2"])
        #expect(try await flight.report(delivery).counts == [.success: 1, .skipped: 1])
    }

    @Test func twoHandlesThatBecomeOneAreSentToOnce() async throws {
        let (flight, delivery) = try await sent(putOff: ["loft1", "loft2"], to: 2)
        try await flight.register("loft9", id: "r1", tags: ["a"])
        try await flight.register("loft9", id: "r2", tags: ["a"])
        try await finish(delivery, flight)
        #expect(flight.transport.lofts == ["loft1", "loft2", "loft9"])
        #expect(try await flight.report(delivery).counts == [.success: 1, .skipped: 1])
    }

    @Test func aDeviceThatWasReachedAtItsOldHandleIsNotSentToAtItsNewOne() async throws {
        let (flight, delivery) = try await sent(to: 2)
        try await flight.register("loft9", id: "r2", tags: ["a"])
        try await flight.register("loft9", id: "r1", tags: ["a"])
        try await finish(delivery, flight)
        #expect(flight.transport.lofts == ["loft1", "loft2"])
        #expect(try await flight.report(delivery).counts == [.success: 1, .skipped: 1])
    }

    @Test(arguments: [false, true])
    func aHandleThatWasReachedAndThenLeftIsNotSentToAgainForWhoTakesIt(isDeleted: Bool) async throws {
        let (flight, delivery) = try await sent(to: 2)
        if isDeleted {
            _ = try await flight.registry.delete("r2", in: flight.hub)
        } else {
            try await flight.register("loft9", id: "r2", tags: ["a"])
        }
        try await flight.register("loft2", id: "r1", tags: ["a"])
        try await finish(delivery, flight)
        #expect(flight.transport.lofts == ["loft1", "loft2"])
        #expect(try await flight.report(delivery).counts == [.success: 1, .skipped: 1])
        #expect(try await trace("r1", delivery, flight).verdict == .suppressed)
    }

    @Test(arguments: [false, true])
    func aHandleThatATemplateReachedIsNotSentToAgainForWhoTakesIt(isDeleted: Bool) async throws {
        let flight = try await Flight(pageSize: 10) { loft, attempt in
            answered(loft == "loft1" && attempt == 1 ? 429 : 200)
        }
        let template = Template(body: #"{"say":"$(msg)"}"#)
        try await flight.register("loft1", id: "r1", template)
        try await flight.register("loft2", id: "r2", template)
        let delivery = try await flight.acceptTemplate()
        #expect(try await isPutOff(delivery, flight))
        if isDeleted {
            _ = try await flight.registry.delete("r2", in: flight.hub)
        } else {
            try await flight.register("loft9", id: "r2", template)
        }
        try await flight.register("loft2", id: "r1", template)
        try await finish(delivery, flight)
        #expect(flight.transport.lofts == ["loft1", "loft2"])
        #expect(try await flight.report(delivery).counts == [.success: 1, .skipped: 1])
    }

    @Test func theTemplatesOfADeviceFollowItWhateverBecameOfEachOther() async throws {
        let flight = try await Flight(pageSize: 10) { _, attempt in answered(attempt == 1 ? 429 : 200) }
        for id in ["r1", "r2"] { try await flight.register("loft1", id: id, Template(body: #"{"\#(id)":1}"#)) }
        let delivery = try await flight.acceptTemplate()
        #expect(try await isPutOff(delivery, flight))
        for id in ["r1", "r2"] { try await flight.register("loft9", id: id, Template(body: #"{"\#(id)":1}"#)) }
        flight.time.advance(by: .seconds(7200))
        #expect(try await isPutOff(delivery, flight))
        try await finish(delivery, flight)
        #expect(flight.transport.lofts == ["loft1", "loft1", "loft9", "loft9"])
        #expect(try await flight.report(delivery).counts == [.success: 2])
    }

    @Test func aHandleThatItsOwnerLeavesBeforeTheLastRetryIsReachedForWhoTookItAndTheOwnerAtHisNewOne() async throws {
        let flight = try await Flight(pageSize: 10) { loft, attempt in
            answered(loft == "loft1" || loft == "loft2" && attempt < 3 ? 429 : 200)
        }
        try await flight.register(2, tags: ["a"])
        let delivery = try await flight.accept(to: .audience(.tag(Tag("a"))))
        #expect(try await isPutOff(delivery, flight))
        try await flight.register("loft2", id: "r1", tags: ["a"])
        flight.time.advance(by: .seconds(7200))
        #expect(try await isPutOff(delivery, flight))
        #expect(try await trace("r1", delivery, flight).verdict == .retrying, "it waits for what becomes of the handle")
        try await flight.register("loft9", id: "r2", tags: ["a"])
        try await finish(delivery, flight)
        #expect(flight.transport.lofts.prefix(3) == ["loft1", "loft2", "loft2"])
        #expect(Set(flight.transport.lofts.dropFirst(3)) == ["loft2", "loft9"])
        #expect(flight.transport.lofts.count == 5)
        #expect(try await flight.report(delivery).counts == [.success: 2])
        for id in ["r1", "r2"] { #expect(try await trace(id, delivery, flight).verdict == .delivered) }
    }

    @Test func anOwnerWhoLeftHisHandleIsFollowedAlthoughWhoTookItWasReachedThereBefore() async throws {
        let flight = try await Flight(pageSize: 10) { loft, attempt in
            switch (loft, attempt) {
            case ("loft1", 1): answered(429, ["retry-after": "600"])
            case ("loft2", 1): answered(429, ["retry-after": "60"])
            case ("loft2", 2): answered(429, ["retry-after": "2000"])
            default: answered(200)
            }
        }
        try await flight.register(2, tags: ["a"])
        let delivery = try await flight.accept(to: .audience(.tag(Tag("a"))))
        #expect(try await isPutOff(delivery, flight))
        try await flight.register("loft2", id: "r1", tags: ["a"])
        flight.time.advance(by: .seconds(500))
        #expect(try await isPutOff(delivery, flight))
        try await flight.register("loft9", id: "r2", tags: ["a"])
        flight.time.advance(by: .seconds(1000))
        #expect(try await isPutOff(delivery, flight))
        #expect(flight.transport.lofts == ["loft1", "loft2", "loft2", "loft2"])
        try await finish(delivery, flight)
        #expect(flight.transport.lofts.dropFirst(4) == ["loft9"])
        #expect(try await flight.report(delivery).counts == [.success: 2])
        for id in ["r1", "r2"] { #expect(try await trace(id, delivery, flight).verdict == .delivered) }
    }

    @Test func aHandleWhoseOwnerGoesBeforeTheLastRetryIsReachedOnceForWhoTookIt() async throws {
        let flight = try await Flight(pageSize: 10) { loft, attempt in
            answered(loft == "loft1" || loft == "loft2" && attempt < 3 ? 429 : 200)
        }
        try await flight.register(2, tags: ["a"])
        let delivery = try await flight.accept(to: .audience(.tag(Tag("a"))))
        #expect(try await isPutOff(delivery, flight))
        try await flight.register("loft2", id: "r1", tags: ["a"])
        flight.time.advance(by: .seconds(7200))
        #expect(try await isPutOff(delivery, flight))
        _ = try await flight.registry.delete("r2", in: flight.hub)
        try await finish(delivery, flight)
        #expect(flight.transport.lofts == ["loft1", "loft2", "loft2", "loft2"])
        #expect(try await flight.report(delivery).counts == [.success: 1, .skipped: 1])
        #expect(try await trace("r1", delivery, flight).verdict == .suppressed)
    }

    @Test func aRegistrationWithAHandleWhoseOwnerMovedIsReachedThere() async throws {
        let flight = try await Flight(pageSize: 10) { loft, attempt in
            answered(loft == "loft1" || loft == "loft2" && attempt == 1 ? 429 : 200)
        }
        try await flight.register(2, tags: ["a"])
        let delivery = try await flight.accept(to: .audience(.tag(Tag("a"))))
        #expect(try await isPutOff(delivery, flight))
        try await flight.register("loft9", id: "r2", tags: ["a"])
        flight.time.advance(by: .seconds(7200))
        #expect(try await isPutOff(delivery, flight))
        try await flight.register("loft2", id: "r1", tags: ["a"])
        try await finish(delivery, flight)
        #expect(flight.transport.lofts == ["loft1", "loft2", "loft1", "loft9", "loft2"])
        #expect(try await flight.report(delivery).counts == [.success: 2])
    }

    @Test func aRegistrationWithAHandleThatAnotherWasFollowedToIsSkipped() async throws {
        let flight = try await Flight(pageSize: 10) { loft, attempt in
            answered(loft == "loft1" || loft == "loft2" && attempt == 1 ? 429 : 200)
        }
        try await flight.register(2, tags: ["a"])
        let delivery = try await flight.accept(to: .audience(.tag(Tag("a"))))
        #expect(try await isPutOff(delivery, flight))
        try await flight.register("loft9", id: "r2", tags: ["a"])
        flight.time.advance(by: .seconds(7200))
        #expect(try await isPutOff(delivery, flight))
        try await flight.register("loft8", id: "r2", tags: ["a"])
        try await flight.register("loft9", id: "r1", tags: ["a"])
        try await finish(delivery, flight)
        #expect(flight.transport.lofts == ["loft1", "loft2", "loft1", "loft9"])
        #expect(try await flight.report(delivery).counts == [.success: 1, .skipped: 1])
    }

    @Test func ifTwoHandlesBecomeOneTheSecondIsNotLostWhenTheFirstMoves() async throws {
        let (flight, delivery) = try await sent(putOff: ["loft1", "loft2", "loft9"], to: 2)
        try await flight.register("loft9", id: "r1", tags: ["a"])
        try await flight.register("loft9", id: "r2", tags: ["a"])
        flight.time.advance(by: .seconds(7200))
        #expect(try await isPutOff(delivery, flight))
        try await flight.register("loft8", id: "r1", tags: ["a"])
        try await finish(delivery, flight)
        #expect(flight.transport.lofts.prefix(3) == ["loft1", "loft2", "loft9"])
        #expect(Set(flight.transport.lofts.dropFirst(3)) == ["loft8", "loft9"])
        #expect(try await flight.report(delivery).counts == [.success: 2])
    }

    @Test func twoDevicesThatExchangeTheirHandlesAreBothReached() async throws {
        let (flight, delivery) = try await sent(putOff: ["loft1", "loft2"], to: 2)
        try await flight.register("loft2", id: "r1", tags: ["a"])
        try await flight.register("loft1", id: "r2", tags: ["a"])
        try await finish(delivery, flight)
        #expect(flight.transport.lofts.count == 4)
        #expect(Set(flight.transport.lofts.dropFirst(2)) == ["loft1", "loft2"])
        #expect(try await flight.report(delivery).counts == [.success: 2])
    }

    @Test func aTemplateFollowsItsRegistration() async throws {
        let flight = try await Flight(pageSize: 10) { _, attempt in answered(attempt == 1 ? 429 : 200) }
        let template = Template(body: #"{"say":"$(msg)"}"#)
        try await flight.register("loft1", id: "r1", template)
        let delivery = try await flight.acceptTemplate()
        #expect(try await isPutOff(delivery, flight))
        try await flight.register("loft9", id: "r1", template)
        flight.time.advance(by: .seconds(7200))
        #expect(try await isPutOff(delivery, flight))
        try await finish(delivery, flight)
        #expect(flight.transport.lofts == ["loft1", "loft9", "loft9"])
        #expect(Set(flight.transport.sent.map(\.body)) == [#"{"say":"hi"}"#])
        #expect(Set(flight.transport.sent.map(\.id)).count == 1)
        #expect(try await flight.report(delivery).counts == [.success: 1])
    }

    @Test func aNewerNotificationToTheOldHandleSparesTheNewOneTheOlder() async throws {
        let flight = try await Flight(pageSize: 10) { _, attempt in answered(attempt == 1 ? 429 : 200) }
        try await flight.register(1)
        func accept(_ text: String) async throws -> Delivery {
            let accepted = Mutex<[Delivery]>([])
            let intake = NotificationIntake(
                store: flight.storage, platforms: flight.platforms, time: flight.time,
                accepted: { deliveries in accepted.withLock { $0 = deliveries } })
            let message = Message(body: Array(text.utf8), fields: ["pigeon-collapse": "k"])
            _ = try await intake.accept(.native(CarrierPigeon.platform, message), to: .audience(nil), in: flight.hub)
            return accepted.withLock { $0[0] }
        }
        let old = try await accept("old")
        #expect(try await isPutOff(old, flight))
        let new = try await accept("new")
        #expect(try await flight.run(new) == .finished)
        try await flight.register("loft9", id: "r1")
        try await finish(old, flight)
        #expect(flight.transport.sent.map(\.body) == ["old", "new"])
        #expect(try await flight.report(old).counts == [.superseded: 1])
    }

    @Test func aRetryExpiringForAMovedRegistrationIsItsDeadLetter() async throws {
        let (flight, delivery) = try await sent()
        try await flight.register("loft9", id: "r1", tags: ["a"])
        flight.time.advance(by: .seconds(90_000))
        #expect(try await flight.run(delivery) == .finished)
        let letters = try await flight.refusals(delivery)
        #expect(letters.map(\.registration) == ["r1"])
        #expect(letters.map(\.handle) == [PushHandle("loft9")])
        #expect(try await trace("r1", delivery, flight).verdict == .expired)
    }

    @Test func aDeviceWithANewHandleBeforeItsPageIsNotCalledRegisteredLater() async throws {
        let flight = try await Flight(pageSize: 10)
        try await flight.register(2, tags: ["a"])
        let delivery = try await flight.accept(to: .audience(.tag(Tag("a"))))
        try await flight.register("loft9", id: "r1", tags: ["a"])
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.lofts == ["loft2"])
        #expect(try await trace("r1", delivery, flight).verdict == .missed)
    }
}
