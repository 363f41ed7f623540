import MartletHTTP
import MartletModel
import MartletTesting
import Synchronization
import Testing

@testable import MartletCore

/// Composed messages, from acceptance to what each device got.
struct ComposedDeliveryTests {
    /// Accepts a message and returns its delivery to pigeons.
    private func accept(
        _ flight: Flight, _ body: String, to expression: String? = nil
    ) async throws -> Delivery {
        let accepted = Mutex<[Delivery]>([])
        let intake = NotificationIntake(
            store: flight.storage, platforms: flight.platforms, time: flight.time,
            accepted: { deliveries in accepted.withLock { $0 = deliveries } })
        _ = try await intake.accept(
            .message(try ComposedContent(Array(body.utf8))),
            to: .audience(try expression.map { try TagExpression($0) }), in: flight.hub)
        return try #require(accepted.withLock { $0.first { $0.platform == CarrierPigeon.platform } })
    }

    private func refusal(
        _ flight: Flight, _ body: String, to target: Notification.Target = .audience(nil)
    ) async throws -> (String, isTooLarge: Bool)? {
        let intake = NotificationIntake(
            store: flight.storage, platforms: flight.platforms, time: flight.time, accepted: { _ in })
        let content = Notification.Content.message(try ComposedContent(Array(body.utf8)))
        do throws(NotificationIntakeError) {
            _ = try await intake.accept(content, to: target, in: flight.hub)
            return nil
        } catch {
            switch error {
            case .invalid(let sentence): return (sentence, false)
            case .tooLarge(let sentence): return (sentence, true)
            default: throw error
            }
        }
    }

    private func register(
        _ flight: Flight, _ loft: String, tags: [String] = [], variables: [String: String] = [:]
    ) async throws {
        let draft = RegistrationDraft(
            platform: CarrierPigeon.platform, handle: PushHandle(loft), handleKey: loft,
            tags: try tags.map { try Tag($0) },
            pushVariables: variables)
        _ = try await flight.storage.apply(.put(draft, id: loft, condition: .none), in: flight.hub, at: flight.time.now)
            .get()
    }

    private func notes(_ flight: Flight) -> [String: JSON] {
        let notes = flight.transport.sent.map { ($0.loft, (try? JSON(parsing: Array($0.body.utf8))) ?? .null) }
        return Dictionary(notes) { first, _ in first }
    }

    @Test func aMessageInOneLanguageGoesOutAsOneBatchWithOneBody() async throws {
        let flight = try await Flight(pageSize: 10)
        try await flight.register(5)
        let delivery = try await accept(flight, #"{"title": "T", "text": "x", "data": {"a": "b"}}"#)
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.batchCount == 1)
        let id = delivery.notification.id.description
        #expect(
            Set(flight.transport.sent.map(\.body)) == [#"{"a":"b","notificationId":"\#(id)","text":"x","title":"T"}"#])
        #expect(try await flight.report(delivery).counts == [.success: 5])
    }

    @Test func everyDeviceGetsItsOwnLanguageInOneBatchForEach() async throws {
        let flight = try await Flight(pageSize: 10)
        for (number, tag) in ["lang:de", "lang:ko-KR", "x", "lang:de-AT", "lang:fr"].enumerated() {
            try await register(flight, "loft\(number)", tags: [tag])
        }
        let delivery = try await accept(
            flight, #"{"text": {"en": "Hello", "de": "Hallo", "ko": "안녕"}, "language": "en"}"#)
        #expect(try await flight.run(delivery) == .finished)
        #expect(
            notes(flight).mapValues { $0["text"]?.string } == [
                "loft0": "Hallo", "loft1": "안녕", "loft2": "Hello", "loft3": "Hallo", "loft4": "Hello",
            ])
        #expect(flight.transport.batchCount == 3)
    }

    @Test func everyDeviceGetsItsOwnVariablesEscapedOrWhatStandsForThem() async throws {
        let flight = try await Flight(pageSize: 20)
        for number in 0..<12 {
            try await register(flight, "loft\(number)", variables: ["Name": "A\"\\\(number)", "other": "\(number)"])
        }
        try await register(flight, "loft12")
        let delivery = try await accept(
            flight, #"{"text": "$(name): $(NAME)!", "title": "$5", "variables": {"name": "You"}}"#)
        #expect(try await flight.run(delivery) == .finished)
        let texts = notes(flight).mapValues { $0["text"]?.string }
        #expect(texts["loft12"] == "You: You!")
        #expect(texts["loft7"] == #"A"\7: A"\7!"#)
        #expect(Set(texts.values).count == 13)
        #expect(flight.transport.batchCount == 1, "different bodies share a batch")
    }

    @Test func aValueThatIsTooLongIsRefusedForItsDeviceAloneOrCut() async throws {
        for truncates in [false, true] {
            let flight = try await Flight(pageSize: 20)
            try await register(flight, "long", variables: ["name": String(repeating: "ä", count: 600)])
            try await register(flight, "short", variables: ["name": "B"])
            let delivery = try await accept(
                flight, #"{"text": "Dear $(name)", "variables": {"name": "You"}, "truncate": \#(truncates)}"#)
            #expect(try await flight.run(delivery) == .finished)
            let texts = notes(flight).mapValues { $0["text"]?.string ?? "" }
            #expect(texts["short"] == "Dear B")
            if truncates {
                let text = try #require(texts["long"])
                #expect(text.hasPrefix("Dear äää") && text.hasSuffix("ä…"))
                #expect(try await flight.report(delivery).counts == [.success: 2])
            } else {
                #expect(try await flight.report(delivery).counts == [.success: 1, .invalidNotificationSize: 1])
            }
        }
    }

    @Test func aRetryHasTheDevicesLanguage() async throws {
        let flight = try await Flight { _, attempt in answered(attempt == 1 ? 429 : 200, ["retry-after": "5"]) }
        try await register(flight, "loft", tags: ["lang:de"])
        let delivery = try await accept(flight, #"{"text": {"en": "Hello", "de": "Hallo"}, "language": "en"}"#)
        guard case .waiting = try await flight.run(delivery) else {
            Issue.record("it should wait for its retry")
            return
        }
        flight.time.advance(by: .seconds(60))
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.sent.count == 2)
        #expect(flight.transport.sent.allSatisfy { $0.body.contains("Hallo") })
    }

    // MARK: What is refused

    @Test func aDryRunNamesThePayloadThatIsTooLarge() async throws {
        let flight = try await Flight()
        try await flight.register(1)
        let dryRuns = DryRuns(
            devices: flight.storage, notifications: flight.storage, platforms: flight.platforms,
            credentials: CredentialChecker(
                resolver: LaneResolver(hubs: flight.hubs, platforms: flight.platforms), transport: flight.transport,
                time: flight.time), time: flight.time)
        let long = String(repeating: "x", count: 1000)
        let content = Notification.Content.message(
            try ComposedContent(Array(#"{"text": {"en": "x", "de": "\#(long)"}, "language": "en"}"#.utf8)))
        let run = try await dryRuns.run(content, to: .audience(nil), in: flight.hub)
        #expect(
            run.excess
                == PayloadExcess(
                    platform: CarrierPigeon.platform, language: "de", size: 1063, limit: 1000, isTruncated: false))
        #expect(run.refusal == run.excess?.description)
        #expect(run.problems.first == run.refusal)
    }

    @Test func aMessageThatExceedsAPlatformOfTheHubIsTooLarge() async throws {
        let flight = try await Flight()
        let long = String(repeating: "x", count: 1000)
        let body = #"{"text": {"en": "x", "de": "\#(long)"}, "language": "en"}"#
        #expect(try await refusal(flight, body) == nil, "nobody is there whom it could not fit")
        try await flight.register(1)
        let found = try #require(try await refusal(flight, body))
        #expect(found.isTooLarge)
        #expect(
            found.0
                == "For pigeon in de the payload has 1,063 bytes and may have 1,000: shorten the text, or send with \"truncate\": true."
        )
        #expect(try await refusal(flight, #"{"text": "\#(long)", "platforms": {"pigeon": false}}"#) == nil)
        #expect(try await refusal(flight, #"{"text": "\#(long)", "truncate": true}"#) == nil)
        let data = #"{"text": "\#(long)", "truncate": true, "data": {"a": "\#(long)"}}"#
        #expect(
            try await refusal(flight, data)?.0
                == "For pigeon the payload has 2,070 bytes and may have 1,000: it does not fit even without its text, so shorten data, links and actions."
        )
        #expect(
            try await refusal(flight, #"{"text": "x", "platforms": {"pigeon": {"merge": {"a": "\#(long)"}}}}"#)?
                .isTooLarge == true)
    }

    @Test(arguments: [
        (
            #"{"text": "x", "platforms": {"owl": false}}"#,
            "The message's platforms has 'owl'; the platforms are pigeon, homing, paced, token, bottle, shy."
        ),
        (
            #"{"text": "x", "platforms": {"pigeon": {"payload": "x", "headers": {"Owl-A": "b"}}}}"#,
            "The message's platforms.pigeon.headers has 'owl-a'; payloads there have pigeon-…."
        ),
        (
            #"{"text": "x", "data": {"feather": "b"}}"#,
            "The message's data has the name 'feather', which is reserved for payloads."
        ),
    ])
    func isRefused(body: String, sentence: String) async throws {
        let flight = try await Flight()
        let found = try await refusal(flight, body)?.0
        #expect(found?.prefix(40) == sentence.prefix(40))
    }

    @Test func aDirectSendNeedsANativeFormat() async throws {
        let flight = try await Flight()
        #expect(
            try await refusal(flight, #"{"text": "x"}"#, to: .direct([PushHandle("a")]))?.0
                == "A message goes to registrations; a direct send needs a native format.")
    }

    @Test func aMessageNeedsATextUnlessEveryPlatformHasAPayload() async throws {
        let flight = try await Flight()
        let sentence = try #require(
            try await refusal(flight, #"{"platforms": {"pigeon": {"payload": "coo"}}}"#)?.0)
        #expect(sentence.hasPrefix("The message needs a title or a text, unless every platform has a payload: "))
    }

    // MARK: Platforms

    @Test func aPlatformsOwnPayloadIsSentWithItsHeaders() async throws {
        let flight = try await Flight()
        try await flight.register(1)
        let delivery = try await accept(
            flight,
            #"{"text": "x", "platforms": {"pigeon": {"payload": "coo", "headers": {"Pigeon-Speed": "fast"}}}}"#)
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.sent.map(\.body) == ["coo"])
        #expect(flight.transport.sent[0].fields["pigeon-speed"] == "fast")
    }

    @Test func aMergePatchChangesThePayload() async throws {
        let flight = try await Flight()
        try await flight.register(1)
        let delivery = try await accept(
            flight, #"{"text": "x", "platforms": {"pigeon": {"merge": {"text": null, "wind": 3}}}}"#)
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.sent[0].body.hasSuffix(#","wind":3}"#))
        #expect(!flight.transport.sent[0].body.contains("text"))
    }

    // MARK: With other features

    @Test func aMessageAndANativeNotificationWithTheSameKeyReplaceEachOther() async throws {
        let flight = try await Flight()
        try await flight.register(2)
        let earlier = try await accept(flight, #"{"text": "x", "collapse": "k"}"#)
        let later = try await accept(flight, #"{"text": "y", "collapse": "k"}"#)
        #expect(earlier.notification.collapse?.key(on: CarrierPigeon.platform) == "k")
        #expect(try await flight.run(earlier) == .finished)
        #expect(try await flight.run(later) == .finished)
        #expect(try await flight.report(earlier).counts == [.superseded: 2])
        #expect(flight.transport.sent.allSatisfy { $0.body.contains("\"y\"") })
    }

    @Test func aTraceShowsWhatTheDeviceGotInItsLanguage() async throws {
        let flight = try await Flight()
        try await register(flight, "loft", tags: ["lang:de"], variables: ["name": "Alice"])
        let delivery = try await accept(
            flight,
            #"{"text": {"en": "Hello $(name)", "de": "Hallo $(name)"}, "language": "en", "variables": {"name": ""}}"#)
        #expect(try await flight.run(delivery) == .finished)
        let traces = Traces(
            store: flight.storage, maps: flight.maps, platforms: flight.platforms, messageIDs: MessageIDKey(1, 2))
        let trace = try #require(try await traces.trace(delivery.notification.id, of: "loft", in: flight.hub))
        #expect(trace.verdict == .delivered)
        #expect(trace.pushes[0].payload?.body == Array(flight.transport.sent[0].body.utf8))
        #expect(trace.pushes[0].appearance?.text == "Hallo Alice")
    }

    @Test func aDryRunShowsEachLanguageAndWhomTheMessageDoesNotReach() async throws {
        let flight = try await Flight()
        for (number, tags) in [["lang:de"], [], ["lang:pl"], ["lang:de-CH"], []].enumerated() {
            try await register(flight, "loft\(number)", tags: tags)
        }
        try await flight.register("other", id: "other", Template(body: "$(a)"))
        let dryRuns = DryRuns(
            devices: flight.storage, notifications: flight.storage, platforms: flight.platforms,
            credentials: CredentialChecker(
                resolver: LaneResolver(hubs: flight.hubs, platforms: flight.platforms), transport: flight.transport,
                time: flight.time), time: flight.time)
        let content = Notification.Content.message(
            try ComposedContent(Array(#"{"text": {"en": "Hello", "de": "Hallo", "ko": "x"}, "language": "en"}"#.utf8)))
        let run = try await dryRuns.run(content, to: .audience(nil), in: flight.hub)
        #expect(run.refusal == nil)
        #expect(run.targeted == 5)
        #expect(run.templatesOnly == 1)
        #expect(run.missingLanguages == ["pl"])
        #expect(run.problems == ["1 device is registered with templates only; a message does not reach them."])
        let payloads = run.platforms.flatMap(\.payloads)
        #expect(payloads.map(\.language) == ["en", "de"])
        #expect(payloads.map(\.pushes) == [3, 2])
        #expect(payloads.map(\.appearance?.text) == ["Hello", "Hallo"])
        #expect(flight.transport.sent.isEmpty)
        #expect(try await flight.storage.unfinished(after: .none, limit: 9).isEmpty)
    }

    @Test func aLanguageThatTheServiceRefusesForAllStopsNoOther() async throws {
        let flight = try await Flight(pageSize: 1) { loft, _ in answered(loft == "loft0" ? 413 : 200) }
        for (number, tag) in ["lang:de", "lang:ko", "x"].enumerated() {
            try await register(flight, "loft\(number)", tags: [tag])
        }
        let delivery = try await accept(
            flight, #"{"text": {"en": "Hello", "de": "Hallo", "ko": "x"}, "language": "en"}"#)
        #expect(try await flight.run(delivery) == .finished)
        #expect(flight.transport.lofts == ["loft0", "loft1", "loft2"])
        #expect(try await flight.report(delivery).counts == [.success: 2, .invalidNotificationSize: 1])
    }

    @Test func aResendHasTheDevicesLanguage() async throws {
        let flight = try await Flight { _, attempt in answered(attempt == 1 ? 400 : 200) }
        try await register(flight, "loft", tags: ["lang:de"])
        let delivery = try await accept(flight, #"{"text": {"en": "Hello", "de": "Hallo"}, "language": "en"}"#)
        #expect(try await flight.run(delivery) == .finished)
        let draft = ResendDraft(
            id: NotificationID(at: flight.time.now), hub: flight.hub, original: delivery.notification.id, outcome: nil,
            acceptedAt: flight.time.now, expiresAt: flight.time.now + .seconds(60))
        guard case .accepted(_, let deliveries) = try await flight.storage.resend(draft) else {
            Issue.record("the dead letter should be resent")
            return
        }
        #expect(try await flight.run(deliveries[0]) == .finished)
        #expect(flight.transport.sent.map { $0.body.contains("Hallo") } == [true, true])
    }
}
