import MartletHTTP
import MartletModel
import MartletTesting
import Testing

@testable import MartletCore

/// Why a notification did or did not reach a device, asked after everything has changed.
struct TraceTests {
    private func trace(_ flight: Flight, _ delivery: Delivery, _ device: String) async throws -> DeviceTrace {
        let traces = Traces(
            store: flight.storage, maps: flight.maps, platforms: flight.platforms, messageIDs: MessageIDKey(1, 2))
        let id = delivery.notification.id
        let found = try await traces.trace(id, of: device, in: delivery.notification.hub)
        return try #require(found)
    }

    private func remove(_ id: String, of flight: Flight) async throws {
        _ = try await flight.storage.apply(
            RegistrationChange.delete(id: id, condition: .none), in: flight.hub, at: flight.time.now
        ).get()
    }

    /// Tags that were given and taken since, and removed devices.
    private func changeEverything(_ flight: Flight) async throws {
        flight.time.advance(by: .seconds(10))
        try await flight.register("loft1", id: "r1", tags: ["sports"])
        try await flight.register("loft2", id: "r2", tags: ["news"])
        flight.time.advance(by: .seconds(10))
        for id in ["r1", "r2"] { try await remove(id, of: flight) }
    }

    @Test func aTraceReportsTheStateAtTheTimeOfTheSend() async throws {
        let flight = try await Flight()
        try await flight.register("loft1", id: "r1", tags: ["news", "de"])
        try await flight.register("loft2", id: "r2", tags: ["sports"])
        let delivery = try await flight.accept(to: .audience(TagExpression("news && !sports || vip")))
        #expect(try await flight.run(delivery) == .finished)
        try await changeEverything(flight)

        let delivered = try await trace(flight, delivery, "r1")
        #expect(delivered.verdict == .delivered)
        #expect(delivered.shownControl == nil, "it has ended")
        let push = try #require(delivered.pushes.first)
        #expect(push.decision?.terms.map(\.tag.spelling) == ["news", "sports"])
        #expect(push.decision?.terms.map(\.isPresent) == [true, false])
        #expect(push.messageID?.description == flight.transport.sent[0].id)
        #expect(push.payload?.body == Array("hello".utf8))
        #expect(push.since?.cause == .changed)
        #expect(delivered.sentences.first == "Delivered: pigeon accepted it for the device.")

        let excluded = try await trace(flight, delivery, "r2")
        #expect(excluded.verdict == .excluded)
        #expect(
            excluded.sentences.first
                == "Not in the audience: the registration did not have the tag 'news' and did not have the tag 'vip'.")
        #expect(excluded.pushes.first?.messageID == nil)
    }

    @Test func attemptsAreNumberedInTheirOrderAlsoThoseThatDoNotCount() async throws {
        let flight = try await Flight()
        try await flight.register(1)
        let delivery = try await flight.accept()
        _ = try await flight.run(delivery)
        var found = try await trace(flight, delivery, "r1")
        // A fault of the push service has failed the first two.
        found.pushes[0].attempts = [1, 1, 1, 2].map { number in
            Attempt(
                member: AudienceMember(channel: ChannelID(rawValue: 1)), number: number, outcome: .invalidCredentials,
                reason: "InvalidProviderToken", answer: nil, at: flight.time.now)
        }
        let told = found.sentences.filter { $0.hasPrefix("Attempt ") }.map { $0.prefix(10) }
        #expect(told == ["Attempt 1 ", "Attempt 2 ", "Attempt 3 ", "Attempt 4 "])
    }

    @Test func aDeviceThatCameOrWentInTheWrongMomentIsToldSo() async throws {
        let flight = try await Flight()
        try await flight.register(3)
        try await remove("r2", of: flight)
        let delivery = try await flight.accept()
        try await flight.register("loft4", id: "r4")
        // Of a channel that was there before: the channel is in the audience, the registration is not yet.
        #expect(try await flight.run(delivery) == .finished)
        try await flight.register("loft1", id: "r5")
        #expect(try await trace(flight, delivery, "r2").verdict == .removedBefore)
        #expect(try await trace(flight, delivery, "r4").verdict == .registeredLater)
        #expect(try await trace(flight, delivery, "r5").verdict == .registeredLater)
        let unknown = try await trace(flight, delivery, "nobody")
        #expect(unknown.verdict == .unknownDevice)
        #expect(unknown.sentences.count == 1)
    }

    @Test func aDeadTokenIsToldWithTheAnswerAndWhatCameOfIt() async throws {
        let flight = try await Flight { loft, _ in loft == "loft2" ? answered(404) : answered(200) }
        try await flight.register(2)
        let delivery = try await flight.accept()
        _ = try await flight.run(delivery)
        let trace = try await trace(flight, delivery, "r2")
        #expect(trace.verdict == .refused)
        let push = try #require(trace.pushes.first)
        #expect(push.fate == .removed)
        #expect(push.since?.cause == .unregistered)
        #expect(push.attempts.map(\.answer?.status) == [404])
        #expect(trace.sentences.first == "Refused: BadChannel (NoSuchLoft).")
        #expect(
            trace.sentences.contains(
                "The push service reported the device's handle as dead, so it was removed with its registrations."))
    }

    @Test func whatIsStillTriedIsToldWithItsAttemptsAndItsNext() async throws {
        let flight = try await Flight { loft, _ in loft == "loft2" ? answered(429) : answered(200) }
        try await flight.register(2)
        let delivery = try await flight.accept()
        guard case .waiting(let next) = try await flight.run(delivery) else {
            Issue.record("nothing waits")
            return
        }
        let waiting = try await trace(flight, delivery, "r2")
        #expect(waiting.verdict == .retrying)
        let until = "expires at \(delivery.notification.expiresAt.iso8601)."
        #expect(waiting.sentences.contains { $0.hasSuffix(until) })
        #expect(waiting.pushes.first?.retryAt == next)
        #expect(waiting.pushes.first?.attempts.map(\.answer?.status) == [429])
        #expect(try await trace(flight, delivery, "r1").verdict == .delivered, "its bit is in the map yet")

        try await flight.register("loft2", id: "r2", tags: ["other"])
        #expect(try await trace(flight, delivery, "r2").verdict == .retrying)
        flight.time.advance(to: delivery.notification.expiresAt)
        #expect(try await flight.run(delivery) == .finished)
        let expired = try await trace(flight, delivery, "r2")
        #expect(expired.verdict == .expired)
        let end = delivery.notification.expiresAt.iso8601
        #expect(
            expired.sentences.first == "Given up: the notification expired at \(end) before it could be delivered.")
        #expect(!expired.sentences.contains { $0.contains("and expires at") })
        #expect(try await trace(flight, delivery, "r1").verdict == .delivered, "and in the store now")
    }

    @Test func abandonedRetriesKeepTheOutcomeOfTheirLastAttempt() async throws {
        let flight = try await Flight { _, _ in answered(429, ["retry-after": "600"]) }
        try await flight.register(1)
        let delivery = try await flight.accept(lifetime: .seconds(60))
        #expect(try await flight.run(delivery) == .finished)
        let trace = try await trace(flight, delivery, "r1")
        #expect(trace.verdict == .expired)
        let end = delivery.notification.expiresAt.iso8601
        #expect(
            trace.sentences.first == "Given up: the next attempt would be after the notification expires, at \(end).")
        #expect(trace.pushes.first?.attempts.map(\.outcome) == [.channelThrottled])
        #expect(try await flight.report(delivery).counts == [.abandoned: 1])
    }

    @Test func aTraceSaysThatADeviceLeftTheAudienceBeforeARetry() async throws {
        let flight = try await Flight { _, _ in answered(429) }
        try await flight.register("loft1", id: "r1", tags: ["news"])
        let delivery = try await flight.accept(to: .audience(TagExpression("news")))
        guard case .waiting(let until) = try await flight.run(delivery) else {
            Issue.record("nothing waits")
            return
        }
        try await flight.register("loft1", id: "r1")
        flight.time.advance(to: until)
        #expect(try await flight.run(delivery) == .finished)
        let trace = try await trace(flight, delivery, "r1")
        #expect(trace.verdict == .left)
        #expect(trace.pushes.first?.attempts.count == 1)
        #expect(trace.pushes.first?.decision?.matches == true)
    }

    @Test func aTemplateIsRenderedAsItWasThen() async throws {
        let flight = try await Flight()
        try await flight.register(
            "a", id: "t", Template(body: #"{"to":"$(name)","say":"$(msg)"}"#), variables: ["name": "An"])
        try await flight.register("a", id: "n")
        let delivery = try await flight.acceptTemplate()
        _ = try await flight.run(delivery)
        try await flight.register("a", id: "t", Template(body: #"{"new":"$(msg)"}"#))
        let trace = try await trace(flight, delivery, "t")
        #expect(trace.verdict == .delivered)
        #expect(trace.pushes.first?.payload?.body == Array(#"{"to":"An","say":"hi"}"#.utf8))
        #expect(try await self.trace(flight, delivery, "n").verdict == .notAddressed)
        let native = try await flight.accept()
        _ = try await flight.run(native)
        #expect(try await self.trace(flight, native, "t").verdict == .notAddressed)
    }

    @Test func anInstallationIsExplainedByAllItsRegistrations() async throws {
        let flight = try await Flight()
        func row(_ slot: String, _ template: Template?) throws -> InstallationRow {
            InstallationRow(
                slot: slot,
                registration: RegistrationDraft(
                    platform: CarrierPigeon.platform, handle: PushHandle("loft1"), handleKey: "loft1",
                    tags: [try Tag("news")], template: template))
        }
        let rows = try [row("native", nil), row("template", Template(body: #"{"say":"$(msg)"}"#))]
        let draft = InstallationDraft(id: "phone", document: [], expiresAt: nil, rows: rows)
        _ = try await flight.storage.apply(
            InstallationChange.put(draft, condition: .none), in: flight.hub, at: flight.time.now
        ).get()
        let delivery = try await flight.accept(to: .audience(TagExpression("news")))
        _ = try await flight.run(delivery)
        _ = try await flight.storage.apply(
            InstallationChange.delete(id: "phone", condition: .none), in: flight.hub, at: flight.time.now
        ).get()
        let trace = try await trace(flight, delivery, "phone")
        #expect(trace.pushes.map(\.verdict) == [.delivered, .notAddressed])
        #expect(trace.pushes.map(\.since?.cause) == [.deleted, .deleted])
        #expect(trace.pushes.map(\.registration.installation) == ["phone", "phone"])
    }

    @Test func prunedHistoryIsReportedAsUnknown() throws {
        let draft = NotificationDraft(
            id: NotificationID(high: 1, low: 2), hub: Hub.ID(rawValue: 1),
            content: .native(CarrierPigeon.platform, Message(body: [])), target: .audience(nil),
            acceptedAt: Timestamp(seconds: 100), expiresAt: Timestamp(seconds: 200))
        let delivery = Delivery(
            id: Delivery.ID(rawValue: 1), notification: Notification(sequence: 1, draft),
            platform: CarrierPigeon.platform,
            bounds: AudienceBounds(channel: ChannelID(rawValue: 9), registration: 0))
        let progress = DeliveryProgress(
            delivery: delivery, state: .completed, cursor: .end, isFannedOut: true)
        let registration = Registration(
            id: "r", platform: CarrierPigeon.platform, handle: PushHandle("a"), tags: [], version: 1, expiresAt: nil,
            createdAt: Timestamp(seconds: 1), updatedAt: Timestamp(seconds: 1))
        let version = RegistrationVersion(
            sequence: 1, channel: ChannelID(rawValue: 1), registration, end: nil)
        func verdict(knownSince: Int64, isReached: Bool) -> TraceVerdict? {
            let reasoning = TraceReasoning(
                traced: TracedNotification(
                    notification: delivery.notification, begunAt: Timestamp(seconds: 100),
                    deliveries: [progress]),
                past: RegistrationPast(versions: [version], knownSince: knownSince),
                platforms: PushPlatformList([CarrierPigeon.self]), messageIDs: MessageIDKey(1, 2))
            let range = RangeRecord(
                last: .end, snapshot: AudienceSnapshot(change: 7, registration: 5),
                startedAt: Timestamp(seconds: 100), endedAt: Timestamp(seconds: 101), counts: [.success: 1])
            let found = MemberEvidence(range: range, isReached: isReached)
            let evidence = DeliveryEvidence(progress: progress, members: [version.member: found])
            return reasoning.pushes([delivery.id: evidence]).first?.verdict
        }
        #expect(verdict(knownSince: 7, isReached: true) == .delivered)
        #expect(verdict(knownSince: 8, isReached: true) == .delivered, "its bit is its own")
        #expect(verdict(knownSince: 8, isReached: false) == .unknown)
        #expect(verdict(knownSince: 7, isReached: false) == .unknown, "a bit that was lost with power")
    }

    @Test func aTraceNamesAnotherRegistrationWithTheSameHandle() async throws {
        let flight = try await Flight()
        try await flight.register("loft1", id: "r1", tags: ["news"])
        try await flight.register("loft1", id: "r2")
        let delivery = try await flight.accept(to: .audience(TagExpression("news")))
        _ = try await flight.run(delivery)
        let trace = try await trace(flight, delivery, "r2")
        #expect(trace.verdict == .excluded)
        #expect(trace.pushes.first?.isReachedByAnother == true)
    }

    @Test func aNotificationThatIsNotUnderWayIsToldSo() async throws {
        let flight = try await Flight()
        try await flight.register(1)
        let pending = try await flight.accept()
        #expect(try await trace(flight, pending, "r1").verdict == .pending)
        try await remove("r1", of: flight)
        #expect(try await trace(flight, pending, "r1").verdict == .removedBefore)
    }

    @Test func whyNothingWasSentIsTold() async throws {
        let flight = try await Flight(hasCredential: false)
        try await flight.register(7)
        let delivery = try await flight.accept()
        _ = try await flight.run(delivery)
        for device in ["r2", "r7"] {
            let trace = try await trace(flight, delivery, device)
            #expect(trace.verdict == .suppressed)
            #expect(
                trace.sentences.first == "Not sent: InvalidCredentials (The hub has no credential for pigeon).")
        }
    }

    @Test func aTraceHasTheTimeOfTheCancel() async throws {
        let flight = try await Flight(pageSize: 2) { _, _ in answered(429, ["retry-after": "600"]) }
        try await flight.register(3)
        let delivery = try await flight.accept()
        let id = delivery.notification.id
        flight.transport.interrupt {
            _ = try? await flight.controls.apply(.pause, to: id, in: flight.hub)
        }
        _ = try await flight.run(delivery)
        let retrying = try await trace(flight, delivery, "r1")
        #expect(retrying.verdict == .retrying)
        #expect(
            retrying.sentences.first == "Not delivered yet: the next attempt waits until the notification is resumed.")
        #expect(retrying.pushes.first?.retryAt == nil)
        #expect(!retrying.sentences.contains { $0.contains("The next attempt is due") })
        let held = try await trace(flight, delivery, "r3")
        #expect(held.verdict == .pending)
        #expect(held.shownControl == .paused)
        #expect(held.sentences.contains { $0.hasPrefix("It was paused at \(flight.time.now.iso8601)") })
        flight.time.advance(by: .seconds(5))
        _ = try await flight.controls.apply(.cancel, to: id, in: flight.hub)
        let timestamp = flight.time.now.iso8601
        #expect(try await flight.run(delivery) == .finished)
        let headlines = [
            "r1": "Not tried again: the notification was canceled after 1 attempt.",
            "r3": "Not sent: the notification was canceled before the device's turn.",
        ]
        for (device, attempts) in [("r1", 1), ("r3", 0)] {
            let suppressed = try await trace(flight, delivery, device)
            #expect(suppressed.verdict == .canceled)
            #expect(suppressed.shownControl == .canceled)
            #expect(suppressed.pushes.first?.attempts.count == attempts)
            #expect(suppressed.sentences.first == headlines[device])
            #expect(suppressed.sentences.contains { $0.contains("carries the message id") } == (attempts > 0))
            #expect(suppressed.sentences.contains { $0.hasPrefix("It was canceled at \(timestamp)") })
        }
    }

    @Test func aTraceSaysThatThePageDidNotComeBeforeTheExpiry() async throws {
        let flight = try await Flight()
        try await flight.register(1)
        let delivery = try await flight.accept(lifetime: .seconds(60))
        flight.time.advance(by: .seconds(60))
        #expect(try await flight.run(delivery) == .finished)
        #expect(try await trace(flight, delivery, "r1").verdict == .expired)
    }

    @Test func aDirectSendIsForTheHandlesOfItsList() async throws {
        let flight = try await Flight()
        try await flight.register(2)
        let delivery = try await flight.accept(to: .direct([PushHandle("LOFT1")]))
        _ = try await flight.run(delivery)
        try await remove("r1", of: flight)
        #expect(try await trace(flight, delivery, "r1").verdict == .delivered)
        #expect(try await trace(flight, delivery, "r2").verdict == .excluded)
    }

    @Test func aScheduledDirectSendIsTracedWithTheRegistrationAsItWasWhenTheSendBegan() async throws {
        let flight = try await Flight()
        try await flight.register("loft1", id: "r1", tags: ["old"])
        let id = try await flight.schedule(to: .direct([PushHandle("LOFT1")]), after: .seconds(60))
        flight.time.advance(by: .seconds(30))
        try await flight.register("loft1", id: "r1", tags: ["new"])
        flight.time.advance(by: .seconds(30))
        let delivery = try #require(
            try await flight.storage.release(due: flight.time.now, limit: 10).deliveries.first)
        #expect(delivery.notification.id == id)
        _ = try await flight.run(delivery)
        let push = try #require(try await trace(flight, delivery, "r1").pushes.first)
        #expect(push.verdict == .delivered)
        #expect(push.registration.tags.map(\.spelling) == ["new"])
    }

    @Test(
        "The tags that decided are as few as explain it",
        arguments: [
            ("a", "a", true, "+a"), ("a", "b", false, "-a"), ("!a", "b", true, "-a"),
            ("a && b", "b", false, "-a"), ("a && b && c", "a", false, "-b"), ("a || b", "b", true, "+b"),
            ("a || b", "c", false, "-a-b"), ("(a || b) && !c", "b,c", false, "+c"),
            ("(a || b) && !c", "d", false, "-a-b"), ("a && (b || a)", "a,b", true, "+a+b"),
            ("!(a && b)", "a", true, "-b"), ("a && a", "a", true, "+a"),
        ])
    func decisions(expression: String, tags: String, matches: Bool, terms: String) throws {
        let set = Set(try tags.split(separator: ",").map { try Tag($0) })
        let expression = try TagExpression(expression)
        let decision = ExpressionDecision(of: expression, on: set)
        #expect(decision.matches == matches)
        #expect(matches == expression.matches(set))
        #expect(decision.terms.map { ($0.isPresent ? "+" : "-") + $0.tag.spelling }.joined() == terms)
    }
}
